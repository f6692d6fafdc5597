import type { Generated, Selectable } from 'kysely'

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
    userId: string
    boardId: string | null
    createdAt: string
    updatedAt: string
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
    createdAt: string
    updatedAt: string
  }
  roles: { id: string; name: string; description: string | null; isSystem: number; created_at: string; updated_at: string }
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
  counters: { name: string; value: number }
}

export type BoardRow = Selectable<Tables['boards']>
export type UserRow = Selectable<Tables['users']>
export type SettingsRow = Selectable<Tables['settings']>
export type MailRow = Selectable<Tables['outbox']>
