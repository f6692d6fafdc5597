/** Values of a row, in the order of the columns. Both engines store nothing else. */
export type Value = string | number | null

/** A table of the site, with its columns in alphabetical order: the engines do not have them in one order. */
export interface TableShape {
  name: string
  columns: readonly string[]
}

/** Rows of a table, in SQL that both engines read. */
export interface Part {
  where: string
  /** What columns have in place of their values, by the name of the column. */
  values?: Readonly<Record<string, string>>
}

/** All data of a site as they were at one moment, however long they are read. Others write meanwhile. */
export interface Snapshot {
  engine: 'sqlite' | 'postgres'
  /** The last migration; undefined for a database without a schema. */
  schema: string | undefined
  /** What tells the site from others, also after a restore: the id of a role that every site has from its beginning. */
  site: string | undefined
  tables: readonly TableShape[]
  /** The last id that each table with a counting key has given. */
  sequences: Readonly<Record<string, number>>
  /** The rows of a table, or of a part of it, in the same order on both engines, some at a time. */
  rows(table: TableShape, part?: Part): AsyncIterable<Value[][]>
  /** The rows of a query of ours that both engines read, some at a time. */
  query(sql: string): AsyncIterable<Value[][]>
  close(): Promise<void>
}

/** Rows that are read at a time. */
export const BATCH = 500

/** What a backup carries. A test fails where a table is in neither list. */
export const BACKED_UP = [
  'api_key_uses',
  'api_keys',
  'board_follows',
  'boards',
  'comments',
  'counters',
  'deliveries',
  'event_cursors',
  'event_erasures',
  'event_seals',
  'events',
  'follows',
  'former_paths',
  'former_usernames',
  'identities',
  'image_parts',
  'image_uses',
  'images',
  'imported_rows',
  'invitations',
  'legal_pages',
  'limits',
  'mail_bounces',
  'mentions',
  'merged_votes',
  'merges',
  'notification_settings',
  'notifications',
  'one_time_tokens',
  'post_counts',
  'post_moves',
  'post_tags',
  'posts',
  'recovery_codes',
  'reports',
  'reviews',
  'roadmaps',
  'role_permissions',
  'roles',
  'roles_users',
  'session_uses',
  'sessions',
  'settings',
  'tags',
  'totp',
  'user_tags',
  'user_uses',
  'users',
  'views',
  'votes',
] as const

/** Columns that only SQLite has. A backup leaves them out, and a restore makes them again. */
const LEFT_OUT_COLUMNS: Readonly<Record<string, readonly string[]>> = { comments: ['number'] }

/** The columns of a table that backups carry, in alphabetical order. */
export const carriedColumns = (table: string, columns: readonly string[]): string[] =>
  columns.filter((name) => !LEFT_OUT_COLUMNS[table]?.includes(name)).toSorted()

/** What belongs to a database or to processes that use it, or is made anew of other tables. */
export const NOT_BACKED_UP = [
  'backup_tasks',
  'comment_search',
  'import_refusals',
  'import_runs',
  'indexed_comments',
  'job_leases',
  'job_runs',
  'kysely_migration',
  'kysely_migration_lock',
  'post_search',
  'row_changes',
  'schema_triggers',
  'search_backfill',
  'search_refill',
  'servers',
  'undos',
] as const

/**
 * Tables that have another name in earlier schemas, by that name. In the schemas since, a view has it, so that a server
 * of an earlier version can go on.
 */
const FORMER: ReadonlyMap<string, (typeof BACKED_UP)[number] | (typeof NOT_BACKED_UP)[number]> = new Map([
  ['outbox', 'deliveries'],
  ['change_log', 'row_changes'],
])

export const FORMER_NAMES: readonly string[] = [...FORMER.keys()]

/** The name that a table has in the newest schema. */
export const presentName = (name: string): string => FORMER.get(name) ?? name

/** Whether backups carry a table, in whatever schema it has that name. */
export const isCarried = (name: string): boolean => (BACKED_UP as readonly string[]).includes(presentName(name))

/** Every name that a table which backups carry has or had. */
export const CARRIED_NAMES: readonly string[] = [...BACKED_UP, ...FORMER_NAMES.filter(isCarried)]

/** Tables with a counting key. */
export const COUNTING: readonly string[] = ['events', 'post_moves']

/** Finds what tells a site from others. */
export const SITE_SQL = `select min(id) as id from roles where "isSystem" = 1`

/** Where the engines have different primary keys: columns that both have an index of. */
const ORDER: Readonly<Record<string, readonly string[]>> = { votes: ['postId', 'createdAt', 'voteId'] }

/** The columns by which the rows of a table are read. Without a key all of them decide. */
const orderOf = ({ name, columns }: TableShape, key: readonly string[]): readonly string[] =>
  ORDER[name] ?? (key.length > 0 ? key : columns)

/** Reads the rows of a table in their order. `key` is its primary key. */
export function selectOf(
  table: TableShape,
  key: readonly string[],
  { where, values = {} }: Partial<Part> = {},
): string {
  const columns = table.columns.map((name) =>
    Object.hasOwn(values, name) ? `${values[name]} as "${name}"` : `"${name}"`,
  )
  const order = orderOf(table, key).map((name) => `"${name}"`)
  return `select ${columns.join(', ')} from "${table.name}"${where === undefined ? '' : ` where ${where}`} order by ${order.join(', ')}`
}
