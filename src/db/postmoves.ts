import { sql } from 'kysely'
import type { Db, Tables } from './tables.js'

interface End {
  id: string | null
  /** Null of one that is deleted. */
  name: string | null
  url: string | null
  color: string | null
  display: number | null
}

export interface PostMove {
  kind: Tables['post_moves']['kind']
  from: End
  to: End
  movedAt: string
}

type Row = Record<`${'from' | 'to'}${'Id' | 'Name' | 'Url' | 'Color'}`, string | null> &
  Record<'fromDisplay' | 'toDisplay', number | null> &
  Pick<PostMove, 'kind' | 'movedAt'>

/** The newest moves of a post, newest first. */
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
  const { rows } =
    await sql<Row>`select post_moves.kind, post_moves."movedAt", post_moves."fromId", post_moves."toId", ${names('from')}, ${names('to')}
    from post_moves ${joins('from')} ${joins('to')}
    where post_moves."postId" = ${postId} order by post_moves.id desc limit ${limit}`.execute(db)
  return rows.map(({ kind, movedAt, ...row }) => ({
    kind,
    from: { id: row.fromId, name: row.fromName, url: row.fromUrl, color: row.fromColor, display: row.fromDisplay },
    to: { id: row.toId, name: row.toName, url: row.toUrl, color: row.toColor, display: row.toDisplay },
    movedAt,
  }))
}
