import { BOARD_SORTS, LOCKS, POSTING, VOTERS_HIDDEN, VOTES_HIDDEN } from '../core/boardrules.js'
import { DELIVERY_KINDS } from '../core/deliverykinds.js'
import { COUNTED_AS_SPAM, HELD, MERGED, SHOWN, SPAM, UNLISTED } from '../core/hidden.js'
import { IMPORTED_KINDS } from '../core/importedkinds.js'
import { isLegalPage } from '../core/legal.js'
import { KINDS as KINDS_OF_NEWS } from '../core/notificationkinds.js'
import { DIGESTS, isTimeZone, MAIL_WAYS, WEEKDAYS, waysIn } from '../core/notificationways.js'
import { STATUS_KINDS, type StatusKind } from '../core/statuskinds.js'
import { carriedColumns, presentName, type BACKED_UP, type TableShape, type Value } from './carried.js'
import type { Tables } from './tables.js'
import type { StoredFilter } from './views.js'

/** Constraint on the values of a column beyond their SQL type. `is` completes the sentence "… is not …". */
interface Kind {
  is: string
  /** Whether null is no value of it. */
  isRequired?: true
  fits(this: void, value: Exclude<Value, null>): boolean
}

/** Anything that the SQL type of the column allows. */
const free: Kind = { is: 'anything', fits: () => true }
/** SQLite gives a row without such a key another one. */
const key: Kind = { is: 'a whole number', isRequired: true, fits: (value) => Number.isSafeInteger(value) }
const time: Kind = { is: 'a time', fits: (value) => typeof value === 'string' && isTime(value) }
const delivery: Kind = { is: 'a kind of delivery', fits: (value) => DELIVERY_KINDS.some((kind) => kind === value) }
const official: Kind = { is: 'update or answer', fits: (value) => value === 'update' || value === 'answer' }
const notification: Kind = {
  is: 'a kind of notification',
  fits: (value) => KINDS_OF_NEWS.some((kind) => kind === value),
}
const posting: Kind = {
  is: 'everyone or team',
  isRequired: true,
  fits: (value) => POSTING.some((each) => each === value),
}
const sort: Kind = {
  is: 'an order of posts',
  isRequired: true,
  fits: (value) => BOARD_SORTS.some((each) => each === value),
}
const locked: Kind = { is: 'what is locked', isRequired: true, fits: (value) => LOCKS.some((each) => each === value) }
const status: Kind = {
  is: 'open, planned, active, done or declined',
  isRequired: true,
  fits: (value) => STATUS_KINDS.some((kind) => kind === value),
}
const imported: Kind = {
  is: 'a kind of what is imported',
  isRequired: true,
  fits: (value) => IMPORTED_KINDS.some((kind) => kind === value),
}
const legalPage: Kind = {
  is: 'a legal page',
  isRequired: true,
  fits: (value) => typeof value === 'string' && isLegalPage(value),
}
const base64: Kind = {
  is: 'Base64',
  isRequired: true,
  fits: (value) => typeof value === 'string' && /^[\w+/]*={0,2}$/.test(value),
}
/** A browser shows nothing else that people upload. */
const image: Kind = { is: 'image/webp', isRequired: true, fits: (value) => value === 'image/webp' }
const pixels: Kind = { is: 'a number of pixels', isRequired: true, fits: (value) => Number.isInteger(value) && Number(value) > 0 } // prettier-ignore
const mail: Kind = { is: 'now, quiet or digest', fits: (value) => MAIL_WAYS.some((each) => each === value) }
const ways: Kind = {
  is: 'ways of notifications by topic, in JSON',
  isRequired: true,
  fits: (value) => waysIn(String(value)) !== undefined,
}
const digest: Kind = {
  is: 'daily or weekly',
  isRequired: true,
  fits: (value) => DIGESTS.some((each) => each === value),
}
const weekday: Kind = { is: 'a weekday', isRequired: true, fits: (value) => WEEKDAYS.some((each) => each === value) }
const hour: Kind = {
  is: 'an hour from 0 to 23',
  isRequired: true,
  fits: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 23,
}
const timeZone: Kind = { is: 'a time zone', isRequired: true, fits: (value) => isTimeZone(String(value)) }
const headers: Kind = { is: 'texts by name, in JSON', fits: (value) => isTextsByName(inJson(value)) }
const concealed: Kind = {
  is: '0, 1 or 2',
  fits: (value) => value === 0 || value === VOTERS_HIDDEN || value === VOTES_HIDDEN,
}
const flag: Kind = { is: '0 or 1', fits: (value) => value === 0 || value === 1 }
const hidden: Kind = {
  is: '0, 1, 2 or 3',
  fits: (value) => value === SHOWN || value === SPAM || value === HELD || value === MERGED,
}
const display: Kind = { is: '0, 1 or 2', fits: (value) => value === 0 || value === 1 || value === UNLISTED }
const counted: Kind = { is: '0, 1, 2 or 3', fits: (value) => value === COUNTED_AS_SPAM || display.fits(value) }
const list: Kind = { is: 'a list of texts in JSON', fits: (value) => isTexts(inJson(value)) }
const flags: Kind = { is: 'true or false by name, in JSON', fits: (value) => isFlags(inJson(value)) }
const filter: Kind = { is: 'a filter of posts, in JSON', fits: (value) => isFilter(inJson(value)) }
/**
 * Of each column of each table that a backup carries. A site reads what is stored without a check, so a backup that
 * somebody changed must not bring in what it cannot read. A text may be longer than its field takes: what a database
 * holds, its backup must bring back.
 */
