import type { Generated, Kysely, Selectable } from 'kysely'
import type { BoardSort, Lock, Posting } from '../core/boardrules.js'
import type { DeliveryKind } from '../core/deliverykinds.js'
import type { ImportedKind } from '../core/importedkinds.js'
import type { NotificationKind } from '../core/notificationkinds.js'
import type { DigestTime, MailWay } from '../core/notificationways.js'
import type { StatusKind } from '../core/statuskinds.js'

export type Db = Kysely<Tables>

// Columns have the names of the API's fields, so that rows need no mapping. Ids are UUIDs, times ISO 8601, flags 0 or
// 1.
export interface LegalPageRow {
  name: string
  updatedAt: string
  /** Never empty. */
  markdown: string
}

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
    /** Plain text; empty: none. */
    description: Generated<string>
    /** What a new post begins with, in Markdown. */
    template: Generated<string>
    posting: Generated<Posting>
    sort: Generated<BoardSort>
    /** Takes nothing new, and is offered nowhere. */
    archived: Generated<number>
    /** Shows the votes of a post to those who voted for it. */
    hides_votes: Generated<number>
    createdAt: string
    updatedAt: string
  }
  posts: {
    postId: string
    title: string
    slug: string
    slugId: string
    contentMarkdown: string | null
    /** Null after the author's account is deleted. */
    userId: string | null
    boardId: string | null
    roadmap_id: string | null
    votesCount: Generated<number>
    /** Comments that everybody sees. */
    commentsCount: Generated<number>
    /** The sum of the weights of the post and its votes; what is a week newer weighs twice as much. */
    trending: Generated<number>
    /** Copied from the board by triggers. */
    display: Generated<number>
    /** Copied from a board that hides voters when it is deleted. */
    hidesVoters: Generated<number>
    /** Given by a trigger after the insertion: 1 for the first post of the site. */
    number: Generated<number>
    /** See `core/hidden.ts`. Of a hidden post, `display` is 0, whatever the board. */
    is_spam: Generated<number>
    createdAt: string
    updatedAt: string
    /** Votes that were counted elsewhere, without their voters. `votesCount` includes them. */
    importedVotes: Generated<number>
    /** Is above the other posts of its board. */
    pinned: Generated<number>
    locked: Generated<Lock>
  }
  /** Written by triggers, without the actor. Place ids may refer to deleted rows; null: no place. */
  post_moves: {
    id: Generated<number>
    postId: string
    kind: 'roadmap' | 'board'
    fromId: string | null
    toId: string | null
    movedAt: string
    actorId: string | null
  }
  votes: {
    voteId: string
    userId: string
    postId: string
    createdAt: string
    /** The merged post that it was cast on. Null: this one. */
    fromPostId: Generated<string | null>
  }
  /** A post that was merged into another. `rootId` is the post that stands for it now: that one may be merged too. */
  merges: {
    postId: string
    intoId: string
    rootId: string
    /** Its answer, which is none of the other post, as that had one. */
    answerId: string | null
    mergedAt: string
    /** Null for the command line, and where the account is deleted. */
    mergedBy: string | null
    /** 1 if it was held: its title and text are still for those who read private boards alone. */
    wasHeld: Generated<number>
  }
  /** Votes of people who had voted before for a post that is merged with the one of these. They do not count. */
  merged_votes: { voteId: string; userId: string; postId: string; createdAt: string }
  comments: {
    id: string
    post_id: string
    parent_id: string | null
    author_id: string | null
    body: string
    is_internal: number
    is_edited: Generated<number>
    is_spam: Generated<number>
    /** An update of the team, or the answer of the post: at most one comment is. Null: neither. */
    official: Generated<'update' | 'answer' | null>
    /** The roadmap that an update moved the post to. */
    roadmap_id: Generated<string | null>
    /** The merged post that it was written on. Null: this one. */
    from_post_id: Generated<string | null>
    /** Its number in the full-text index of SQLite. Null where another program wrote the comment. */
    number: Generated<number | null>
    created_at: string
    updated_at: string
  }
  /** Whether a person chose to follow a post, or not to: it counts above what else makes them follow it. */
  follows: {
    postId: string
    userId: string
    isFollowing: number
    createdAt: string
    /** The merged post where they chose so. Null: this one. */
    fromPostId: Generated<string | null>
  }
  /** An image that somebody uploaded, as it is shown. */
  images: {
    imageId: string
    /** Null after the account is deleted. */
    userId: string | null
    mediaType: string
    width: number
    height: number
    bytes: number
    createdAt: string
  }
  /** The bytes of an image, in Base64. */
  image_parts: { imageId: string; part: number; data: string }
  /** A text that shows an image: of the post, or of the comment. `textId` is the id of either. */
  image_uses: { imageId: string; textId: string; postId: string | null; commentId: string | null }
  /** Whom a text mentions. `textId` is the id of the comment, or of the post for its own text. */
  mentions: { textId: string; userId: string; postId: string; commentId: string | null; createdAt: string }
  /** What a person was told of an event. The other person concerned, the comment and the roadmap may be gone. */
  notifications: {
    userId: string
    eventId: number
    kind: NotificationKind
    postId: string
    commentId: string | null
    roadmapId: string | null
    actorId: string | null
    createdAt: string
    /** Null: unread. */
    readAt: string | null
    /** Whether their page of notifications has it. */
    isOnPage: Generated<number>
    /** How they are mailed. Null: they are not. */
    mail: Generated<MailWay | null>
    /** When the mail is to be written. Null: it was, or there is none. */
    mailAt: Generated<string | null>
    /** When the mail was written. */
    mailedAt: Generated<string | null>
  }
  /** What a person chose about notifications; without a row, what the site chose. */
  notification_settings: {
    userId: string
    /** A JSON object of `NotificationWays` by topic. */
    ways: Generated<string>
    digest: Generated<DigestTime['digest']>
    weekday: Generated<DigestTime['weekday']>
    hour: Generated<number>
    timeZone: Generated<string>
    /** Between which hours no such mail is written to them; the same hour twice: there are none. */
    quietFrom: Generated<number>
    quietUntil: Generated<number>
    /** Whether they follow the posts that they wrote, and so on. */
    followsAuthored: Generated<number>
    followsVoted: Generated<number>
    followsCommented: Generated<number>
    followsMentioned: Generated<number>
    /** Whether they are told of the new posts of all boards. */
    followsEverything: Generated<number>
    /** What the links of their mails have, which change these choices and nothing else. Null before the first mail. */
    mailKey: Generated<string | null>
  }
  /** Who is told of new posts of a board. */
  board_follows: { boardId: string; userId: string; createdAt: string }
  /** How often the mail server refused the address of a person since the last mail that it accepted. */
  mail_bounces: {
    userId: string
    bounces: number
    /** The words of the mail server. */
    reason: string
    bouncedAt: string
    /** Since when no notification is mailed to them. Null: they are mailed. */
    suppressedAt: string | null
  }
  roadmaps: {
    id: string
    name: string
    nameFolded: string
    url: string
    index: number
    color: string
    display: number
    kind: Generated<StatusKind>
    created_at: string
    updated_at: string
  }
  tags: {
    tagId: string
    name: string
    nameFolded: string
    url: string
    color: string
    /** 0: only with dashboard:read. */
    display: number
    createdAt: string
    updatedAt: string
  }
  post_tags: { postId: string; tagId: string; createdAt: string }
  /** What the team calls people. `tagFolded` is `tag` in the letters by which it is found. */
  user_tags: { userId: string; tag: string; tagFolded: string; createdAt: string }
  users: {
    userId: string
    name: string
    username: string
    email: string
    /** The hash. Null, or `!` from a server of the version before: none, and every password is wrong. */
    password: string | null
    avatar: string
    isVerified: number
    isOwner: number
    isBlocked: number
    notes: string | null
    /** The code of BCP 47 of their pages and mails. Null: pages are in the language that the browser asks for. */
    language: string | null
    /** Whether others see their profile, and there their votes and their comments. */
    showProfile: Generated<number>
    showVotes: Generated<number>
    showComments: Generated<number>
    post_count: Generated<number>
    vote_count: Generated<number>
    /** Tokens of versions without the table `sessions` carry this number. Incrementing it ends them. */
    sessions: Generated<number>
    /** The folded name, the user name and the address, a line each. Lists search it, and sort by it. */
    searchText: Generated<string>
    createdAt: string
    updatedAt: string
  }
  /** When each user was last seen, of which triggers take care. `NEVER` before the first time. */
  user_uses: { userId: string; usedAt: string }
  /**
   * What a person was recognised by: `subject` is what `provider` calls them, and `email` the address it said. `password`
   * and `link` are ways of the site itself: their rows only keep the time of the last use, and their subject is the user.
   */
  identities: {
    identityId: string
    userId: string
    provider: string
    subject: string
    email: string | null
    createdAt: string
    usedAt: string | null
  }
  /** User names that people had. Null: of an account that is deleted. */
  former_usernames: { username: string; userId: string | null }
  roles: {
    id: string
    name: string
    description: string | null
    isSystem: number
    /** Whether the role counts only for people with a second factor. */
    require_totp: Generated<number>
    created_at: string
    updated_at: string
  }
  role_permissions: { role_id: string; permission: string }
  roles_users: { role_id: string; user_id: string }
  one_time_tokens: { tokenHash: string; purpose: string; userId: string; createdAt: string; expiresAt: string }
  /** Only the hash of a key is stored. `permissions` is a JSON array, or null for those of the person. */
  api_keys: {
    keyId: string
    keyHash: string
    userId: string
    name: string
    permissions: string | null
    createdAt: string
    expiresAt: string
  }
  /** The hour of the last request with a key. */
  api_key_uses: { keyId: string; usedAt: string }
  /** A report of a post or of a comment; the other id is null. */
  reports: {
    reportId: string
    postId: string | null
    commentId: string | null
    userId: string
    reason: string | null
    isOpen: Generated<number>
    createdAt: string
  }
  /**
   * A post or a comment that the team has decided about or snoozed, or that was edited when it was no longer new; the other
   * id is null.
   */
  reviews: {
    reviewId: string
    postId: string | null
    commentId: string | null
    decidedAt: string
    /** When somebody outside the team last edited it. Until the next decision it `isOpen`. */
    editedAt: string | null
    isOpen: Generated<number>
    /** It does not wait until then, the start of an hour. */
    snoozedUntil: string | null
    snoozedBy: string | null
  }
  /**
   * Deleting one ends it. `userAgent` and `address` are those of the sign-in. Using a browser
   * session extends its `expiresAt`. An API session lasts two days.
   */
  sessions: {
    sessionId: string
    userId: string
    kind: Generated<'api' | 'browser'>
    userAgent: string
    address: string | null
    createdAt: string
    expiresAt: string
  }
  /** An account that somebody was invited to. `sentAt` and `expiresAt` are those of the newest mail. */
  invitations: {
    userId: string
    /** Null for the command line, and where the account is deleted. */
    invitedBy: string | null
    createdAt: string
    sentAt: string
    expiresAt: string
    acceptedAt: string | null
  }
  /** A second factor. `secret` is encrypted; `step` is the last that was used. It counts from `enabledAt` on. */
  totp: { userId: string; secret: string; step: Generated<number>; enabledAt: string | null }
  recovery_codes: { codeHash: string; userId: string }
  /** The hour of the last request of a session. */
  session_uses: { sessionId: string; usedAt: string }
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
    holdFirstPosts: Generated<number>
    /** A JSON object of `NotificationWays` by topic: the defaults of the site. */
    notificationWays: Generated<string>
    developer_mode: number
    labs: string
    secretFingerprint: string | null
    /** A JSON array of e-mail domains that accounts may not use. */
    blockedDomains: Generated<string>
    /** Markdown above every page, until a time; null: until it is removed. */
    announcement: string | null
    announcementUntil: string | null
    /** Markdown below the sign-up form. */
    signupNote: string | null
    /** JSON arrays of links in Markdown. */
    headerLinks: Generated<string>
    footerLinks: Generated<string>
    /** The logo in dark mode; null: as in light mode. */
    logoDark: string | null
    /** CSS of every page but those of the dashboard. */
    customCss: string | null
    /** How long an account is new, and what it may write meanwhile, as in the configuration; null: as it says there. */
    newFor: string | null
    limitPosts: string | null
    limitComments: string | null
    limitEdits: string | null
    limitReports: string | null
  }
  /** One row for each legal page that the site has. */
  legal_pages: LegalPageRow
  /** What is to be sent, and what was. The view `outbox` has the mails for servers of earlier versions. */
  deliveries: {
    deliveryId: string
    kind: DeliveryKind
    recipient: string
    subject: string
    text: string
    html: string
    /** Those of lower numbers leave first. */
    priority: Generated<number>
    /** Further headers of a mail: a JSON object. */
    headers: Generated<string | null>
    createdAt: string
    /** When the next attempt is due. Null if there will be none: it was sent, cancelled, or refused too often. */
    dueAt: string | null
    attempts: Generated<number>
    /** Until then, only the holder of `lease` may send it. */
    leasedUntil: string | null
    lease: string | null
    lastError: string | null
    sentAt: string | null
    /** Its text is empty from then on, as after it was sent. */
    cancelledAt: string | null
  }
  /** `holder` is the process that may run the job until then. */
  job_leases: { name: string; holder: string; until: string }
  /**
   * A process of a server, from its start to its stop. `pid` is that of the process that was started, `worker` 0 or the
   * number of one of its workers. `seen_at` is renewed while it runs.
   */
  servers: {
    host: string
    pid: number
    worker: number
    url: string
    version: string
    started_at: string
    seen_at: string
  }
  /** When a scheduled job last succeeded, and when and why it failed since. */
  /** A backup or a rehearsal that the owner asked for. `file` is null before a backup is made. */
  backup_tasks: {
    taskId: string
    kind: 'create' | 'rehearse'
    file: string | null
    askedAt: string
    startedAt: string | null
    endedAt: string | null
    error: string | null
    /** At most one is. */
    isOpen: number
  }
  /** An import that a server does in the background, at the request of an owner. */
  import_runs: {
    runId: string
    userId: string
    /** The name that the file was sent with. */
    name: string
    /** Identifies the file on the server that received it. */
    file: string
    /** JSON. */
    options: string
    isCheck: number
    askedAt: string
    startedAt: string | null
    /** When its server last reported progress. */
    seenAt: string | null
    endedAt: string | null
    ending: 'done' | 'failed' | 'stopped' | 'cancelled' | null
    isCancelled: number
    /** JSON, like the next two. */
    progress: string | null
    result: string | null
    error: string | null
    /** 1 while it waits or runs; at most one run has it. */
    isOpen: number
  }
  /** Records that an import refused, in parts. */
  import_refusals: { runId: string; part: number; text: string }
  job_runs: { name: string; done_at: string | null; failed_at: string | null; error: string | null }
  /** The comments by their number in the full-text index. On SQLite it is a view, which servers of earlier versions read. */
  indexed_comments: { number: Generated<number>; comment_id: string }
  /** What an update of the program indexes anew, and after which key it goes on. */
  search_refill: { kind: 'posts' | 'comments'; after: string }
  /** The same for servers of earlier versions that still run. Empty. */
  search_backfill: { kind: 'posts' | 'comments'; after: string }
  /** What was counted for a limit, until then. */
  limits: { key: string; points: number; until: string }
  counters: { name: string; value: number }
  /** '' stands for posts without a board or roadmap, '*' for all posts. */
  post_counts: { board: string; roadmap: string; display: number; value: number }
  /** Written by triggers. `ref` is the id of the changed row, or of the post or user it belongs to. */
  row_changes: { id: Generated<number>; topic: string; ref: string }
  /** One row: the triggers that are there. `names` is a JSON array. */
  schema_triggers: { fingerprint: string; names: string }
  events: {
    id: Generated<number>
    /** `post.created`, `user.blocked`: the noun names the table of the subject. */
    action: string
    subject_id: string
    /**
     * The name or title at that time. Null for users, who may erase their names, and for votes, to keep the table
     * small.
     */
    subject: string | null
    /** The other user of the action: the one who got the role, or on whose behalf the vote was cast. */
    person_id: string | null
    actor_id: string | null
    /** `http`, or `cli:` and the login name. */
    origin: string
    /** The address that an HTTP request came from. */
    address: string | null
    /** The API key of the request. */
    key_id: string | null
    created_at: string
    /** What changed, as JSON: an array of FieldChange (`core/details.ts`). */
    details: string | null
  }
  /** The hash of the events after `after_id` up to `last_id`, and of all before them. */
  event_seals: {
    after_id: number
    last_id: number
    events: number
    hash: string
    sealed_at: string
    /** 2: the hash includes the details of the events. */
    version: Generated<number>
  }
  /** The hashes of the name and of the details that an event had before they were erased. '' and null: it had none. */
  event_erasures: { event_id: number; subject_hash: string; details_hash: string | null }
  /** What a change of many things needs to be taken back: JSON, an array of Undoable (`service/lib/bulk.ts`). */
  undos: { undoId: string; userId: string | null; changes: string; expiresAt: string }
  /**
   * A filter of posts by its name: JSON, a StoredFilter (`service/lib/views.ts`). `userId` is null after the account of
   * the person who saved it is deleted. A shared view stays.
   */
  views: {
    viewId: string
    userId: string | null
    name: string
    nameFolded: string
    isShared: number
    filter: string
    createdAt: string
    updatedAt: string
  }
  /** What a row was where it was imported from. It stays when the row is deleted, so that no import brings it back. */
  imported_rows: { source: string; kind: ImportedKind; sourceId: string; rowId: string }
  /** Paths under which posts were found where they were imported from. */
  former_paths: { path: string; postId: string }
  /** The last event that a consumer has handled. */
  event_cursors: { consumer: string; last_id: number }
}

