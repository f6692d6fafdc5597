import { AppError } from '../core/errors.js'
import { isIdStart } from '../core/ids.js'
import { quoted, searchKey } from '../core/text.js'
import type { Part, Snapshot } from './carried.js'
import type { ExportedName } from './exported.js'

/** The rows of a table that an export of some boards has: all, none, or a part. */
type Share = Part | 'all' | 'none'

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/**
 * What an export of these boards has of each table. Rows that refer to each other are in it together, so that it can be
 * imported: what a row refers to is exported too, or the reference is left out. Conditions about posts are lookups by
 * key, which both engines do in the order of the rows, so that no set of ids is in memory.
 */
export function sharesOf(boardIds: readonly string[]): Record<ExportedName, Share> {
  const boards = `(${boardIds.map(literal).join(', ')})`
  // A merged post goes with the post that stands for it, which has its votes and comments
  const post = (
    ref: string,
  ) => `exists (select 1 from posts as its where its."postId" = ${ref} and its."boardId" in ${boards}
    and not exists (select 1 from merges join posts as root on root."postId" = merges."rootId"
      where merges."postId" = its."postId" and (root."boardId" is null or root."boardId" not in ${boards})))`
  const comment = (ref: string) =>
    `exists (select 1 from comments as said where said.id = ${ref} and ${post('said.post_id')})`
  const ofText = (table: string) => `(${post(`${table}."postId"`)} or ${comment(`${table}."commentId"`)})`
  const image = (ref: string) => `(
    exists (select 1 from image_uses where image_uses."imageId" = ${ref} and ${ofText('image_uses')})
    or exists (select 1 from settings where settings.logo like '%' || ${ref} || '%' or settings."logoDark" like '%' || ${ref} || '%'))`
  const people = `(
    select "userId" from users where "isOwner" = 1
    union select "userId" from posts where ${post('posts."postId"')}
    union select "userId" from votes where ${post('votes."postId"')}
    union select "userId" from merged_votes where ${post('merged_votes."postId"')}
    union select author_id from comments where ${post('comments.post_id')}
    union select "userId" from follows where ${post('follows."postId"')}
    union select "userId" from board_follows where "boardId" in ${boards}
    union select "userId" from mentions where ${post('mentions."postId"')}
    union select "mergedBy" from merges where ${post('merges."postId"')}
    union select "actorId" from post_moves where ${post('post_moves."postId"')}
    union select "userId" from reports where ${ofText('reports')}
    union select "snoozedBy" from reviews where ${ofText('reviews')} and "snoozedBy" is not null
    union select "userId" from images where ${image('images."imageId"')})`
  const roadmaps = `(
    select roadmap_id from posts where ${post('posts."postId"')}
    union select roadmap_id from comments where ${post('comments.post_id')}
    union select "fromId" from post_moves where kind = 'roadmap' and ${post('post_moves."postId"')}
    union select "toId" from post_moves where kind = 'roadmap' and ${post('post_moves."postId"')})`
  const tags = `(select "tagId" from post_tags where ${post('post_tags."postId"')})`
  const roles = `(select role_id from roles_users where user_id in ${people} union select id from roles where "isSystem" = 1)`
  const ofPost = (table: string, column = 'postId'): Part => ({ where: post(`${table}."${column}"`) })
  const ofPerson = (column = 'userId'): Part => ({ where: `"${column}" in ${people}` })
  /** Where something was written before a merge: nothing, if that post is left out. */
  const from = (ref: string) => `case when ${post(ref)} then ${ref} end`
  /** An import puts an image only into a text that nobody has changed. The export leaves out the events that say so. */
  const unchanged = (type: 'post' | 'comment', ref: string) =>
    `not exists (select 1 from events where subject_id = ${ref} and action = '${type}.updated')`
  return {
    settings: 'all',
    legal_pages: 'all',
    counters: 'all',
    roles: { where: `id in ${roles}` },
    role_permissions: { where: `role_id in ${roles}` },
    users: ofPerson(),
    user_uses: ofPerson(),
    user_tags: ofPerson(),
    former_usernames: ofPerson(),
    roles_users: ofPerson('user_id'),
    invitations: 'none',
    boards: { where: `"boardId" in ${boards}` },
    board_follows: { where: `"boardId" in ${boards}` },
    roadmaps: { where: `id in ${roadmaps}` },
    tags: { where: `"tagId" in ${tags}` },
    posts: ofPost('posts'),
    post_tags: ofPost('post_tags'),
    former_paths: ofPost('former_paths'),
    post_moves: ofPost('post_moves'),
    votes: { ...ofPost('votes'), values: { fromPostId: from('votes."fromPostId"') } },
    comments: { ...ofPost('comments', 'post_id'), values: { from_post_id: from('comments.from_post_id') } },
    images: { where: image('images."imageId"') },
    image_parts: { where: image('image_parts."imageId"') },
    image_uses: { where: ofText('image_uses') },
    merges: {
      ...ofPost('merges'),
      values: { intoId: `case when ${post('merges."intoId"')} then merges."intoId" else merges."rootId" end` },
    },
    // The vote that counts may be one on a merged post that is left out: it is one on this post then, and needs no other
    merged_votes: {
      where: `${post('merged_votes."postId"')} and not exists (select 1 from votes where votes."userId" = merged_votes."userId"
        and votes."postId" = merged_votes."postId" and votes."fromPostId" is not null and not ${post('votes."fromPostId"')})`,
    },
    follows: { ...ofPost('follows'), values: { fromPostId: from('follows."fromPostId"') } },
    mentions: { where: `${post('mentions."postId"')} and ("commentId" is not null or ${post('mentions."textId"')})` },
    reports: { where: ofText('reports') },
    reviews: { where: ofText('reviews') },
    views: 'none',
    notification_settings: ofPerson(),
    notifications: 'none', // each is of an event
    mail_bounces: ofPerson(),
    events: { where: `action = 'site.set_up'` }, // without it, an audit would take the others for removed
    event_erasures: 'none',
    event_seals: 'none',
    imported_rows: {
      where: `(kind, "rowId") in (
        select 'board', "boardId" from boards where "boardId" in ${boards}
        union all select 'status', id from roadmaps where id in ${roadmaps}
        union all select 'tag', "tagId" from tags where "tagId" in ${tags}
        union all select 'person', "userId" from users where "userId" in ${people}
        union all select 'post', "postId" from posts where ${post('posts."postId"')}
        union all select 'vote', "voteId" from votes where ${post('votes."postId"')}
        union all select 'comment', id from comments where ${post('comments.post_id')}
        union all select 'merge', "postId" from merges where ${post('merges."postId"')}
        union all select 'image', "imageId" from images where ${image('images."imageId"')}
        union all select 'awaiting', "postId" from posts where ${post('posts."postId"')} and ${unchanged('post', 'posts."postId"')}
        union all select 'awaiting', id from comments where ${post('comments.post_id')} and ${unchanged('comment', 'comments.id')})`,
    },
  }
}

