import { sql, type Insertable, type Updateable } from 'kysely'
import { asStored, isId } from '../core/ids.js'
import type { Db } from './connect.js'
import type { Visibility } from './counters.js'
import { unlessTaken } from './dialect.js'
import type { BoardRow, Tables } from './tables.js'

/** Which boards count, and in which direction of age. */
export interface BoardFilter {
  visibility: readonly Visibility[]
  created: 'asc' | 'desc'
}

const filtered = (db: Db, { visibility }: BoardFilter) => {
  const [only, other] = new Set(visibility)
  return db.selectFrom('boards').$if(other === undefined, (query) => query.where('display', '=', only === 'public' ? 1 : 0))
}

const following = (db: Db, filter: BoardFilter, cursor: BoardRow) =>
  filtered(db, filter).where((eb) => eb(eb.refTuple('createdAt', 'boardId'), filter.created === 'asc' ? '>' : '<', eb.tuple(cursor.createdAt, cursor.boardId)))

/** A page by number of rows to skip, or by the board it comes after. Boards of the same instant are ordered by id. */
export const listBoards = (db: Db, filter: BoardFilter, page: { limit: number; offset?: number; after?: BoardRow }): Promise<BoardRow[]> =>
  (page.after ? following(db, filter, page.after) : filtered(db, filter))
    .selectAll()
    .orderBy('createdAt', filter.created)
    .orderBy('boardId', filter.created)
    .limit(page.limit)
    .$if(page.offset !== undefined, (query) => query.offset(page.offset ?? 0))
    .execute()

/** How many boards come after this one: the contract's `current_page` of a cursor page needs it. */
export async function boardsAfter(db: Db, filter: BoardFilter, cursor: BoardRow): Promise<number> {
  const row = await following(db, filter, cursor)
    .select(sql<number>`count(*)`.as('count'))
    .executeTakeFirstOrThrow()
  return row.count
}

/** By id or url. No url looks like an id (the service refuses those), so this is one board. */
export const findBoard = (db: Db, urlOrId: string): Promise<BoardRow | undefined> =>
  db
    .selectFrom('boards')
    .selectAll()
    .where(isId(urlOrId) ? 'boardId' : 'url', '=', asStored(urlOrId))
    .executeTakeFirst()

export const findBoardNamed = (db: Db, folded: string): Promise<BoardRow | undefined> =>
  db.selectFrom('boards').selectAll().where('nameFolded', '=', folded).limit(1).executeTakeFirst()

/** Boards whose folded name starts with the folded prefix, by name: a range of the index, so nothing needs escaping. */
export const searchBoards = (db: Db, prefix: string, limit: number): Promise<BoardRow[]> =>
  db
    .selectFrom('boards')
    .selectAll()
    .where('nameFolded', '>=', prefix)
    .where('nameFolded', '<', `${prefix}\u{10ffff}`)
    .orderBy('nameFolded')
    .orderBy('boardId')
    .limit(limit)
    .execute()

/** Returns undefined when another board has this url; the unique index decides, not a read before the write. */
export const insertBoard = (db: Db, board: Insertable<Tables['boards']>): Promise<BoardRow | undefined> =>
  db
    .insertInto('boards')
    .values(board)
    .onConflict((conflict) => conflict.column('url').doNothing())
    .returningAll()
    .executeTakeFirst()

/** Returns 'taken' when another board has the url, and undefined when there is no such board any more. */
export const updateBoard = (db: Db, boardId: string, change: Updateable<Tables['boards']>): Promise<BoardRow | 'taken' | undefined> =>
  unlessTaken(db, () => db.updateTable('boards').set(change).where('boardId', '=', boardId).returningAll().executeTakeFirst())

/** Its posts stay, as private and with voters as hidden as they were. */
export async function deleteBoard(db: Db, boardId: string): Promise<BoardRow | undefined> {
  await db
    .updateTable('posts')
    .set({ hidesVoters: 1 })
    .where('boardId', '=', (eb) => eb.selectFrom('boards').select('boardId').where('boardId', '=', boardId).where('view_voters', '=', 0))
    .execute()
  return db.deleteFrom('boards').where('boardId', '=', boardId).returningAll().executeTakeFirst()
}
