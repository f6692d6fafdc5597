import { LRUCache } from 'lru-cache'
import { CARRIED, FORMER_NAMES, LEFT_OUT } from '../carried.js'

/**
 * A table whose changes the log of row changes names. `ref` there is a row's id; for votes, comments, follows, mentions, merges and post_tags the post's, for
 * role_permissions the role's, for roles_users, user_tags, notifications, their settings and bounces the user's, for reports the reporter's, for api_keys the
 * hash.
 */
export const TOPIC_NAMES = [
  'boards',
  'posts',
  'votes',
  'comments',
  'roadmaps',
  'tags',
  'post_tags',
  'users',
  'user_tags',
  'roles',
  'role_permissions',
  'roles_users',
  'api_keys',
  'sessions',
  'totp',
  'identities',
  'reports',
  'reviews',
  'follows',
  'mentions',
  'merges',
  'notifications',
  'notification_settings',
  'board_follows',
  'mail_bounces',
  'settings',
  'legal_pages',
] as const
export type Topic = (typeof TOPIC_NAMES)[number]

/** Topics that can change a row of each table: its own, and those that triggers derive its columns from. */
export const TOPICS: Readonly<Record<string, readonly Topic[]>> = {
  boards: ['boards', 'posts'],
  posts: ['posts', 'votes', 'comments', 'boards'],
  post_search: ['posts'],
  comment_search: ['comments'],
  indexed_comments: ['comments'],
  post_moves: ['posts', 'users'], // who moved a post is erased with the account
  votes: ['votes'],
  comments: ['comments'],
  roadmaps: ['roadmaps'],
  tags: ['tags'],
  post_tags: ['post_tags', 'posts', 'tags'], // rows go with their post or tag
  users: ['users', 'posts', 'votes'],
  user_tags: ['user_tags', 'users'],
  roles: ['roles'],
  role_permissions: ['role_permissions'],
  roles_users: ['roles_users'],
  api_keys: ['api_keys'],
  sessions: ['sessions'],
  totp: ['totp'],
  identities: ['identities'],
  reports: ['reports'],
  reviews: ['reviews'],
  follows: ['follows'],
  mentions: ['mentions'],
  merges: ['merges'],
  notifications: ['notifications'],
  notification_settings: ['notification_settings'],
  board_follows: ['board_follows'],
  mail_bounces: ['mail_bounces'],
  settings: ['settings'],
  legal_pages: ['legal_pages'],
  counters: ['users', 'boards', 'roadmaps'],
  post_counts: ['posts', 'boards', 'roadmaps'],
}

/**
 * Narrows what a query depends on: for a topic the ids, or a function of the rows found that returns them. An empty
 * list is no dependency. A topic that is not named counts as a whole, and so does one whose function returns undefined:
 * a query that may find nothing depends on rows that are still to come.
 */
export type Refs<Row> = Partial<
  Record<Topic, readonly string[] | ((rows: readonly Row[]) => readonly string[] | undefined)>
>

/** What a query result depends on. `refs` undefined: on every row of the topic. */
export type Dependencies = readonly { topic: Topic; refs: readonly string[] | undefined }[]

/** Where any row of some topics counts, whatever `refs` says of them. */
export const widened = <Row>(refs: Refs<Row>, topics: readonly Topic[]): Refs<Row> =>
  Object.fromEntries(Object.entries(refs).filter(([topic]) => !topics.includes(topic as Topic)))

/** More refs than this are not worth comparing: the whole topic counts. */
const MAX_REFS = 300

/** A query whose results can be cached. */
interface Cacheable {
  /** Short for the SQL, as part of keys. */
  id: number
  topics: readonly Topic[]
}

const known = new LRUCache<string, Cacheable | 'no'>({ max: 1000 })
let queries = 0

/**
 * The topics a query reads, or undefined where its result must not be cached: it writes, is not deterministic, or reads a
 * table that is not logged.
 */
export function cacheable(sql: string): Cacheable | undefined {
  let found = known.get(sql)
  if (!found) {
    const topics = parseTopics(sql)
    known.set(sql, (found = topics ? { id: ++queries, topics } : 'no'))
  }
  return found === 'no' ? undefined : found
}

const UNCACHEABLE =
  /\b(random|now|current_\w+|clock_timestamp|datetime|strftime|nextval|pg_\w+|sqlite_\w+|information_schema|pragma|for update)\b/i
const TABLES: ReadonlySet<string> = new Set([...CARRIED, ...LEFT_OUT, ...FORMER_NAMES])
/** What can hold the name of a table without reading it: a text, an alias, a column after its table. */
const OTHER_NAMES = /'(?:[^']|'')*'|\bas\s+"?\w+"?|\.\s*"?\w+"?/gi

/** Any name of a table that is left in the SQL counts as read, wherever it stands. */
function parseTopics(sql: string): readonly Topic[] | undefined {
  if (!/^\s*select\b/i.test(sql) || UNCACHEABLE.test(sql)) return undefined
  const tables = (sql.replaceAll(OTHER_NAMES, ' ').match(/\w+/g) ?? []).filter((word) => TABLES.has(word))
  const topics = tables.map((table) => TOPICS[table])
  return tables.length > 0 && topics.every((each) => each !== undefined) ? [...new Set(topics.flat())] : undefined
}

export function dependenciesOf(
  topics: readonly Topic[],
  refs: Refs<never> | undefined,
  rows: readonly object[],
): Dependencies {
  return topics.map((topic) => {
    const narrowed = refs?.[topic]
    // Rows of that very query
    const ids = typeof narrowed === 'function' ? narrowed(rows as readonly never[]) : narrowed
    return { topic, refs: ids && ids.length <= MAX_REFS ? [...new Set(ids)] : undefined }
  })
}
