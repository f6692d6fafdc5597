import { sql } from 'kysely'
import { asStored } from '../core/ids.js'
import { flagOf, BESIDE, type CommentFilter } from './comments.js'
import { pageOf, searchPage, within, type Order, type Page, type Sorting } from './paging.js'
import type { CommentRow, Db } from './tables.js'

/** Which comments of the site. */
export interface SiteCommentFilter extends Omit<CommentFilter, 'postId'> {
  post?: string | undefined
  /** Only those hidden as spam, or only others. */
  isSpam?: boolean | undefined
  /** Whether those on posts of private boards are among them. */
  privatePosts: boolean
  /** Of the comments of an author only so many of the newest that are no less public, whatever they are on. */
  newest?: number
}

export type SiteComment = Awaited<ReturnType<typeof listSiteComments>>[number]

/** The literals let a partial index serve, as no parameter does. A cross join makes SQLite begin with the comments. */
function filtered(db: Db, filter: SiteCommentFilter) {
  const { visibility, spam, isSpam, viewer, author, period, post, privatePosts, newest } = filter
  const [only, other] = new Set(visibility)
  const internal = only !== undefined && other === undefined ? sql.lit(flagOf(only)) : undefined
  const hidden = isSpam === undefined ? undefined : sql.lit(isSpam ? 1 : 0)
  return within(db.selectFrom('comments'), 'comments.created_at', period)
    .crossJoin('posts')
    .whereRef('posts.postId', '=', 'comments.post_id')
    .$if(only === undefined, (query) => query.where((eb) => eb.lit(false)))
    .$if(internal !== undefined, (query) => query.where('comments.is_internal', '=', internal ?? null))
    .$if(hidden !== undefined, (query) => query.where('comments.is_spam', '=', hidden ?? null))
    .$if(post !== undefined, (query) => query.where('comments.post_id', '=', post ?? ''))
    .$if(author !== undefined, (query) => query.where('comments.author_id', '=', author ?? null))
    .$if(newest !== undefined, (query) =>
      query.where('comments.id', 'in', (eb) =>
        eb
          .selectFrom('comments as newest')
          .select('newest.id')
          .where('newest.author_id', '=', author ?? null)
          .$if(internal !== undefined, (some) => some.where('newest.is_internal', '=', internal ?? null))
          .$if(hidden !== undefined, (some) => some.where('newest.is_spam', '=', hidden ?? null))
          .orderBy('newest.id', 'desc')
          .limit(newest ?? 0),
      ),
    )
    .$if(!privatePosts, (query) => query.where(sql<number>`posts.display + 0`, '=', 1))
    .$if(!spam, (query) =>
      query.where((eb) => eb.or([eb('comments.is_spam', '=', 0), eb('comments.author_id', '=', viewer)])),
    )
}

/** The comments of a person have an index by id, which is made of the time. */
const orderOf = ({ author, post, created: direction }: SiteCommentFilter & Sorting): Order<CommentRow> => ({
  by: author === undefined || post !== undefined ? ['created_at', 'id'] : ['id', 'id'],
  direction,
  table: 'comments',
})

const withNames = (query: ReturnType<typeof filtered>) =>
  query
    .leftJoin('users', 'users.userId', 'comments.author_id')
    .leftJoin('comments as parent', 'parent.id', 'comments.parent_id')
    .leftJoin('roadmaps as stage', 'stage.id', 'comments.roadmap_id')
    .leftJoin('posts as origin', 'origin.postId', 'comments.from_post_id')
    .leftJoin('boards as origin_board', 'origin_board.boardId', 'origin.boardId')
    .leftJoin('boards as place_board', 'place_board.boardId', 'posts.boardId')
    .selectAll('comments')
    .select(['users.name', 'users.username', 'users.avatar', ...BESIDE])
    .select(['posts.locked', 'posts.number as postNumber', 'posts.title as postTitle', 'posts.slug as postSlug'])

export const listSiteComments = (db: Db, filter: SiteCommentFilter & Sorting, page: Page<CommentRow>) =>
  pageOf(filtered(db, filter).$call(withNames), orderOf(filter), page).execute()

export async function countSiteComments(db: Db, filter: SiteCommentFilter): Promise<number> {
  const { total } = await filtered(db, filter)
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return total
}

/** The most comments that a search reads. */
export const MOST_READ = 20_000
/** Comments per query of a search: each can be long. */
const BATCH = 50

/** The comments of a page that match. */
export const searchSiteComments = (
  db: Db,
  filter: SiteCommentFilter & Sorting,
  page: Page<CommentRow>,
  matches: (comment: SiteComment) => boolean,
): Promise<SiteComment[]> =>
  searchPage<SiteComment, CommentRow>(page, {
    read: (part) => listSiteComments(db, filter, part),
    at: (row) => row,
    matches,
    most: MOST_READ,
    batch: BATCH,
  })

/** The comment of a cursor, if it is in this list. */
export const findSiteComment = (db: Db, filter: SiteCommentFilter, id: string): Promise<SiteComment | undefined> =>
  filtered(db, filter).$call(withNames).where('comments.id', '=', asStored(id)).executeTakeFirst()
