import { sql, type Insertable, type RawBuilder, type Updateable } from 'kysely'
import { asStored, isId } from '../core/ids.js'
import { slugIdOf } from '../core/slugs.js'
import { compiled, compiledPage, taggedQuery } from './cache/compiled.js'
import type { Refs, Topic } from './cache/dependencies.js'
import type { Page } from './paging.js'
import { boundOf } from './dialect.js'
import { referringTo } from './references.js'
import { indexPost, numbersWith } from './search.js'
import type { Db, PostRow, Tables } from './tables.js'

/** Which posts, and in which order. */
export interface PostFilter {
  /** Ids, each once; none is any board, and posts without one. */
  boards: readonly string[]
  roadmap: string | undefined
  author: string | undefined
  /** Whether posts of private boards are among them. */
  hidden: boolean
  sort: 'newest' | 'oldest' | 'votes'
}

/** A post with what is shown of its author, board and roadmap; null where there is none. */
export interface PostView extends PostRow {
  authorName: string | null
  authorUsername: string | null
  authorAvatar: string | null
  boardName: string | null
  boardUrl: string | null
  boardColor: string | null
  boardCreatedAt: string | null
  view_voters: number | null
  roadmapName: string | null
  roadmapUrl: string | null
  roadmapColor: string | null
  roadmapDisplay: number | null
}

// Written as text: building these queries from parts takes Kysely three times as long as the database needs to answer
// them.
const NAMES = sql.raw(`select posts.*,
    author.name as "authorName", author.username as "authorUsername", author.avatar as "authorAvatar",
    board.name as "boardName", board.url as "boardUrl", board.color as "boardColor", board."createdAt" as "boardCreatedAt", board.view_voters,
    roadmap.name as "roadmapName", roadmap.url as "roadmapUrl", roadmap.color as "roadmapColor", roadmap.display as "roadmapDisplay"`)
const OTHERS = sql.raw(`left join users as author on author."userId" = posts."userId"
  left join boards as board on board."boardId" = posts."boardId"
  left join roadmaps as roadmap on roadmap.id = posts.roadmap_id`)

export function listPosts(db: Db, filter: PostFilter, page: Page<PostRow>): Promise<PostView[]> {
  const { boards, roadmap, author, hidden, sort } = filter
  const name = `listPosts ${sort} ${hidden}`
  const query = ({ limit, offset = 0, after }: Page<PostRow>) => {
    const bound = boundOf(db, limit + offset)
    return taggedQuery(
      db,
      `${name} ${bound}`,
      { boards, roadmap, author, limit, offset, most: limit + offset, ...(after && cursorOf(after)) },
      (given) => {
        const slice = { ...given, bound, after: after && cursorOf(given as Cursor) }
        const rows = pageOfPosts({ ...given, hidden, sort }, slice)
        return {
          compile: () => sql<PostView>`${NAMES} from (${rows}) as posts ${OTHERS} order by ${ORDERS[sort]}`.compile(db),
        }
      },
      { users: authorsOf, ...(sort !== 'votes' && { votes: idsOf }) }, // a vote anywhere can change an order by votes
    )
  }
  const list = {
    name: `${name} ${boards.join()} ${roadmap} ${author}`,
    order: ['posts', 'boards', ...(sort === 'votes' ? ['votes'] : [])] as Topic[],
    query,
    cursor: cursorOf,
  }
  return compiledPage<PostView>(db, list, page as Page<PostView>) // a cursor needs no names
}

const idsOf = (posts: readonly PostRow[]): string[] => posts.map(({ postId }) => postId)

const authorsOf = (posts: readonly PostRow[]): string[] => posts.flatMap(({ userId }) => userId ?? [])

/** A post that was found; one that was not may come with any change. */
const OF_POST: Refs<PostRow> = {
  posts: (found) => (found.length > 0 ? idsOf(found) : undefined),
  votes: idsOf,
  users: authorsOf,
  boards: (found) => found.flatMap(({ boardId }) => boardId ?? []),
  roadmaps: (found) => found.flatMap(({ roadmap_id }) => roadmap_id ?? []),
}

type Cursor = Pick<PostRow, 'votesCount' | 'createdAt' | 'postId'>

const cursorOf = ({ votesCount, createdAt, postId }: Cursor): Cursor => ({ votesCount, createdAt, postId })

