import { sql } from 'kysely'
import { compiled } from '../cache/compiled.js'
import { referringTo } from '../references.js'
import type { Db, Tables } from '../tables.js'

interface End {
  id: string | null
  /** Null of one that is deleted. */
  name: string | null
  url: string | null
  color: string | null
  display: number | null
}

export interface PostMove {
  id: number
  kind: Tables['post_moves']['kind']
  from: End
  to: End
  movedAt: string
}

/** Null if the move was not made by a user. */
export type Mover = Record<'userId' | 'name' | 'username' | 'avatar', string | null>

type Row = Record<`${'from' | 'to'}${'Id' | 'Name' | 'Url' | 'Color'}`, string | null> &
  Record<'fromDisplay' | 'toDisplay', number | null> &
  Pick<PostMove, 'id' | 'kind' | 'movedAt'>

/** Moves of a post, newest first, without the actors. */
export async function listMoves(db: Db, postId: string, limit: number): Promise<PostMove[]> {
  const names = (end: 'from' | 'to') =>
    sql.raw(
      ['name', 'url', 'color', 'display']
        .map(
          (column) =>
            `coalesce(${end}_roadmap.${column}, ${end}_board.${column}) as "${end}${column[0]?.toUpperCase()}${column.slice(1)}"`,
        ) // prettier-ignore
        .join(', '),
    )
  const joins = (end: 'from' | 'to') =>
    sql.raw(`left join roadmaps as ${end}_roadmap on post_moves.kind = 'roadmap' and ${end}_roadmap.id = post_moves."${end}Id"
      left join boards as ${end}_board on post_moves.kind = 'board' and ${end}_board."boardId" = post_moves."${end}Id"`)
  const rows = await compiled(
    db,
    'listMoves',
    { postId, limit },
    (given) => ({
      compile: () =>
        sql<Row>`select post_moves.id, post_moves.kind, post_moves."movedAt", post_moves."fromId", post_moves."toId", ${names('from')}, ${names('to')}
    from post_moves ${joins('from')} ${joins('to')}
    where post_moves."postId" = ${given.postId} order by post_moves.id desc limit ${given.limit}`.compile(db),
    }),
    { users: [] },
  )
  return rows.map(({ id, kind, movedAt, ...row }) => ({
    id,
    kind,
    from: { id: row.fromId, name: row.fromName, url: row.fromUrl, color: row.fromColor, display: row.fromDisplay },
    to: { id: row.toId, name: row.toName, url: row.toUrl, color: row.toColor, display: row.toDisplay },
    movedAt,
  }))
}

/** Who made the newest moves of a post, by the id of the move. */
export async function listMovers(db: Db, postId: string, limit: number): Promise<ReadonlyMap<number, Mover>> {
  const rows = await compiled(
    db,
    'listMovers',
    { postId, limit },
    (given) =>
      db
        .selectFrom('post_moves')
        .leftJoin('users', 'users.userId', 'post_moves.actorId')
        .select(['post_moves.id', 'users.userId', 'users.name', 'users.username', 'users.avatar'])
        .where('post_moves.postId', '=', given.postId)
        .orderBy('post_moves.id', 'desc')
        .limit(given.limit),
    { posts: [postId], users: (found) => found.flatMap(({ userId }) => userId ?? []), votes: [] },
  )
  return new Map(rows.map(({ id, ...mover }) => [id, mover]))
}

/** Runs a write that may move a post, and records the actor. Requires a transaction that has locked the post. */
export async function movedBy<T>(
  db: Db,
  { postId, actorId }: { postId: string; actorId: string | null },
  move: () => Promise<T>,
): Promise<T> {
  if (actorId === null) return move()
  const newest = await db.selectFrom('post_moves').select('id').where('postId', '=', postId).orderBy('id', 'desc').limit(1).executeTakeFirst() // prettier-ignore
  const result = await move()
  await referringTo({ users: actorId }, () =>
    db
      .updateTable('post_moves')
      .set({ actorId })
      .where('postId', '=', postId)
      .where('id', '>', newest?.id ?? 0)
      .execute(),
  )
  return result
}