export type SealRow = Selectable<Tables['event_seals']>
export type BoardRow = Selectable<Tables['boards']>
export type PostRow = Selectable<Tables['posts']>
export type MergeRow = Selectable<Tables['merges']>
export type MergedVoteRow = Selectable<Tables['merged_votes']>
export type VoteRow = Selectable<Tables['votes']>
export type CommentRow = Selectable<Tables['comments']>
export type FollowRow = Selectable<Tables['follows']>
export type ImageRow = Selectable<Tables['images']>
export type NotificationRow = Selectable<Tables['notifications']>
export type NotificationSettingsRow = Selectable<Tables['notification_settings']>
export type RoadmapRow = Selectable<Tables['roadmaps']>
export type TagRow = Selectable<Tables['tags']>
export type RoleRow = Selectable<Tables['roles']>
export type EventRow = Selectable<Tables['events']>
export type KeyRow = Selectable<Tables['api_keys']>
export type TotpRow = Selectable<Tables['totp']>
export type IdentityRow = Selectable<Tables['identities']>
export type SessionRow = Selectable<Tables['sessions']>
export type UserRow = Selectable<Tables['users']>
export type SettingsRow = Selectable<Tables['settings']>
export type ViewRow = Selectable<Tables['views']>
export type DeliveryRow = Selectable<Tables['deliveries']>
