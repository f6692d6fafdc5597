import { sql, type Insertable, type Updateable } from 'kysely'
import { VOTERS_HIDDEN, VOTES_HIDDEN } from '../core/boardrules.js'
import { asStored, isId } from '../core/ids.js'
import { compiled, compiledPage, taggedQuery } from './cache/compiled.js'
import type { BoardRow, Db, Tables } from './tables.js'
import { visibleTotal, type Visibility } from './counters.js'
import { isPostgres, unlessTaken } from './dialect.js'
import { indexRoots, rootsOfBoard } from './search.js'
import { countAfter, pageOf, within, type Page, type Period, type Sorting } from './paging.js'

/** Which boards to list, and in which direction of creation time. */
export interface BoardFilter extends Period, Sorting {
  visibility: readonly Visibility[]
  /** How a folded name begins; undefined is any name. */
  prefix?: string | undefined
}

/** Of the boards whose names begin so, a list has so many of the first by name: no index has them by age. */
export const MOST_NAMED = 1000

const filtered = (db: Db, { visibility, prefix, end, since, until }: BoardFilter & { end?: string | undefined }) => {
  const [only, other] = new Set(visibility)
  const boards =
    prefix === undefined || end === undefined
      ? db.selectFrom('boards')
      : db.selectFrom(startingWith(db, prefix, end).limit(sql.lit(MOST_NAMED)).as('boards'))
  return within(boards, 'boards.createdAt', { since, until }).$if(other === undefined, (query) =>
    query.where('display', '=', only === 'public' ? 1 : 0),
  )
}

/** A range of the index, in which no character is a wildcard. */
const startingWith = (db: Db, prefix: string, end: string) =>
  db
    .selectFrom('boards')
    .selectAll()
    .where('nameFolded', '>=', prefix)
    .where('nameFolded', '<', end)
    .orderBy('nameFolded')
    .orderBy('boardId')

/** Where the range ends that begins with this prefix. */
const endOf = (prefix: string): string => `${prefix}\u{10ffff}`

/** The parameters of a filter. */
const rangeOf = ({ prefix, since, until }: BoardFilter) => ({
  ...(prefix !== undefined && { prefix, end: endOf(prefix) }),
  since,
  until,
})

const orderOf = ({ created: direction }: BoardFilter) => ({ by: ['createdAt', 'boardId'], direction }) as const

type Cursor = Pick<BoardRow, 'createdAt' | 'boardId'>

const cursorOf = ({ createdAt, boardId }: Cursor): Cursor => ({ createdAt, boardId })

const nameOf = ({ created, visibility }: BoardFilter): string =>
  `${created} ${[...new Set(visibility)].toSorted().join()}`

export function listBoards(db: Db, filter: BoardFilter, page: Page<BoardRow>): Promise<BoardRow[]> {
  const name = `listBoards ${nameOf(filter)}`
  const query = ({ after, limit, offset }: Page<BoardRow>) =>
    taggedQuery(db, name, { ...rangeOf(filter), limit, offset, ...(after && cursorOf(after)) }, (given) =>
      pageOf<Tables, 'boards', object, Cursor>(filtered(db, { ...filter, ...given }), orderOf(filter), {
        ...given,
        ...(after && { after: given as unknown as Cursor }),
      }).selectAll(),
    )
  const list = {
    name: [name, filter.since, filter.until, filter.prefix].join(' '),
    order: ['boards'] as const,
    query,
    cursor: cursorOf,
  }
  return compiledPage<BoardRow>(db, list, page)
}

export async function boardsAfter(db: Db, filter: BoardFilter, cursor: BoardRow): Promise<number> {
  const given = { ...rangeOf(filter), ...cursorOf(cursor) }
  const [row] = await compiled(db, `boardsAfter ${nameOf(filter)}`, given, (places) =>
    countAfter(filtered(db, { ...filter, ...places }), orderOf(filter), places),
  )
  return row?.count ?? 0
}

/** How many boards the filter lets through: of all from counts that the database keeps. */
export async function boardTotal(db: Db, filter: BoardFilter): Promise<number> {
  const { prefix, since, until } = filter
  if (prefix === undefined && since === undefined && until === undefined)
    return visibleTotal(db, 'boards', filter.visibility)
  const [row] = await compiled(db, `boardTotal ${nameOf(filter)}`, rangeOf(filter), (given) =>
    filtered(db, { ...filter, ...given }).select((eb) => eb.fn.countAll<number>().as('count')),
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

export const boardsWithIds = (db: Db, ids: readonly string[]): Promise<BoardRow[]> =>
  ids.length === 0
    ? Promise.resolve([])
    : compiled(
        db,
        'boardsWithIds',
        { ids },
        (given) => db.selectFrom('boards').selectAll().where('boardId', 'in', given.ids),
        { boards: ids, posts: [] },
      )

export const findBoardNamed = (db: Db, folded: string): Promise<BoardRow | undefined> =>
  db.selectFrom('boards').selectAll().where('nameFolded', '=', folded).limit(1).executeTakeFirst()

/** Boards whose folded name starts with a folded prefix, by name. */
export const searchBoards = (db: Db, prefix: string, limit: number): Promise<BoardRow[]> =>
  startingWith(db, prefix, endOf(prefix)).limit(limit).execute()

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
  unlessTaken(db, async () => {
    const before = change.display === undefined ? undefined : await db.selectFrom('boards').select('display').where('boardId', '=', boardId).executeTakeFirst() // prettier-ignore
    const board = await db.updateTable('boards').set(change).where('boardId', '=', boardId).returningAll().executeTakeFirst() // prettier-ignore
    if (board && before && before.display !== board.display) await indexRoots(db, await rootsOfBoard(db, boardId))
    return board
  })

/** Gives the posts of a board to another. */
export async function movePosts(db: Db, from: string, to: string): Promise<void> {
  await db.updateTable('posts').set({ boardId: to }).where('boardId', '=', from).execute()
  await indexRoots(db, await rootsOfBoard(db, to))
}

/** How many posts a board has, and none comes or goes before the transaction ends. Undefined where it is deleted. */
export async function heldPostCount(db: Db, boardId: string): Promise<number | undefined> {
  const row = await db
    .selectFrom('boards')
    .select('post_count')
    .where('boardId', '=', boardId)
    .$if(isPostgres(db), (query) => query.forUpdate())
    .executeTakeFirst()
  return row?.post_count
}

/** Its posts stay, as private as before; hidden votes and voters stay hidden. */
export async function deleteBoard(db: Db, boardId: string): Promise<BoardRow | undefined> {
  const hide = (hidden: number, rule: 'view_voters' | 'hides_votes', value: number) =>
    db
      .updateTable('posts')
      .set({ hidesVoters: hidden })
      .where('boardId', '=', (eb) =>
        eb.selectFrom('boards').select('boardId').where('boardId', '=', boardId).where(rule, '=', value),
      )
      .execute()
  await hide(VOTERS_HIDDEN, 'view_voters', 0)
  await hide(VOTES_HIDDEN, 'hides_votes', 1)
  const roots = await rootsOfBoard(db, boardId)
  const board = await db.deleteFrom('boards').where('boardId', '=', boardId).returningAll().executeTakeFirst()
  if (board?.display === 0) await indexRoots(db, roots) // its posts are public now
  return board
}
