import type { BACKED_UP, Snapshot, TableShape, Value } from './carried.js'
import type { Tables } from './tables.js'

interface Exported<Column extends string = string> {
  /** The `type` of its lines. */
  type: string
  /** Columns that are secrets, say what is still to be mailed, or are about one installation. */
  without?: readonly Column[]
  /** Hashes of passwords, which are exported on request only. */
  passwords?: readonly Column[]
  /** Columns that follow from others. */
  derived?: readonly Column[]
  /** Exports the rows with this value only. */
  only?: readonly [Column, Value]
}

/** Why a table is not exported: it holds secrets, follows from other tables, or is about one installation only. */
type LeftOut = 'secret' | 'derived' | 'installation'

/**
 * What an export has of each table that a backup carries, or why it has nothing of it. The tables are in the order of
 * the export: rows come after those that they refer to, except in their own table.
 */
const EXPORTED = {
  settings: { type: 'settings', without: ['secretFingerprint'] },
  legal_pages: { type: 'legal_page' },
  counters: { type: 'counter', only: ['name', 'post_numbers'] }, // the numbers of deleted posts are not used again
  roles: { type: 'role' },
  role_permissions: { type: 'role_permission' },
  users: {
    type: 'user',
    passwords: ['password'],
    derived: ['post_count', 'vote_count', 'searchText'],
    without: ['sessions'],
  },
  user_uses: { type: 'user_use' },
  user_tags: { type: 'user_tag', derived: ['tagFolded'] },
  former_usernames: { type: 'former_username' },
  roles_users: { type: 'role_assignment' },
  invitations: { type: 'invitation' },
  boards: { type: 'board', derived: ['nameFolded', 'post_count'] },
  board_follows: { type: 'board_follow' },
  roadmaps: { type: 'roadmap', derived: ['nameFolded'] },
  tags: { type: 'tag', derived: ['nameFolded'] },
  posts: { type: 'post', derived: ['votesCount', 'commentsCount', 'trending'] },
  post_tags: { type: 'post_tag' },
  former_paths: { type: 'former_path' },
  post_moves: { type: 'post_move' },
  votes: { type: 'vote' },
  comments: { type: 'comment' },
  images: { type: 'image' },
  image_parts: { type: 'image_part' },
  image_uses: { type: 'image_use' },
  merges: { type: 'merge' },
  merged_votes: { type: 'merged_vote' },
  follows: { type: 'follow' },
  mentions: { type: 'mention' },
  reports: { type: 'report' },
  reviews: { type: 'review' },
  views: { type: 'view', derived: ['nameFolded'] },
  notification_settings: { type: 'notification_settings', without: ['mailKey'] },
  notifications: { type: 'notification', without: ['mail', 'mailAt', 'mailedAt'] },
  mail_bounces: { type: 'mail_bounce' },
  events: { type: 'event' },
  event_erasures: { type: 'event_erasure' },
  event_seals: { type: 'event_seal' },
  imported_rows: { type: 'imported_row' },
  post_counts: 'derived',
  event_cursors: 'installation',
  limits: 'installation',
  api_key_uses: 'secret',
  api_keys: 'secret',
  deliveries: 'secret', // links of mails sign in
  identities: 'secret', // what another service calls a person signs them in
  one_time_tokens: 'secret',
  recovery_codes: 'secret',
  session_uses: 'secret',
  sessions: 'secret',
  totp: 'secret',
} as const satisfies { [Table in (typeof BACKED_UP)[number]]: Exported<keyof Tables[Table] & string> | LeftOut }

/** The name of a table of which an export has rows. */
export type ExportedName = {
  [Table in keyof typeof EXPORTED]: (typeof EXPORTED)[Table] extends LeftOut ? never : Table
}[keyof typeof EXPORTED]

/** The oldest schema whose exports are read: those since have the same lines, except for `LATER`. */
export const OLDEST_READ = '0078_new_accounts'

/** Columns that such exports may lack: since which schema they are there, and what a row from before has. */
const LATER: { [Table in ExportedName]?: Readonly<Record<string, { since: string; value: Value }>> } = {
  merges: { wasHeld: { since: '0080_held_merges', value: 0 } },
}

/** What the rows of a table in an export of a schema lack, by the name of the column. */
export const lackedBy = (schema: string, table: ExportedName): ReadonlyMap<string, Value> =>
  new Map(
    Object.entries(LATER[table] ?? {}).flatMap(([column, { since, value }]) => schema < since ? [[column, value]] : []), // prettier-ignore
  )

/** A table of the export, with the columns that are exported. */
export interface ExportedTable extends TableShape {
  name: ExportedName
  type: string
  /** Whether a row, as its values in the order of the columns, is exported. */
  includes(this: void, row: readonly Value[]): boolean
}

/** The tables of an export of a database with the newest schema, in their order. */
export function exportedTables(
  { tables }: Pick<Snapshot, 'tables'>,
  { passwords }: { passwords: boolean },
): ExportedTable[] {
  const shapes = new Map(tables.map((table) => [table.name, table.columns]))
  return Object.entries<Exported | LeftOut>(EXPORTED).flatMap(([name, each]) => {
    if (typeof each === 'string') return []
    const { type, without = [], derived = [], only } = each
    const hidden = new Set([...without, ...derived, ...(passwords ? [] : (each.passwords ?? []))])
    const columns = (shapes.get(name) ?? []).filter((column) => !hidden.has(column))
    const at = only === undefined ? -1 : columns.indexOf(only[0])
    return [{ name: name as ExportedName, columns, type, includes: (row) => only === undefined || row[at] === only[1] }]
  })
}
