import type { Permission } from './permissions.js'

/** A noun with rows of its own, which commands and requests can name. */
interface RowNoun {
  table: string
  /** The column of the id. */
  id: string
  /** The branch of commands, the section of the API document. */
  plural: string
  /** What messages call a row. */
  label: string
  /** The permission to read private rows, and rows of private boards. Null where it depends on more. */
  read: Permission | null
  /** Whether a name stands for a row, beside an id and the start of one. */
  byName: boolean
  /** Whether the list of events finds the row by its name, or by the start of its id. */
  isSubject: boolean
  /** The code of a field that names a row that does not exist. */
  unknown?: string
  /** What events say happened to a row, in the past tense. */
  verbs: readonly string[]
  /**
   * The columns whose changes events record with both values. Leave out secrets, what people may erase, and texts that
   * would outlive a deletion.
   */
  details: Readonly<Record<string, 'text' | 'number' | 'flag'>>
}

/** Stands for one of several nouns. */
interface Group {
  group: readonly string[] | 'subjects'
}

/** Only events are about it. */
interface EventNoun {
  verbs: readonly string[]
  details?: RowNoun['details']
}

/**
 * What every layer derives from a noun: the names that commands accept, the references between tables, the errors for
 * missing rows and the actions of events. Where a layer needs more, such as the query that finds a row by its name, it
 * has a record with all nouns of its kind, and does not compile without the new one.
 */
export const NOUNS = {
  post: {
    table: 'posts',
    id: 'postId',
    plural: 'posts',
    label: 'post',
    read: 'board:read',
    byName: false,
    isSubject: true,
    verbs: [
      'created',
      'updated',
      'deleted',
      'voted',
      'unvoted',
      'reported',
      'kept',
      'marked_spam',
      'reopened',
      'snoozed',
      'woken',
      'followed',
      'unfollowed',
      'merged',
      'unmerged',
      'tagged',
    ],
    details: { title: 'text', boardId: 'text', roadmap_id: 'text', is_spam: 'flag', pinned: 'flag', locked: 'text' },
  },
  comment: {
    table: 'comments',
    id: 'id',
    plural: 'comments',
    label: 'comment',
    read: 'board:read',
    byName: false,
    isSubject: true,
    verbs: ['created', 'updated', 'deleted', 'reported', 'kept', 'marked_spam', 'reopened', 'snoozed', 'woken'],
    details: { is_internal: 'flag', is_spam: 'flag', official: 'text' },
  },
  item: { group: ['post', 'comment'] },
  board: {
    table: 'boards',
    id: 'boardId',
    plural: 'boards',
    label: 'board',
    read: 'board:read',
    byName: true,
    isSubject: true,
    unknown: 'UNKNOWN_BOARD',
    verbs: ['created', 'updated', 'deleted', 'followed', 'unfollowed'],
    details: {
      name: 'text',
      url: 'text',
      color: 'text',
      display: 'flag',
      view_voters: 'flag',
      description: 'text',
      template: 'text',
      posting: 'text',
      sort: 'text',
      archived: 'flag',
      hides_votes: 'flag',
    },
  },
  roadmap: {
    table: 'roadmaps',
    id: 'id',
    plural: 'roadmaps',
    label: 'roadmap',
    read: 'roadmap:read',
    byName: true,
    isSubject: true,
    unknown: 'UNKNOWN_ROADMAP',
    verbs: ['created', 'updated', 'deleted', 'moved'],
    details: { name: 'text', url: 'text', color: 'text', display: 'flag', kind: 'text', index: 'number' },
  },
  tag: {
    table: 'tags',
    id: 'tagId',
    plural: 'tags',
    label: 'tag',
    read: 'dashboard:read',
    byName: true,
    isSubject: true,
    unknown: 'UNKNOWN_TAG',
    verbs: ['created', 'updated', 'deleted', 'merged'],
    details: { name: 'text', url: 'text', color: 'text', display: 'flag' },
  },
  user: {
    table: 'users',
    id: 'userId',
    plural: 'users',
    label: 'account',
    read: null,
    byName: false,
    isSubject: true,
    unknown: 'UNKNOWN_PERSON',
    verbs: [
      'created',
      'updated',
      'deleted',
      'tagged',
      'invitation_resent',
      'invitation_revoked',
      'signed_up',
      'signed_in',
      'verified',
      'verification_requested',
      'reset_requested',
      'password_set',
      'password_removed',
      'deletion_requested',
      'link_created',
      'link_used',
      'promoted',
      'blocked',
      'unblocked',
      'signed_out',
      'sign_in_failed',
      'totp_begun',
      'totp_enabled',
      'totp_disabled',
      'totp_recovery',
      'totp_reset',
      'totp_guessed',
      'merged',
    ],
    details: {},
  },
  role: {
    table: 'roles',
    id: 'id',
    plural: 'roles',
    label: 'role',
    read: null,
    byName: true,
    isSubject: true,
    verbs: ['created', 'updated', 'deleted', 'assigned', 'unassigned'],
    details: { name: 'text', description: 'text', require_totp: 'flag' },
  },
  key: {
    table: 'api_keys',
    id: 'keyId',
    plural: 'keys',
    label: 'key',
    read: null,
    byName: true,
    isSubject: true,
    verbs: ['created', 'revoked'],
    details: {},
  },
  session: {
    table: 'sessions',
    id: 'sessionId',
    plural: 'sessions',
    label: 'session',
    read: null,
    byName: false,
    isSubject: false, // it ends with its row
    verbs: ['ended'],
    details: {},
  },
  identity: {
    table: 'identities',
    id: 'identityId',
    plural: 'identities',
    label: 'way to sign in',
    read: null,
    byName: false,
    isSubject: false, // what a provider calls a person goes with the row
    verbs: ['linked', 'unlinked'],
    details: {},
  },
  image: {
    table: 'images',
    id: 'imageId',
    plural: 'images',
    label: 'image',
    read: null,
    byName: false,
    isSubject: false, // an image that nothing shows goes without an event
    verbs: ['created', 'deleted'],
    details: {},
  },
  view: {
    table: 'views',
    id: 'viewId',
    plural: 'views',
    label: 'view',
    read: null,
    byName: true,
    isSubject: false, // only its author sees the name of a private one
    verbs: ['created', 'updated', 'deleted'],
    details: {},
  },
  subject: { group: 'subjects' },
  mail: { verbs: ['retried', 'cancelled', 'tested', 'resumed'] },
  site: {
    verbs: [
      'set_up',
      'updated',
      'secret_replaced',
      'backup_requested',
      'rehearsal_requested',
      'imported',
      'import_started',
      'import_cancelled',
      'import_ended',
    ],
    details: {
      title: 'text',
      description: 'text',
      logo: 'text',
      accentColor: 'text',
      googleAnalyticsId: 'text',
      allowSignup: 'flag',
      holdFirstPosts: 'flag',
      notificationWays: 'text',
      developer_mode: 'flag',
      labs: 'text',
      blockedDomains: 'text',
      announcement: 'text',
      announcementUntil: 'text',
      signupNote: 'text',
      headerLinks: 'text',
      footerLinks: 'text',
      logoDark: 'text',
      customCss: 'text',
      newFor: 'text',
      limitPosts: 'text',
      limitComments: 'text',
      limitEdits: 'text',
      limitReports: 'text',
    },
  },
} as const satisfies Record<string, RowNoun | Group | EventNoun>

