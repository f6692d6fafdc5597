import { sql } from 'kysely'
import { compiled } from './cache/compiled.js'
import { holdersAmong } from './notifications.js'
import { referringTo } from './references.js'
import type { Db } from './tables.js'

/** Whether a person follows a board. */
export async function isBoardFollower(
  db: Db,
  { boardId, userId }: { boardId: string; userId: string },
): Promise<boolean> {
  const rows = await compiled(
    db,
    'isBoardFollower',
    { boardId, userId },
    (given) =>
      db
        .selectFrom('board_follows')
        .select('userId')
        .where('boardId', '=', given.boardId)
        .where('userId', '=', given.userId),
    { board_follows: [userId] },
  )
  return rows.length > 0
}

/** How many people follow a board. */
export async function boardFollowerCount(db: Db, boardId: string): Promise<number> {
  const [row] = await compiled(db, 'boardFollowerCount', { boardId }, (given) =>
    db
      .selectFrom('board_follows')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('boardId', '=', given.boardId),
  )
  return row?.count ?? 0
}

export const followBoard = (
  db: Db,
  { boardId, userId, at }: { boardId: string; userId: string; at: string },
): Promise<unknown> =>
  referringTo({ users: userId, boards: boardId }, () =>
    db
      .insertInto('board_follows')
      .values({ boardId, userId, createdAt: at })
      .onConflict((conflict) => conflict.doNothing())
      .execute(),
  )

export const unfollowBoard = (db: Db, { boardId, userId }: { boardId: string; userId: string }): Promise<unknown> =>
  db.deleteFrom('board_follows').where('boardId', '=', boardId).where('userId', '=', userId).execute()

/** People that are read at a time. */
const TOGETHER = 500

/** Who follows a board, some at a time; then who of the team follows all of them. Somebody may be among both. */
export async function* boardFollowers(db: Db, boardId: string | null): AsyncGenerator<string[]> {
  if (boardId !== null)
    yield* pagesOf((after) =>
      db
        .selectFrom('board_follows')
        .select('userId')
        .where('boardId', '=', boardId)
        .where('userId', '>', after)
        .orderBy('userId')
        .limit(TOGETHER)
        .execute(),
    )
  const everything = pagesOf((after) =>
    db
      .selectFrom('notification_settings')
      .select('userId')
      .where('followsEverything', '=', sql.lit(1))
      .where('userId', '>', after)
      .orderBy('userId')
      .limit(TOGETHER)
      .execute(),
  )
  for await (const people of everything) yield [...(await holdersAmong(db, people, 'dashboard:read'))]
}

async function* pagesOf(read: (after: string) => Promise<{ userId: string }[]>): AsyncGenerator<string[]> {
  for (let after = ''; ;) {
    const ids = (await read(after)).map(({ userId }) => userId)
    if (ids.length > 0) yield ids
    if (ids.length < TOGETHER) return
    after = ids.at(-1) ?? after
  }
}
