import type { Topic } from '../cache/dependencies.js'
import type { Trigger } from '../dialect.js'
import type { Tables } from '../tables.js'

/**
 * `logged`: people write it. The others are computed by triggers from rows of tables whose changes are logged. `counted`:
 * `recount.ts` compares it with the rows. `derived`: nothing does.
 */
type Kind = 'logged' | 'counted' | 'derived'
type Columns<Table extends keyof Tables> = Record<keyof Tables[Table], Kind>

const boards = {
  boardId: 'logged',
  name: 'logged',
  nameFolded: 'logged',
  url: 'logged',
  color: 'logged',
  display: 'logged',
  view_voters: 'logged',
  post_count: 'counted',
  description: 'logged',
  template: 'logged',
  posting: 'logged',
  sort: 'logged',
  archived: 'logged',
  hides_votes: 'logged',
  createdAt: 'logged',
  updatedAt: 'logged',
} as const satisfies Columns<'boards'>

const posts = {
  postId: 'logged',
  title: 'logged',
  slug: 'logged',
  slugId: 'logged',
  contentMarkdown: 'logged',
  userId: 'logged',
  boardId: 'logged',
  roadmap_id: 'logged',
  votesCount: 'counted',
  commentsCount: 'counted',
  trending: 'derived',
  display: 'derived',
  hidesVoters: 'derived',
  is_spam: 'logged',
  number: 'logged',
  createdAt: 'logged',
  updatedAt: 'logged',
  importedVotes: 'logged',
  pinned: 'logged',
  locked: 'logged',
} as const satisfies Columns<'posts'>

const users = {
  userId: 'logged',
  name: 'logged',
  username: 'logged',
  email: 'logged',
  password: 'logged',
  avatar: 'logged',
  isVerified: 'logged',
  isOwner: 'logged',
  isBlocked: 'logged',
  notes: 'logged',
  language: 'logged',
  showProfile: 'logged',
  showVotes: 'logged',
  showComments: 'logged',
  post_count: 'counted',
  vote_count: 'counted',
  sessions: 'logged',
  searchText: 'logged',
  createdAt: 'logged',
  updatedAt: 'logged',
} as const satisfies Columns<'users'>

interface Logged {
  /** The column whose value the log names. Without one it names the site. */
  ref?: string
  /** Whether an update may change `ref`, so that both rows are logged. */
  moves?: boolean
  /** Without them, an update of any column is logged. */
  columns?: Readonly<Record<string, Kind>>
  /** Limits which updates are logged. */
  when?: string
}

/** The tables whose changes are logged in `row_changes`, under the name of the table. */
const LOGGED = {
  boards: { ref: 'boardId', moves: true, columns: boards },
  // The insertion is logged already when a trigger gives the post its number
  posts: { ref: 'postId', moves: true, columns: posts, when: 'old.number is not null' },
  votes: { ref: 'postId', moves: true },
  comments: { ref: 'post_id', moves: true },
  roadmaps: { ref: 'id', moves: true },
  tags: { ref: 'tagId' },
  post_tags: { ref: 'postId' },
  users: { ref: 'userId', moves: true, columns: users },
  user_tags: { ref: 'userId' },
  roles: { ref: 'id', moves: true },
  role_permissions: { ref: 'role_id', moves: true },
  roles_users: { ref: 'user_id', moves: true },
  settings: {},
  api_keys: { ref: 'keyHash', moves: true }, // a request with a revoked key reads it anew
  sessions: { ref: 'sessionId' },
  totp: { ref: 'userId' },
  identities: { ref: 'userId' },
  reports: { ref: 'userId' }, // pages show what a user has reported
  reviews: {},
  follows: { ref: 'postId', moves: true },
  mentions: { ref: 'postId', moves: true },
  merges: { ref: 'rootId', moves: true },
  notifications: { ref: 'userId', moves: true },
  notification_settings: { ref: 'userId' },
  board_follows: { ref: 'userId' },
  mail_bounces: { ref: 'userId' },
  legal_pages: { ref: 'name' },
} as const satisfies Record<Topic, Logged>

interface Computed {
  boards: typeof boards
  posts: typeof posts
  users: typeof users
}

/** The columns that `recount.ts` counts, by table. */
export type CountedColumns = {
  [Table in keyof Computed]: {
    [Column in keyof Computed[Table]]: Computed[Table][Column] extends 'counted' ? Column : never
  }[keyof Computed[Table]]
}

export const loggingTriggers: readonly Trigger[] = Object.entries<Logged>(LOGGED).flatMap(
  ([table, { ref, moves, columns, when }]) => {
    const log = (row: 'new' | 'old') =>
      `insert into row_changes (topic, ref) values ('${table}', ${ref === undefined ? `'site'` : `${row}."${ref}"`})`
    const listed = Object.entries(columns ?? {}).filter(([column, kind]) => column !== ref && kind === 'logged')
    const ofColumns = columns ? ` of ${listed.map(([column]) => `"${column}"`).join(', ')}` : ''
    const name = (event: string) => `${table}_${event}_logged`
    const on = table
    return [
      { name: name('insert'), on, after: 'insert', run: log('new') },
      { name: name('update'), on, after: `update${ofColumns}`, ...(when !== undefined && { when }), run: log('new') },
      ...(moves ? [{ name: name('move'), on, after: 'update', when: `new."${ref}" <> old."${ref}"`, run: log('old') }] : []), // prettier-ignore
      { name: name('delete'), on, after: 'delete', run: log('old') },
    ]
  },
)