type Nouns = typeof NOUNS
type Having<Shape> = { [N in keyof Nouns]: Nouns[N] extends Shape ? N : never }[keyof Nouns]

/** A noun with rows. */
export type NounWithRows = Having<{ table: string }>
export type NounWithName = Having<{ byName: true }>
export type NounOfSubjects = Having<{ isSubject: true }>
/** A noun that a field can name. An item is a post or a comment, a subject whatever events are about. */
export type Noun = NounWithRows | Having<{ group: unknown }>

const names = Object.keys(NOUNS) as (keyof Nouns)[]
const isIn = (noun: keyof Nouns, key: string): boolean => Object.hasOwn(NOUNS[noun], key)

export const NOUNS_WITH_ROWS = names.filter((noun): noun is NounWithRows => isIn(noun, 'table'))
export const NAMED_NOUNS = names.filter((noun): noun is Noun => isIn(noun, 'table') || isIn(noun, 'group'))

export const hasName = (noun: Noun): noun is NounWithName => {
  const entry: RowNoun | Group = NOUNS[noun]
  return 'byName' in entry && entry.byName
}

/** The nouns that a group stands for; a noun with rows stands for itself. */
export function membersOf(noun: Noun): readonly NounWithRows[] {
  const entry = NOUNS[noun]
  if (!('group' in entry)) return [noun as NounWithRows]
  return entry.group === 'subjects' ? NOUNS_WITH_ROWS.filter((each) => NOUNS[each].isSubject) : entry.group
}

/** A noun and, in the past tense, what happened to a row of it. */
export type Action = { [N in Having<EventNoun>]: `${N}.${Nouns[N]['verbs'][number]}` }[Having<EventNoun>]

/** Every action of events. */
export const ACTIONS = names.flatMap((noun) => {
  const entry: EventNoun | Group = NOUNS[noun]
  return 'verbs' in entry ? entry.verbs.map((verb) => `${noun}.${verb}` as Action) : []
})

export type NotFoundCode = `${Uppercase<NounWithRows>}_NOT_FOUND`

/** The code of an error about a row that does not exist. */
export const notFoundCode = <N extends NounWithRows>(noun: N): `${Uppercase<N>}_NOT_FOUND` =>
  `${noun.toUpperCase() as Uppercase<N>}_NOT_FOUND`

type NounInFields = Having<{ unknown: string }>

/** The code of a field that names a row that does not exist. */
export type UnknownCode = Nouns[NounInFields]['unknown']

/** For each such code, the command that lists the rows. */
export const LISTS_OF_UNKNOWN = Object.fromEntries(
  NOUNS_WITH_ROWS.flatMap((noun) => {
    const entry: RowNoun = NOUNS[noun]
    return entry.unknown === undefined ? [] : [[entry.unknown, entry.plural]]
  }),
) as Readonly<Record<UnknownCode, string>>

export const unknownCode = (noun: NounInFields): UnknownCode => NOUNS[noun].unknown
