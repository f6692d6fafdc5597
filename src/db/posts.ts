import { sql, type Insertable, type RawBuilder, type Updateable } from 'kysely'
import { asStored, isId } from '../core/ids.js'
import { slugIdOf } from '../core/slugs.js'
import type { Db } from './connect.js'
import type { PostRow, Tables } from './tables.js'

/** Which posts, and in which order. */
export interface PostFilter {
  /** Ids; none is any board, and posts without one. */
  boards: readonly string[]
  roadmap: string | undefined
  author: string | undefined
  /** Whether posts of private boards are among them. */
  hidden: boolean
  sort: 'newest' | 'oldest' | 'votes'
}

interface Page {
  limit: number
  offset?: number
  after?: PostRow
}

/** A post with what is shown of its author, board and roadmap; null where there is none. */
export type PostView = Awaited<ReturnType<typeof listPosts>>[number]

/** A page by number of rows to skip, or by the post it comes after. */
export const listPosts = (db: Db, filter: PostFilter, page: Page) =>
  db
    .selectFrom(pageOfPosts(db, filter, page).as('posts'))
    .$call(withNames)
    .orderBy(orderOf(filter))
    .execute()

const posts = (db: Db) => db.selectFrom('posts')

/** The rows of a page, from ranges of an index that have the order already: one range, or one for each board, merged. */
function pageOfPosts(db: Db, filter: PostFilter, { limit, offset = 0, after }: Page) {
  const ranges = rangesOf(filter).map((range) =>
    posts(db)
      .selectAll('posts')
      .where((eb) => eb.and(range))
      .$if(after !== undefined, (query) => query.where(isAfter(filter, after as PostRow)))
      .orderBy(orderOf(filter)),
  )
  const [first, ...others] = ranges
  if (!first || others.length === 0) return (first ?? posts(db).selectAll('posts')).limit(limit).offset(offset)
  const part = (range: typeof first) => db.selectFrom(range.limit(limit + offset).as('part')).selectAll('part')
  const merged = others.reduce((all, range) => all.unionAll(part(range)), part(first))
  return db.selectFrom(merged.as('posts')).selectAll('posts').orderBy(orderOf(filter)).limit(limit).offset(offset)
}

type Range = Partial<Pick<PostRow, 'boardId' | 'roadmap_id' | 'userId' | 'display'>>

function rangesOf({ boards, roadmap, author, hidden }: PostFilter): Range[] {
  const range: Range = {
    ...(roadmap !== undefined && { roadmap_id: roadmap }),
    ...(author !== undefined && { userId: author }),
    ...(!hidden && { display: 1 }),
  }
  if (boards.length > 0) return [...new Set(boards)].map((boardId) => ({ ...range, boardId }))
  if (roadmap !== undefined && author === undefined && hidden) return [0, 1].map((display) => ({ ...range, display })) // that index has display before the order
  return [range]
}

const ORDERS = {
  newest: sql`posts."createdAt" desc, posts."postId" desc`,
  oldest: sql`posts."createdAt", posts."postId"`,
  votes: sql`posts."votesCount" desc, posts."createdAt" desc, posts."postId" desc`,
}

const orderOf = ({ sort }: PostFilter): RawBuilder<unknown> => ORDERS[sort]

function isAfter({ sort }: PostFilter, { votesCount, createdAt, postId }: PostRow): RawBuilder<boolean> {
  if (sort === 'votes') return sql`(posts."votesCount", posts."createdAt", posts."postId") < (${votesCount}, ${createdAt}, ${postId})`
  const direction = sort === 'newest' ? sql`<` : sql`>`
  return sql`(posts."createdAt", posts."postId") ${direction} (${createdAt}, ${postId})`
}

const withNames = (query: ReturnType<typeof posts>) =>
  query
    .leftJoin('users as author', 'author.userId', 'posts.userId')
    .leftJoin('boards as board', 'board.boardId', 'posts.boardId')
    .leftJoin('roadmaps as roadmap', 'roadmap.id', 'posts.roadmap_id')
    .selectAll('posts')
    .select(['author.name as authorName', 'author.username as authorUsername', 'author.avatar as authorAvatar'])
    .select(['board.name as boardName', 'board.url as boardUrl', 'board.color as boardColor', 'board.createdAt as boardCreatedAt'])
    .select('board.view_voters')
    .select(['roadmap.name as roadmapName', 'roadmap.url as roadmapUrl', 'roadmap.color as roadmapColor', 'roadmap.display as roadmapDisplay'])

/** How many posts the filter lets through: from counts that the database keeps, or, of one author, from the index. */
export async function postTotal(db: Db, filter: PostFilter): Promise<number> {
  const { boards, roadmap, author, hidden } = filter
  if (author !== undefined) return countOfAuthor(db, filter)
  const row = await db
    .selectFrom('post_counts')
    .select((eb) => eb.fn.sum<number | null>('value').as('total'))
    .where('board', 'in', boards.length > 0 ? [...boards] : ['*'])
    .where('roadmap', '=', roadmap ?? '*')
    .where('display', 'in', hidden ? [0, 1] : [1])
    .executeTakeFirst()
  return row?.total ?? 0
}

async function countOfAuthor(db: Db, filter: PostFilter): Promise<number> {
  const counts = await Promise.all(
    rangesOf(filter).map((range) =>
      posts(db)
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where((eb) => eb.and(range))
        .executeTakeFirstOrThrow(),
    ),
  )
  return counts.reduce((sum, { count }) => sum + count, 0)
}

/** By id or slug. A slug that the post had before its title changed finds it too: the id at the end stays. */
export async function findPost(db: Db, slugOrId: string): Promise<PostView | undefined> {
  if (isId(slugOrId)) return posts(db).$call(withNames).where('posts.postId', '=', asStored(slugOrId)).executeTakeFirst()
  const slugId = slugIdOf(slugOrId)
  const byId = slugId && (await posts(db).$call(withNames).where('posts.slugId', '=', slugId).executeTakeFirst())
  return byId || posts(db).$call(withNames).where('posts.slug', '=', slugOrId).executeTakeFirst()
}

/** Posts whose slug starts so, by slug: a range of its unique index, so nothing needs escaping. */
export const searchPosts = (db: Db, start: string, { hidden, limit }: { hidden: boolean; limit: number }): Promise<PostView[]> => {
  const found = posts(db)
    .selectAll('posts')
    .where('posts.slug', '>=', start)
    .where('posts.slug', '<', `${start}\u{10ffff}`)
    .$if(!hidden, (query) => query.where(sql<boolean>`posts.display + 0 = 1`)) // a sum, or SQLite takes the index of display, and sorts all that is public
    .orderBy('posts.slug')
    .limit(limit)
  return db.selectFrom(found.as('posts')).$call(withNames).orderBy('posts.slug').execute()
}

export const insertPost = (db: Db, post: Insertable<Tables['posts']>): Promise<PostRow> =>
  db.insertInto('posts').values(post).returningAll().executeTakeFirstOrThrow()

export const updatePost = (db: Db, postId: string, change: Updateable<Tables['posts']>): Promise<PostRow | undefined> =>
  db.updateTable('posts').set(change).where('postId', '=', postId).returningAll().executeTakeFirst()

/** With its votes and comments. */
export const deletePost = (db: Db, postId: string): Promise<PostRow | undefined> =>
  db.deleteFrom('posts').where('postId', '=', postId).returningAll().executeTakeFirst()