/** A board of an export, and how it was named. */
interface Board {
  boardId: string
  url: string
}

/**
 * The boards with these urls, ids, names or starts of ids, each once, in the order of their urls. Throws BOARD_NOT_FOUND,
 * or AMBIGUOUS_NAME where several have a name.
 */
export async function boardsNamed(snapshot: Snapshot, given: readonly string[]): Promise<Board[]> {
  const all: (Board & { nameFolded: string })[] = []
  for await (const rows of snapshot.query('select "boardId", url, "nameFolded" from boards'))
    for (const [boardId, url, nameFolded] of rows) all.push({ boardId: String(boardId), url: String(url), nameFolded: String(nameFolded) }) // prettier-ignore
  const found = new Map<string, string>()
  for (const each of given) {
    const name = each.trim()
    const start = name.toLowerCase()
    const [one, other] =
      [
        all.filter(({ boardId, url }) => boardId === start || url === start),
        all.filter(({ nameFolded }) => nameFolded === searchKey(name)),
        isIdStart(start) ? all.filter(({ boardId }) => boardId.startsWith(start)) : [],
      ].find((some) => some.length > 0) ?? []
    if (!one) throw new AppError('BOARD_NOT_FOUND', `There is no board ${quoted(each)}.`)
    if (other) throw new AppError('AMBIGUOUS_NAME', `Several boards are called ${quoted(each)}. Give the url of one.`)
    found.set(one.boardId, one.url)
  }
  return [...found].map(([boardId, url]) => ({ boardId, url })).toSorted((one, two) => (one.url < two.url ? -1 : 1))
}

/** How much an export of some boards leaves out, of what a site has most of. */
export interface LeftOut {
  boards: number
  posts: number
  /** Of these posts, those on one of the boards: they are merged into a post that is not. */
  mergedPosts: number
  people: number
}

/** Counts what an export of these boards leaves out. */
export async function leftOutBy(
  snapshot: Snapshot,
  boardIds: readonly string[],
  shares: Record<ExportedName, Share>,
): Promise<LeftOut> {
  const count = async (from: string): Promise<number> => {
    let found = 0
    for await (const [row] of snapshot.query(`select count(*) from ${from}`)) found = Number(row?.[0])
    return found
  }
  const without = async (table: ExportedName) => {
    const share = shares[table]
    return (await count(table)) - (typeof share === 'string' ? 0 : await count(`${table} where ${share.where}`))
  }
  const ours = await count(`posts where "boardId" in (${boardIds.map(literal).join(', ')})`)
  const posts = await without('posts')
  return {
    boards: await without('boards'),
    posts,
    mergedPosts: ours - ((await count('posts')) - posts),
    people: await without('users'),
  }
}