const KINDS: { [Table in (typeof BACKED_UP)[number]]: Record<keyof Tables[Table], Kind> } = {
  api_key_uses: { keyId: free, usedAt: time },
  api_keys: { keyId: free, keyHash: free, userId: free, name: free, permissions: list, createdAt: time, expiresAt: time },
  board_follows: { boardId: free, userId: free, createdAt: time },
  boards: { boardId: free, name: free, nameFolded: free, url: free, color: free, display: flag, view_voters: flag, post_count: free, description: free, template: free, posting, sort, archived: flag, hides_votes: flag, createdAt: time, updatedAt: time },
  comments: { id: free, post_id: free, parent_id: free, author_id: free, body: free, is_internal: flag, is_edited: flag, is_spam: hidden, official, roadmap_id: free, from_post_id: free, number: free, created_at: time, updated_at: time },
  counters: { name: free, value: free },
  deliveries: { deliveryId: free, kind: delivery, recipient: free, subject: free, text: free, html: free, priority: key, headers, createdAt: time, dueAt: time, attempts: free, leasedUntil: time, lease: free, lastError: free, sentAt: time, cancelledAt: time },
  event_cursors: { consumer: free, last_id: free },
  event_erasures: { event_id: key, subject_hash: free, details_hash: free },
  event_seals: { after_id: key, last_id: free, events: free, hash: free, sealed_at: time, version: free },
  events: { id: key, action: free, subject_id: free, subject: free, person_id: free, actor_id: free, origin: free, address: free, key_id: free, created_at: time, details: free },
  follows: { postId: free, userId: free, isFollowing: flag, createdAt: time, fromPostId: free },
  former_paths: { path: free, postId: free },
  former_usernames: { username: free, userId: free },
  identities: { identityId: free, userId: free, provider: free, subject: free, email: free, createdAt: time, usedAt: time },
  image_parts: { imageId: free, part: key, data: base64 },
  image_uses: { imageId: free, textId: free, postId: free, commentId: free },
  images: { imageId: free, userId: free, mediaType: image, width: pixels, height: pixels, bytes: key, createdAt: time },
  imported_rows: { source: free, kind: imported, sourceId: free, rowId: free },
  invitations: { userId: free, invitedBy: free, createdAt: time, sentAt: time, expiresAt: time, acceptedAt: time },
  legal_pages: { name: legalPage, updatedAt: time, markdown: free },
  limits: { key: free, points: free, until: time },
  mail_bounces: { userId: free, bounces: key, reason: free, bouncedAt: time, suppressedAt: time },
  mentions: { textId: free, userId: free, postId: free, commentId: free, createdAt: time },
  merged_votes: { voteId: free, userId: free, postId: free, createdAt: time },
  merges: { postId: free, intoId: free, rootId: free, answerId: free, mergedAt: time, mergedBy: free, wasHeld: flag },
  notification_settings: { userId: free, ways, digest, weekday, hour, timeZone, quietFrom: hour, quietUntil: hour, followsAuthored: flag, followsVoted: flag, followsCommented: flag, followsMentioned: flag, followsEverything: flag, mailKey: free },
  notifications: { userId: free, eventId: key, kind: notification, postId: free, commentId: free, roadmapId: free, actorId: free, createdAt: time, readAt: time, isOnPage: flag, mail, mailAt: time, mailedAt: time },
  one_time_tokens: { tokenHash: free, purpose: free, userId: free, createdAt: time, expiresAt: time },
  post_counts: { board: free, roadmap: free, display: counted, value: free },
  post_moves: { id: key, postId: free, kind: free, fromId: free, toId: free, movedAt: time, actorId: free },
  post_tags: { postId: free, tagId: free, createdAt: time },
  posts: { postId: free, title: free, slug: free, slugId: free, contentMarkdown: free, userId: free, boardId: free, roadmap_id: free, votesCount: free, commentsCount: free, trending: free, display, hidesVoters: concealed, number: free, is_spam: hidden, createdAt: time, updatedAt: time, importedVotes: key, pinned: flag, locked },
  recovery_codes: { codeHash: free, userId: free },
  reports: { reportId: free, postId: free, commentId: free, userId: free, reason: free, isOpen: flag, createdAt: time },
  reviews: { reviewId: free, postId: free, commentId: free, decidedAt: time, editedAt: time, isOpen: flag, snoozedUntil: time, snoozedBy: free },
  roadmaps: { id: free, name: free, nameFolded: free, url: free, index: free, color: free, display: flag, kind: status, created_at: time, updated_at: time },
  role_permissions: { role_id: free, permission: free },
  roles: { id: free, name: free, description: free, isSystem: flag, require_totp: flag, created_at: time, updated_at: time },
  roles_users: { role_id: free, user_id: free },
  session_uses: { sessionId: free, usedAt: time },
  sessions: { sessionId: free, userId: free, kind: free, userAgent: free, address: free, createdAt: time, expiresAt: time },
  settings: { id: key, title: free, description: free, logo: free, icon: free, accentColor: free, googleAnalyticsId: free, isPoweredBy: flag, allowSignup: flag, holdFirstPosts: flag, notificationWays: ways, developer_mode: flag, labs: flags, secretFingerprint: free, blockedDomains: list, announcement: free, announcementUntil: time, signupNote: free, headerLinks: list, footerLinks: list, logoDark: free, customCss: free, newFor: free, limitPosts: free, limitComments: free, limitEdits: free, limitReports: free },
  tags: { tagId: free, name: free, nameFolded: free, url: free, color: free, display: flag, createdAt: time, updatedAt: time },
  totp: { userId: free, secret: free, step: free, enabledAt: time },
  user_tags: { userId: free, tag: free, tagFolded: free, createdAt: time },
  user_uses: { userId: free, usedAt: time },
  users: { userId: free, name: free, username: free, email: free, password: free, avatar: free, isVerified: flag, isOwner: flag, isBlocked: flag, notes: free, language: free, showProfile: flag, showVotes: flag, showComments: flag, post_count: free, vote_count: free, sessions: free, searchText: free, createdAt: time, updatedAt: time },
  views: { viewId: free, userId: free, name: free, nameFolded: free, isShared: flag, filter: filter, createdAt: time, updatedAt: time },
  votes: { voteId: free, userId: free, postId: free, createdAt: time, fromPostId: free },
} // prettier-ignore