/**
 * The rows of a page, from ranges of an index that have the order already: one range, or one for each board, merged.
 */
function pageOfPosts(filter: PostFilter, { limit, offset, most, bound, after }: Slice): RawBuilder<PostRow> {
  const order = ORDERS[filter.sort]
  const ranges = rangesOf(filter).map((range) => {
    const conditions = [
      ...Object.entries(range).map(([column, value]) => sql`${operand(range, column)} = ${value}`),
      ...(after ? [isAfter(filter, after)] : []),
    ]
    return sql<PostRow>`select * from posts${conditions.length > 0 ? sql` where ${sql.join(conditions, sql` and `)}` : sql``} order by ${order}`
  })
  const [only, ...others] = ranges
  if (only && others.length === 0 && bound === undefined) return sql`${only} limit ${limit} offset ${offset}`
  const enough = bound === undefined ? sql`${most}` : sql.lit(bound)
  const parts = ranges.map((range) => sql`select * from (${range} limit ${enough}) as part`)
  return sql`select * from (${sql.join(parts, sql` union all `)}) as posts order by ${order} limit ${limit} offset ${offset}`
}

/**
 * SQLite has no statistics, so of two indexes that fit it may take that of all public posts, and read most of them to
 * find those of a board or an author. It has no index of a sum.
 */
const operand = (range: Range, column: string): RawBuilder<unknown> =>
  column === 'display' && (range.boardId !== undefined || range.userId !== undefined)
    ? sql`posts.display + 0`
    : sql.ref(column)

/** How many rows after how many, or after which; `most` is both numbers together, and `bound` a constant from there on. */
interface Slice {
  limit: number
  offset: number
  most: number
  bound: number | undefined
  after: Cursor | undefined
}

type Range = Partial<Pick<PostRow, 'boardId' | 'roadmap_id' | 'userId' | 'display'>>

function rangesOf({ boards, roadmap, author, hidden }: PostFilter): Range[] {
  const range: Range = {
    ...(roadmap !== undefined && { roadmap_id: roadmap }),
    ...(author !== undefined && { userId: author }),
    ...(!hidden && { display: 1 }),
  }
  if (boards.length > 0) return boards.map((boardId) => ({ ...range, boardId }))
  if (hidden && author === undefined) return [0, 1].map((display) => ({ ...range, display }))
  return [range]
}

const ORDERS = {
  newest: sql`posts."createdAt" desc, posts."postId" desc`,
  oldest: sql`posts."createdAt", posts."postId"`,
  votes: sql`posts."votesCount" desc, posts."createdAt" desc, posts."postId" desc`,
}

function isAfter({ sort }: PostFilter, { votesCount, createdAt, postId }: Cursor): RawBuilder<boolean> {
  if (sort === 'votes')
    return sql`(posts."votesCount", posts."createdAt", posts."postId") < (${votesCount}, ${createdAt}, ${postId})`
  const direction = sort === 'newest' ? sql`<` : sql`>`
  return sql`(posts."createdAt", posts."postId") ${direction} (${createdAt}, ${postId})`
}

/** How many posts the filter lets through: from counts that the database keeps, or, of one author, from the index. */
export async function postTotal(db: Db, filter: PostFilter): Promise<number> {
  const { boards, roadmap, author, hidden } = filter
  if (author !== undefined) return countOfAuthor(db, filter)
  const given = { boards: boards.length > 0 ? boards : ['*'], roadmap: roadmap ?? '*', displays: hidden ? [0, 1] : [1] }
  const [row] = await compiled(db, 'postTotal', given, (places) =>
    db
      .selectFrom('post_counts')
      .select((eb) => eb.fn.sum<number | null>('value').as('total'))
      .where('board', 'in', places.boards)
      .where('roadmap', '=', places.roadmap)
      .where('display', 'in', places.displays),
  )
  return row?.total ?? 0
}

async function countOfAuthor(db: Db, filter: PostFilter): Promise<number> {
  const counts = await Promise.all(
    rangesOf(filter).map((range) =>
      db
        .selectFrom('posts')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where((eb) => eb.and(range))
        .executeTakeFirstOrThrow(),
    ),
  )
  return counts.reduce((sum, { count }) => sum + count, 0)
}

