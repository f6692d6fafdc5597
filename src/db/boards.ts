import type { Insertable, Updateable } from 'kysely'
import { asStored, isId } from '../core/ids.js'
import { compiled, compiledPage, taggedQuery } from './cache/compiled.js'
import type { BoardRow, Db, Tables } from './tables.js'
import type { Visibility } from './counters.js'
import { unlessTaken } from './dialect.js'
import { countAfter, pageOf, type Page } from './paging.js'

/** Which boards to list, and in which direction of creation time. */
export interface BoardFilter {
  visibility: readonly Visibility[]
  created: 'asc' | 'desc'
}

const filtered = (db: Db, { visibility }: BoardFilter) => {
  const [only, other] = new Set(visibility)
  return db
    .selectFrom('boards')
    .$if(other === undefined, (query) => query.where('display', '=', only === 'public' ? 1 : 0))
}

const orderOf = ({ created: direction }: BoardFilter) => ({ by: ['createdAt', 'boardId'], direction }) as const

type Cursor = Pick<BoardRow, 'createdAt' | 'boardId'>

const cursorOf = ({ createdAt, boardId }: Cursor): Cursor => ({ createdAt, boardId })

const nameOf = ({ created, visibility }: BoardFilter): string =>
  `${created} ${[...new Set(visibility)].toSorted().join()}`

export function listBoards(db: Db, filter: BoardFilter, page: Page<BoardRow>): Promise<BoardRow[]> {
  const name = `listBoards ${nameOf(filter)}`
  const query = ({ after, limit, offset }: Page<BoardRow>) =>
    taggedQuery(db, name, { limit, offset, ...(after && cursorOf(after)) }, (given) =>
      pageOf<Tables, 'boards', object, Cursor>(filtered(db, filter), orderOf(filter), {
        ...given,
        ...(after && { after: given as Cursor }),
      }).selectAll(),
    )
  return compiledPage<BoardRow>(db, { name, order: ['boards'], query, cursor: cursorOf }, page)
}

export async function boardsAfter(db: Db, filter: BoardFilter, cursor: BoardRow): Promise<number> {
  const [row] = await compiled(db, `boardsAfter ${nameOf(filter)}`, cursorOf(cursor), (given) =>
    countAfter(filtered(db, filter), orderOf(filter), given),
  )
  return row?.count ?? 0
}

/** By id or url. The service refuses urls that look like an id, so at most one board matches. */
export async function findBoard(db: Db, urlOrId: string): Promise<BoardRow | undefined> {
  const column = isId(urlOrId) ? 'boardId' : 'url'
  const [board] = await compiled(db, `findBoard ${column}`, { which: asStored(urlOrId) }, ({ which }) =>
    db.selectFrom('boards').selectAll().where(column, '=', which),
  )
  return board
}

export const findBoardNamed = (db: Db, folded: string): Promise<BoardRow | undefined> =>
  db.selectFrom('boards').selectAll().where('nameFolded', '=', folded).limit(1).executeTakeFirst()

/**
 * Boards whose folded name starts with a folded prefix, by name. A range of the index, in which no character is a
 * wildcard.
 */
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

/** Returns undefined when another board has the url. The unique index decides, not a read before the write. */
export const insertBoard = (db: Db, board: Insertable<Tables['boards']>): Promise<BoardRow | undefined> =>
  db
    .insertInto('boards')
    .values(board)
    .onConflict((conflict) => conflict.column('url').doNothing())
    .returningAll()
    .executeTakeFirst()

/** Returns 'taken' when another board has the url, and undefined when the board does not exist any more. */
export const updateBoard = (
  db: Db,
  boardId: string,
  change: Updateable<Tables['boards']>,
): Promise<BoardRow | 'taken' | undefined> =>
  unlessTaken(db, () =>
    db.updateTable('boards').set(change).where('boardId', '=', boardId).returningAll().executeTakeFirst(),
  )

/** Its posts stay, as private as before; hidden voters stay hidden. */
export async function deleteBoard(db: Db, boardId: string): Promise<BoardRow | undefined> {
  await db
    .updateTable('posts')
    .set({ hidesVoters: 1 })
    .where('boardId', '=', (eb) =>
      eb.selectFrom('boards').select('boardId').where('boardId', '=', boardId).where('view_voters', '=', 0),
    )
    .execute()
  return db.deleteFrom('boards').where('boardId', '=', boardId).returningAll().executeTakeFirst()
}
