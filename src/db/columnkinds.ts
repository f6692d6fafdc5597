import type { CARRIED, Value } from './carried.js'
import type { Tables } from './tables.js'

/** What a value of a column is beyond its type. `is` ends the sentence "it is not …". */
interface Kind {
  is: string
  fits(this: void, value: Exclude<Value, null>): boolean
}

const any: Kind = { is: 'anything', fits: () => true }
const time: Kind = { is: 'a time', fits: (value) => typeof value === 'string' && isTime(value) }
const flag: Kind = { is: '0 or 1', fits: (value) => value === 0 || value === 1 }
const list: Kind = { is: 'a list of texts in JSON', fits: (value) => isTexts(inJson(value)) }
const flags: Kind = { is: 'true or false by name, in JSON', fits: (value) => isFlags(inJson(value)) }
/**
 * Of each column of each table that a backup carries. A site reads what is stored without a check, so a backup that
 * somebody changed must not bring in what it cannot read. A text may be longer than its field takes: what a database
 * holds, its backup must bring back.
 */
const KINDS: { [Table in (typeof CARRIED)[number]]: Record<keyof Tables[Table], Kind> } = {
  api_key_uses: { keyId: any, usedAt: time },
  api_keys: { keyId: any, keyHash: any, userId: any, name: any, permissions: list, createdAt: time, expiresAt: time },
  boards: { boardId: any, name: any, nameFolded: any, url: any, color: any, display: flag, view_voters: flag, post_count: any, createdAt: time, updatedAt: time },
  comments: { id: any, post_id: any, parent_id: any, author_id: any, body: any, is_internal: flag, is_edited: flag, is_spam: flag, created_at: time, updated_at: time },
  counters: { name: any, value: any },
  event_erasures: { event_id: any, subject_hash: any },
  event_seals: { after_id: any, last_id: any, events: any, hash: any, sealed_at: time },
  events: { id: any, action: any, subject_id: any, subject: any, person_id: any, actor_id: any, origin: any, address: any, key_id: any, created_at: time },
  former_usernames: { username: any, userId: any },
  limits: { key: any, points: any, until: time },
  one_time_tokens: { tokenHash: any, purpose: any, userId: any, createdAt: time, expiresAt: time },
  outbox: { mailId: any, recipient: any, subject: any, text: any, html: any, createdAt: time, dueAt: time, attempts: any, leasedUntil: time, lease: any, lastError: any, sentAt: time, cancelledAt: time },
  post_counts: { board: any, roadmap: any, display: flag, value: any },
  post_moves: { id: any, postId: any, kind: any, fromId: any, toId: any, movedAt: time, actorId: any },
  posts: { postId: any, title: any, slug: any, slugId: any, contentMarkdown: any, userId: any, boardId: any, roadmap_id: any, votesCount: any, commentsCount: any, trending: any, display: flag, hidesVoters: flag, number: any, is_spam: flag, createdAt: time, updatedAt: time },
  recovery_codes: { codeHash: any, userId: any },
  reports: { reportId: any, postId: any, commentId: any, userId: any, reason: any, isOpen: flag, createdAt: time },
  reviews: { reviewId: any, postId: any, commentId: any, decidedAt: time, editedAt: time, isOpen: flag },
  roadmaps: { id: any, name: any, nameFolded: any, url: any, index: any, color: any, display: flag, created_at: time, updated_at: time },
  role_permissions: { role_id: any, permission: any },
  roles: { id: any, name: any, description: any, isSystem: flag, require_totp: flag, created_at: time, updated_at: time },
  roles_users: { role_id: any, user_id: any },
  session_uses: { sessionId: any, usedAt: time },
  sessions: { sessionId: any, userId: any, userAgent: any, address: any, createdAt: time, expiresAt: time },
  settings: { id: any, title: any, description: any, logo: any, icon: any, accentColor: any, googleAnalyticsId: any, isPoweredBy: flag, allowSignup: flag, developer_mode: flag, labs: flags, secretFingerprint: any, blockedDomains: list },
  totp: { userId: any, secret: any, step: any, enabledAt: time },
  users: { userId: any, name: any, username: any, email: any, password: any, avatar: any, isVerified: flag, isOwner: flag, isBlocked: flag, notes: any, language: any, post_count: any, vote_count: any, sessions: any, createdAt: time, updatedAt: time },
  votes: { voteId: any, userId: any, postId: any, createdAt: time },
} // prettier-ignore

/** By position. A column that only earlier versions had holds anything. */
export const kindsOf = ({ name, columns }: { name: string; columns: readonly string[] }): Kind[] => {
  const kinds = new Map<string, Kind>(Object.entries(KINDS[name as keyof typeof KINDS]))
  return columns.map((column) => kinds.get(column) ?? any)
}

/** Any that a date can be made of: other programs write other forms. */
const isTime = (value: string): boolean => !Number.isNaN(Date.parse(value))

function inJson(value: Value): unknown {
  try {
    return JSON.parse(String(value))
  } catch {
    return undefined
  }
}

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((each) => typeof each === 'string')

const isFlags = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((each) => typeof each === 'boolean')
