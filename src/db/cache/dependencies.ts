import { LRUCache } from 'lru-cache'
import { BACKED_UP, FORMER_NAMES, NOT_BACKED_UP } from '../carried.js'

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

/**
 * The topics that can change a row of each table: its own, and those whose triggers write its columns, or delete its rows if
 * it has no topic of its own. A row that is deleted by a foreign key is logged like any other.
 */
export const TOPICS: Readonly<Record<string, readonly Topic[]>> = {
  boards: ['boards', 'posts'],
  posts: ['posts', 'votes', 'comments', 'boards'],
  post_search: ['posts', 'boards'],
  comment_search: ['comments'],
  indexed_comments: ['comments'],
  post_moves: ['posts', 'users'], // who moved a post is erased with the account
  votes: ['votes'],
  comments: ['comments'],
  roadmaps: ['roadmaps'],
  tags: ['tags'],
  post_tags: ['post_tags'],
  users: ['users', 'posts', 'votes'],
  user_tags: ['user_tags'],
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
  counters: ['users', 'boards', 'roadmaps', 'posts'],
  post_counts: ['posts', 'boards'],
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

/**
 * Pure functions: the same rows give the same result. A query that calls any other function is not cached, because it may
 * depend on the clock, a random number or the connection. Add a function here when a query needs it.
 */
export const PURE_FUNCTIONS: ReadonlySet<string> = new Set([
  'cast',
  'coalesce',
  'count',
  'instr',
  'json_array_elements_text',
  'json_array_length',
  'json_each',
  'json_extract',
  'json_group_array',
  'max',
  'min',
  'octet_length',
  'strpos',
  'substr',
  'sum',
  'unnest',
])
/** Keywords that can precede a parenthesis without being a function call. */
const BEFORE_PARENTHESES: ReadonlySet<string> = new Set(
  'all and any array as between by case distinct else escape except exists filter from glob group having ilike in intersect is join lateral like limit match materialized not offset on or order over partition row select some then union using values when where'.split(' '), // prettier-ignore
)
/** The clock, random samples, locks, and time types: PostgreSQL evaluates the literal 'now' for them. */
const REFUSED =
  /^(current_\w+|localtime|localtimestamp|(session_|system_)?user|tablesample|into|share|update|date|time|timetz|timestamp|timestamptz)$/
/** System tables. */
const ENGINE_TABLES = /^(pg_|sqlite_|pragma_|pragma$|information_schema$)/
const SCHEMAS: ReadonlySet<string> = new Set(['main', 'temp', 'public'])
const TABLES: ReadonlySet<string> = new Set([...BACKED_UP, ...NOT_BACKED_UP, ...FORMER_NAMES])
/** String literals, quoted names, words, and single characters. */
const TOKENS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\w+|\S/g

/** A token of a query, in lower case. `name` is undefined for string literals and operators. */
interface Token {
  text: string
  name: string | undefined
}

const tokensOf = (sql: string): Token[] =>
  Array.from(sql.matchAll(TOKENS), ([token]) => {
    const text = token.toLowerCase()
    return { text, name: /^\w/.test(text) ? text : text.startsWith('"') ? text.slice(1, -1) : undefined }
  })

/** The functions that a query calls. */
export const functionsIn = (sql: string): string[] => calledIn(tokensOf(sql))

const calledIn = (tokens: readonly Token[]): string[] =>
  tokens.flatMap(({ text, name }, at) => {
    const isAlias = tokens[at - 1]?.text === 'as' // with names of its columns
    return name === undefined || tokens[at + 1]?.text !== '(' || isAlias || BEFORE_PARENTHESES.has(text) ? [] : [name]
  })

/** Every table name in the SQL counts as read, except as an alias, or as a column after its table. */
function parseTopics(sql: string): readonly Topic[] | undefined {
  const tokens = tokensOf(sql)
  if (
    tokens[0]?.text !== 'select' ||
    tokens.some(({ text, name = '' }) => REFUSED.test(text) || ENGINE_TABLES.test(name))
  )
    return undefined
  if (calledIn(tokens).some((name) => !PURE_FUNCTIONS.has(name))) return undefined
  /** Tables and aliases. A name that only occurs before a dot is a schema. */
  const sources = new Set(tokens.map(({ name }, at) => (tokens[at + 1]?.text === '.' ? undefined : name)))
  const tables = tokens.flatMap(({ name = '' }, at) => {
    const before = tokens[at - 1]?.text
    if (!TABLES.has(name) || before === 'as') return []
    const of = before === '.' ? tokens[at - 2]?.name : undefined
    const isColumn = of !== undefined && !SCHEMAS.has(of) && (TABLES.has(of) || sources.has(of))
    return isColumn ? [] : [name]
  })
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