/** Kinds by column position. Columns that only earlier versions had are unconstrained. */
export const kindsOf = ({ name, columns }: { name: string; columns: readonly string[] }): Kind[] => {
  const kinds = new Map<string, Kind>(Object.entries(KINDS[presentName(name) as keyof typeof KINDS]))
  return columns.map((column) => kinds.get(column) ?? free)
}

/** Any string that Date parses, because other programs write other formats. */
const isTime = (value: string): boolean => !Number.isNaN(Date.parse(value))

function inJson(value: Value): unknown {
  try {
    return JSON.parse(String(value))
  } catch {
    return undefined
  }
}

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((each) => typeof each === 'string')

const isText = (value: unknown): boolean => typeof value === 'string'
const isTrue = (value: unknown): boolean => value === true
const isIds = (value: unknown): boolean => Array.isArray(value) && value.every((id) => id === null || isText(id))

/** A list of posts refuses texts and numbers that it does not know. */
const FILTER: Record<keyof StoredFilter, (value: unknown) => boolean> = {
  sort: isText,
  boards: isIds,
  roadmaps: isIds,
  statusKind: (value) =>
    Array.isArray(value) && value.length > 0 && value.every((each) => STATUS_KINDS.includes(each as StatusKind)),
  tags: isTexts,
  allTags: isTexts,
  withoutTags: isTexts,
  author: isText,
  since: isText,
  until: isText,
  waiting: Number.isSafeInteger,
  pinned: isTrue,
  spam: isTrue,
  withoutSpam: isTrue,
  mine: isTrue,
  voted: isTrue,
  following: isTrue,
  query: isText,
}

const isFilter = (value: unknown): boolean =>
  isObject(value) &&
  Object.entries(value).every(
    ([field, each]) => Object.hasOwn(FILTER, field) && FILTER[field as keyof StoredFilter](each),
  )

const isTextsByName = (value: unknown): boolean =>
  isObject(value) && Object.values(value).every((each) => typeof each === 'string')

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isFlags = (value: unknown): boolean =>
  isObject(value) && Object.values(value).every((each) => typeof each === 'boolean')

/** The columns of the tables that a backup carries, in the newest schema. */
export const SHAPES: readonly TableShape[] = Object.entries(KINDS).map(([name, kinds]) => ({
  name,
  columns: carriedColumns(name, Object.keys(kinds)),
}))