/**
 * By id, slug, or number with or without `#`. A slug that the post had before its title changed finds it too: the id at
 * the end stays. A slug wins over a number.
 */
export async function findPost(db: Db, given: string): Promise<PostView | undefined> {
  if (isId(given)) return postWhere(db, 'postId', asStored(given))
  const [slugId, number] = [slugIdOf(given), numberOf(given)]
  return (
    (slugId && (await postWhere(db, 'slugId', slugId))) ||
    (await postWhere(db, 'slug', given)) ||
    (number === undefined ? undefined : postWhere(db, 'number', number))
  )
}

/** At most nine digits, as the column holds no more than ten. */
const numberOf = (given: string): number | undefined => Number(/^#?(\d{1,9})$/.exec(given)?.[1]) || undefined

async function postWhere(
  db: Db,
  column: 'postId' | 'slugId' | 'slug' | 'number',
  value: string | number,
): Promise<PostView | undefined> {
  const [post] = await compiled(
    db,
    `postWhere ${column}`,
    { value },
    (given) => ({
      compile: () =>
        sql<PostView>`${NAMES} from posts ${OTHERS} where ${sql.ref(`posts.${column}`)} = ${given.value}`.compile(db),
    }),
    OF_POST,
  )
  return post
}

/** How many votes a post has now; 0 once it is deleted. */
export async function votesCountOf(db: Db, postId: string): Promise<number> {
  const [post] = await compiled(
    db,
    'votesCountOf',
    { postId },
    (given) => db.selectFrom('posts').select('votesCount').where('postId', '=', given.postId),
    { posts: [postId], votes: [postId], boards: [] },
  )
  return post?.votesCount ?? 0
}

/** Posts that have all these words, of which there is at least one, newest first. */
export async function searchPosts(
  db: Db,
  words: readonly string[],
  { boards, roadmap, author, hidden }: Omit<PostFilter, 'sort'>,
  { limit, offset }: { limit: number; offset: number },
): Promise<PostView[]> {
  const conditions = [
    ...(boards.length > 0 ? [sql`posts."boardId" in (${sql.join(boards)})`] : []),
    ...(roadmap === undefined ? [] : [sql`posts.roadmap_id = ${roadmap}`]),
    ...(author === undefined ? [] : [sql`posts."userId" = ${author}`]),
    ...(hidden ? [] : [sql`posts.display = 1`]),
  ]
  // A cross join makes SQLite begin with the numbers
  const found = sql`select posts.* from (${numbersWith(db, words)}) as found cross join posts
    where ${sql.join([sql`posts.number = found.number`, ...conditions], sql` and `)}
    order by found.number desc limit ${limit} offset ${offset}`
  const { rows } = await sql<PostView>`${NAMES} from (${found}) as posts ${OTHERS} order by posts.number desc`.execute(
    db,
  )
  return rows
}

/** The number is not in what it returns: a trigger writes it after the insertion. */
export async function insertPost(
  db: Db,
  post: Insertable<Tables['posts']>,
): Promise<Pick<PostRow, 'postId' | 'title'>> {
  const { userId: users, boardId: boards, roadmap_id: roadmaps } = post
  const [row] = await referringTo({ users, boards, roadmaps }, () =>
    compiled(db, 'insertPost', post, (given) => db.insertInto('posts').values(given).returning(['postId', 'title'])),
  )
  await indexPost(db, { ...post, contentMarkdown: post.contentMarkdown ?? null })
  return row as Pick<PostRow, 'postId' | 'title'> // an insert that does not fail returns its row
}

export async function updatePost(
  db: Db,
  postId: string,
  change: Updateable<Tables['posts']>,
): Promise<PostRow | undefined> {
  const post = await referringTo({ users: change.userId, boards: change.boardId, roadmaps: change.roadmap_id }, () =>
    db.updateTable('posts').set(change).where('postId', '=', postId).returningAll().executeTakeFirst(),
  )
  if (post && (change.title !== undefined || change.contentMarkdown !== undefined)) await indexPost(db, post)
  return post
}

/** With its votes and comments. */
export const deletePost = (db: Db, postId: string): Promise<PostRow | undefined> =>
  db.deleteFrom('posts').where('postId', '=', postId).returningAll().executeTakeFirst()
