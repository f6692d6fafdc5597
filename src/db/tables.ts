import type { Generated, Kysely, Selectable } from 'kysely'

export type Db = Kysely<Tables>

// Column names are the API's field names, so no row is ever renamed. Ids are UUID text, times ISO-8601 text, flags 0 or 1.
export interface Tables {
  boards: {
    boardId: string
    name: string
    nameFolded: string
    url: string
    color: string
    display: number
    view_voters: number
    post_count: Generated<number>
    createdAt: string
    updatedAt: string
  }
  posts: {
    postId: string
    title: string
    slug: string
    slugId: string
    contentMarkdown: string | null
    /** Null once the author's account is deleted. */
    userId: string | null
    boardId: string | null
    roadmap_id: string | null
    votesCount: Generated<number>
    /** Kept as its board's by triggers. */
    display: Generated<number>
    /** Kept from a board that hid its voters, when that is deleted. */
    hidesVoters: Generated<number>
    createdAt: string
    updatedAt: string
  }
  votes: { voteId: string; userId: string; postId: string; createdAt: string }
  comments: {
    id: string
    post_id: string
    parent_id: string | null
    author_id: string | null
    body: string
    is_internal: number
    is_edited: Generated<number>
    is_spam: Generated<number>
    created_at: string
    updated_at: string
  }
  roadmaps: {
    id: string
    name: string
    nameFolded: string
    url: string
    index: number
    color: string
    display: number
    created_at: string
    updated_at: string
  }
  users: {
    userId: string
    name: string
    username: string
    email: string
    password: string
    avatar: string
    isVerified: number
    isOwner: number
    isBlocked: number
    notes: string | null
    post_count: Generated<number>
    vote_count: Generated<number>
    /** Session tokens carry this number; those of an earlier one have ended. */
    sessions: Generated<number>
    createdAt: string
    updatedAt: string
  }
  roles: {
    id: string
    name: string
    description: string | null
    isSystem: number
    created_at: string
    updated_at: string
  }
  role_permissions: { role_id: string; permission: string }
  roles_users: { role_id: string; user_id: string }
  one_time_tokens: { tokenHash: string; purpose: string; userId: string; createdAt: string; expiresAt: string }
  settings: {
    id: number
    title: string
    description: string | null
    logo: string | null
    icon: string | null
    accentColor: string | null
    googleAnalyticsId: string | null
    isPoweredBy: number
    allowSignup: number
    developer_mode: number
    labs: string
    secretFingerprint: string | null
    /** A JSON list of domains that no account may have its address at. */
    blockedDomains: Generated<string>
  }
  outbox: {
    mailId: string
    recipient: string
    subject: string
    text: string
    html: string
    createdAt: string
    /** When the next attempt is due; null once the mail was sent or given up. */
    dueAt: string | null
    attempts: Generated<number>
    /** Until when whoever holds `lease` may send it. */
    leasedUntil: string | null
    lease: string | null
    lastError: string | null
    sentAt: string | null
  }
  /** Which process may run a job, and until when. */
  job_leases: { name: string; holder: string; until: string }
  counters: { name: string; value: number }
  /** '' is a post without a board or a roadmap, '*' all posts. */
  post_counts: { board: string; roadmap: string; display: number; value: number }
  /** Which rows were changed; triggers write it. `ref` is the id of the changed row, or of the post or person it belongs to. */
  change_log: { id: Generated<number>; topic: string; ref: string }
  events: {
    id: Generated<number>
    /** `post.created`, `user.blocked`: the noun is that of the row. */
    action: string
    subject_id: string
    /** What the row was called then; null for people, whose name is theirs to erase, and for votes, which are as many as everything else. */
    subject: string | null
    /** Whom it was done to or for, besides: who was given a role, for whom a vote was cast. */
    person_id: string | null
    actor_id: string | null
    /** `http`, or `cli:` and the login name at the machine. */
    origin: string
    created_at: string
  }
}

export type BoardRow = Selectable<Tables['boards']>
export type PostRow = Selectable<Tables['posts']>
export type VoteRow = Selectable<Tables['votes']>
export type CommentRow = Selectable<Tables['comments']>
export type RoadmapRow = Selectable<Tables['roadmaps']>
export type RoleRow = Selectable<Tables['roles']>
export type EventRow = Selectable<Tables['events']>
export type UserRow = Selectable<Tables['users']>
export type SettingsRow = Selectable<Tables['settings']>
export type MailRow = Selectable<Tables['outbox']>
