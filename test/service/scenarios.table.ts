import { newId } from '../../src/core/ids.js'
import { PERMISSIONS, type Permission } from '../../src/core/permissions.js'
import { PNG } from '../support/images.js'
import type { World } from './scenarios.world.js'

/** Whom an operation is for. A list is of permissions each of which is enough. */
export type Needs = 'public' | 'account' | 'owner' | Permission | readonly Permission[]

/** 'ok', or the status and the code of a refusal. */
export type Outcome = 'ok' | `${number} ${string}`

/**
 * Everybody who tries. `powerless` has an account and no permission, `member` another than the needed one, `almost` all
 * others, `permitted` and `blocked` the needed one alone; where no permission is named, these two have all.
 */
export const roles = ['visitor', 'powerless', 'member', 'almost', 'permitted', 'blocked', 'owner'] as const
export type Role = (typeof roles)[number]

/** Makes fresh rows to work on; `caller` is the userId of the caller. */
export type Input = (world: World, caller: string | null) => object | Promise<object>

export interface Row {
  needs: Needs
  /** Nothing, where it is left out. */
  input?: Input
  /** What an upload gets. */
  rows?: string | Buffer | (() => string)
  /** The media type of `rows`; lines of JSON, where it is left out. */
  type?: string
  /** A POST that only reads, or a success that is no event. */
  silent?: true
  /** Each answer is another, as it has a new token. */
  differs?: true
  /** A read of what belongs to the caller: each has a row of their own. */
  own?: true
  /** Where it differs from what `needs` says: for everybody, or for some. */
  but?: Outcome | Partial<Record<Role, Outcome>>
}

const WRONG_PASSWORD = '403 INCORRECT_PASSWORD'
const NOT_AUTHOR = '403 UNAUTHORIZED_NOT_AUTHOR'

/** Who may do what: one line an operation, from the contract. */
export const table: Record<string, Row> = {
  'site.status': { needs: 'public' },
  'site.overview': { needs: 'owner' },
  'site.setup': { needs: 'public', input: (w) => w.credentials(), but: '403 SETUP_COMPLETED' },
  'auth.login': { needs: 'public', differs: true, input: (w) => w.account() },
  'auth.signup': { needs: 'public', input: (w) => w.credentials() },
  'auth.verify': { needs: 'account' },
  'auth.validate': { needs: 'public', input: async (w) => ({ token: await w.mailed('emailVerification') }) },
  'auth.resetPassword': { needs: 'public', input: async (w) => ({ email: (await w.person()).email }) },
  'auth.validateToken': {
    needs: 'public',
    silent: true,
    input: async (w) => ({ token: await w.mailed('resetPassword') }),
  },
  'auth.setPassword': {
    needs: 'public',
    input: async (w) => ({ token: await w.mailed('resetPassword'), password: 'a new password' }),
  },
  'auth.useLink': { needs: 'public', differs: true, input: async (w) => ({ token: await w.mailed('signIn') }) },

  'users.profile': { needs: 'account' },
  'users.updateProfile': { needs: 'account', input: () => ({ name: 'Renamed' }) },
  'users.changePassword': {
    needs: 'account',
    input: async (w, caller) => ({ currentPassword: await w.password(caller), password: 'a new password' }),
  },
  'account.export': { needs: 'account' },
  'exports.site': { needs: 'owner' },
  // Whoever it is for would be gone after it
  'account.delete': {
    needs: 'account',
    input: () => ({ password: 'not the password' }),
    but: {
      member: WRONG_PASSWORD,
      almost: WRONG_PASSWORD,
      permitted: WRONG_PASSWORD,
      owner: '403 CANNOT_CHANGE_OWNER',
    },
  },
  'account.requestDeletion': { needs: 'account', but: { owner: '403 CANNOT_CHANGE_OWNER' } },
  'users.permissions': { needs: 'account' },
  'users.dashboard': { needs: 'dashboard:read' },
  'totp.status': { needs: 'account' },
  'totp.begin': { needs: 'account', input: (w, caller) => w.withoutTotp(caller) },
  'totp.enable': { needs: 'account', input: (w, caller) => w.totp(caller, false) },
  'totp.disable': { needs: 'account', input: (w, caller) => w.totp(caller, true) },
  'totp.recovery': { needs: 'account', input: (w, caller) => w.totp(caller, true) },
  'users.resetTotp': { needs: 'owner', input: (w) => w.personWithTotp() },
  'users.merge': { needs: 'owner', input: (w) => w.placeholder() },
  'users.promote': { needs: 'owner', input: (w) => w.heir() },
  'identities.list': { needs: 'account' },
  'identities.unlink': { needs: 'account', input: async (w, caller) => ({ identityId: await w.identity(caller) }) },
  'sessions.list': { needs: 'account' },
  'sessions.show': {
    needs: 'account',
    own: true,
    differs: true,
    input: async (w, caller) => ({ sessionId: await w.session(caller) }),
  },
  'sessions.revoke': { needs: 'account', input: async (w, caller) => ({ sessionId: await w.session(caller) }) },
  'sessions.revokeAll': { needs: 'account' },
  'keys.list': { needs: 'account' },
  'keys.show': {
    needs: 'account',
    own: true,
    differs: true,
    input: async (w, caller) => ({ keyId: await w.key(caller) }),
  },
  'keys.create': { needs: 'account', input: () => ({ name: 'ci' }) },
  'keys.revoke': { needs: 'account', input: async (w, caller) => ({ keyId: await w.key(caller) }) },
  'users.list': { needs: 'user:read', input: () => ({ limit: 100 }) },
  'users.download': { needs: 'user:read', input: () => ({ format: 'jsonl' }) },
  'users.show': { needs: 'user:read', input: async (w) => ({ user: (await w.person()).userId }) },
  'users.create': { needs: 'user:invite', input: (w) => ({ email: w.credentials().email }) },
  'users.update': { needs: 'owner', input: async (w) => ({ user: (await w.person()).userId, name: 'Renamed' }) },
  'users.block': { needs: 'user:block', input: async (w) => ({ user: (await w.person()).userId }) },
  'users.blockMany': { needs: 'user:block', input: async (w) => ({ users: [(await w.person()).userId, 'nobody'] }) },
  'users.tag': { needs: 'user:block', input: async (w) => ({ user: (await w.person()).userId, add: ['customer'] }) },
  'users.publicProfile': { needs: 'public', input: async (w) => ({ user: (await w.person()).userId }) },
  'users.votes': { needs: 'public', input: async (w) => ({ user: (await w.person()).userId }) },
  'users.comments': { needs: 'public', input: async (w) => ({ user: (await w.person()).userId }) },
  'users.unblock': { needs: 'user:block', input: async (w) => ({ user: (await w.person({ blocked: true })).userId }) },
  'users.sessions': { needs: 'user:block', input: async (w) => ({ user: (await w.person()).userId }) },
  'users.signOut': { needs: 'user:block', input: async (w) => ({ user: (await w.person()).userId }) },
  'users.delete': { needs: 'owner', input: async (w) => ({ user: (await w.person()).userId }) },

  'invitations.list': { needs: 'user:invite' },
  'invitations.create': { needs: 'user:invite', input: (w) => ({ emails: [w.credentials().email, 'nobody'] }) },
  'invitations.accept': {
    needs: 'public',
    differs: true,
    input: async (w) => ({ token: await w.mailed('resetPassword', await w.invited()), password: 'a new password' }),
  },
  'invitations.resend': { needs: 'user:invite', input: async (w) => ({ user: await w.invited() }) },
  'invitations.revoke': {
    needs: 'user:invite',
    input: async (w, caller) => ({ user: await w.invited(caller) }),
  },

  'posts.list': { needs: 'public', silent: true, input: () => ({ limit: 100 }) },
  'posts.show': { needs: 'public', silent: true, input: (w) => ({ id: w.openPost }) },
  'posts.history': { needs: 'public', input: (w) => ({ post_id: w.openPost }) },
  'posts.search': { needs: 'public', input: () => ({ words: 'secret' }) },
  'posts.download': { needs: 'public', input: () => ({ format: 'jsonl' }) },
  'posts.facets': { needs: 'public' },
  'search.find': { needs: 'public', input: () => ({ query: 'secret' }) },
  'posts.duplicates': { needs: 'post:update' },
  'posts.similar': { needs: 'public', input: () => ({ title: 'A secret' }) },
  'posts.create': { needs: 'post:create', input: () => ({ title: 'New' }) },
  'posts.upload': { needs: 'post:create', rows: '{"title":"New"}\n' },
  'imports.create': {
    needs: 'owner',
    input: () => ({ source: 'canny' }),
    rows: () => `${JSON.stringify({ type: 'post', sourceId: newId(), title: 'New' })}\n`,
  },
  'imports.file': { needs: 'owner', rows: () => '{}\n', type: 'application/octet-stream', silent: true },
  'imports.startRun': {
    needs: 'owner',
    input: (w) => w.importRun('none'),
    rows: () => '{}\n',
    type: 'application/octet-stream',
    silent: true,
    differs: true,
    own: true,
  },
  'imports.confirmRun': {
    needs: 'owner',
    input: (w) => w.importRun('checked'),
    silent: true,
    differs: true,
    own: true,
  },
  'imports.listRuns': { needs: 'owner' },
  'imports.showRun': { needs: 'owner' },
  'imports.cancelRun': { needs: 'owner', input: (w) => w.importRun('running'), silent: true },
  'imports.refused': { needs: 'owner', input: (w) => w.importRun('checked') },
  'imports.site': { needs: 'owner', rows: () => '{}\n', silent: true },
  'imports.findPath': { needs: 'public', input: async (w) => ({ path: await w.formerPath() }) },
  'posts.update': { needs: 'post:update', input: async (w) => ({ id: await w.post(), title: 'Changed' }) },
  'posts.move': { needs: 'post:update', input: async (w) => ({ ids: [await w.post()], boardId: w.openBoard }) },
  'posts.tag': { needs: 'post:update', input: async (w) => ({ ids: [await w.post()], add: [w.openTag] }) },
  'posts.merge': { needs: 'post:update', input: async (w) => ({ ids: [await w.post()], into: w.openPost }) },
  'posts.unmerge': { needs: 'post:update', input: async (w) => ({ ids: [await w.merged()] }) },
  'posts.merged': { needs: 'public', input: (w) => ({ post_id: w.openPost }) },
  'posts.team': { needs: 'account' },
  'posts.people': { needs: 'account', input: (w) => ({ post_id: w.openPost }) },
  'boards.followed': { needs: 'account', input: (w) => ({ url: w.openBoard }) },
  'boards.follow': { needs: 'account', input: (w) => ({ url: w.openBoard }) },
  'boards.unfollow': { needs: 'account', input: (w) => ({ url: w.openBoard }) },
  'posts.followed': { needs: 'account', input: (w) => ({ post_id: w.openPost }) },
  'posts.follow': { needs: 'account', input: (w) => ({ post_id: w.openPost }) },
  'posts.unfollow': { needs: 'account', input: (w) => ({ post_id: w.openPost }) },
  'posts.audience': { needs: 'post:update', input: (w) => ({ post_id: w.openPost }) },
  'posts.audienceAll': { needs: 'post:update', input: (w) => ({ to: w.openRoadmap }) },
  'posts.told': { needs: 'post:update', input: (w) => ({ post_id: w.openPost }) },
  'posts.followers': { needs: 'post:update', input: (w) => ({ post_id: w.openPost }) },
  'posts.delete': { needs: 'post:destroy', input: async (w) => ({ id: await w.post() }) },

  'notifications.list': { needs: 'account' },
  'notifications.show': {
    needs: 'account',
    own: true,
    differs: true,
    input: async (w, caller) => ({ id: await w.notification(caller) }),
  },
  'notifications.count': { needs: 'account' },
  'notifications.read': { needs: 'account', silent: true, differs: true },
  'notifications.settings': { needs: 'account' },
  'notifications.updateSettings': { needs: 'account', input: () => ({ reply: 'page' }) },
  'notifications.settingsByKey': { needs: 'public', input: async (w) => ({ token: await w.mailKey() }) },
  'notifications.updateByKey': { needs: 'public', input: async (w) => ({ token: await w.mailKey(), reply: 'page' }) },
  'notifications.stopMail': { needs: 'public', input: async (w) => ({ token: await w.mailKey() }) },
  'notifications.unfollowByKey': {
    needs: 'public',
    input: async (w) => ({ token: await w.mailKey(), post: await w.post() }),
  },

  'views.list': { needs: 'dashboard:read' },
  'views.show': {
    needs: 'dashboard:read',
    own: true,
    differs: true,
    input: async (w, caller) => ({ view: await w.view(caller) }),
  },
  'views.create': { needs: 'dashboard:read', input: (w) => ({ name: w.word() }) },
  'views.update': {
    needs: 'dashboard:read',
    input: async (w, caller) => ({ view: await w.view(caller), shared: true }),
  },
  'views.delete': { needs: 'dashboard:read', input: async (w, caller) => ({ view: await w.view(caller) }) },

  'posts.report': { needs: 'account', input: async (w) => ({ post_id: await w.post() }) },
  'posts.reported': { needs: 'account', input: (w) => ({ post_id: w.openPost }) },
  'comments.report': { needs: 'account', input: (w) => w.comment() },
  'moderation.list': { needs: ['post:destroy', 'comment:update:any'] },
  'moderation.count': { needs: ['post:destroy', 'comment:update:any'] },
  'moderation.show': { needs: 'post:destroy', input: (w) => ({ id: w.openPost }) },
  'moderation.decide': { needs: 'post:destroy', input: async (w) => ({ id: await w.post(), decision: 'keep' }) },
  'moderation.decideMany': {
    needs: 'post:destroy',
    input: async (w) => ({ ids: [await w.post(), (await w.comment()).comment_id], decision: 'keep' }),
    but: { almost: 'ok' }, // about the comment
  },
  'undo.apply': {
    needs: 'account',
    silent: true,
    own: true,
    input: async (w, caller) => ({ undo_id: await w.undo(caller) }),
  },

  'names.find': { needs: 'public', input: () => ({ noun: 'board', name: 'secret-board' }) },

  'votes.segments': { needs: 'user:read', input: async (w) => ({ post_id: await w.post() }) },
  'votes.download': { needs: 'public', input: (w) => ({ post_id: w.openPost, format: 'jsonl' }) },
  'votes.list': { needs: 'public', input: (w) => ({ post_id: w.openPost }) },
  'votes.add': { needs: 'vote:create', input: async (w) => ({ postId: await w.post() }) },
  'votes.remove': { needs: 'vote:destroy', input: async (w, caller) => ({ postId: await w.voted(caller) }) },
  'votes.assign': {
    needs: 'vote:assign',
    input: async (w) => ({ post_id: await w.post(), user_id: (await w.person()).userId }),
  },
  'votes.unassign': {
    needs: 'vote:unassign',
    input: async (w) => ({ post_id: await w.voted(w.authorId), user_id: w.authorId }),
  },

  'comments.list': { needs: 'public', input: (w) => ({ post_id: w.openPost, limit: 100 }) },
  'comments.listAll': {
    needs: ['dashboard:read', 'comment:view_internal', 'comment:update:any', 'comment:delete:any'],
    input: () => ({ limit: 100 }),
  },
  'comments.download': {
    needs: ['dashboard:read', 'comment:view_internal', 'comment:update:any', 'comment:delete:any'],
    input: () => ({ format: 'jsonl' }),
  },
  'comments.show': { needs: 'public', input: async (w) => ({ comment_id: (await w.comment()).comment_id }) },
  'comments.create': { needs: 'comment:create', input: (w) => ({ post_id: w.openPost, body: 'New' }) },
  'comments.update': {
    needs: 'comment:update:any',
    input: async (w) => ({ ...(await w.comment()), body: 'Changed' }),
    but: { member: NOT_AUTHOR, almost: NOT_AUTHOR },
  },
  'comments.answer': { needs: 'post:update', input: (w) => w.comment() },
  'comments.unanswer': { needs: 'post:update', input: (w) => w.comment() },
  'comments.delete': {
    needs: 'comment:delete:any',
    input: (w) => w.comment(),
    but: { member: NOT_AUTHOR, almost: NOT_AUTHOR },
  },

  'images.create': { needs: 'account', rows: PNG, type: 'image/png' },
  'images.delete': {
    needs: 'post:destroy',
    input: async (w) => ({ image_id: await w.image() }),
  },

  'boards.list': { needs: 'public', input: () => ({ limit: 100, visibility: ['public', 'private'] }) },
  'boards.get': { needs: 'public', input: () => ({ limit: 100 }) },
  'boards.search': { needs: 'board:read', input: () => ({ name: 'secret' }) },
  'boards.show': { needs: 'public', input: (w) => ({ url: w.openBoard }) },
  'boards.create': { needs: 'board:create', input: () => ({ name: 'New' }) },
  'boards.update': {
    needs: 'board:update',
    input: async (w) => ({ boardId: await w.board(), name: 'Changed', url: w.word() }),
  },
  'boards.delete': { needs: 'board:destroy', input: async (w) => ({ boardId: await w.board() }) },
  'boards.checkName': { needs: 'board:create', silent: true, input: () => ({ name: 'Open board' }) },
  'boards.checkSlug': { needs: ['board:create', 'board:update'], silent: true, input: (w) => ({ url: w.openBoard }) },

  'roadmaps.list': { needs: 'public', input: () => ({ limit: 100, visibility: ['public', 'private'] }) },
  'roadmaps.search': { needs: 'roadmap:read', input: () => ({ name: 'secret' }) },
  'roadmaps.show': { needs: 'public', input: (w) => ({ url: w.openRoadmap }) },
  'roadmaps.createUsual': {
    needs: 'roadmap:create',
    // The second call would create nothing
    async input({ site }) {
      await site.db.deleteFrom('roadmaps').where('url', '=', 'under-review').execute()
      return {}
    },
  },
  'roadmaps.create': { needs: 'roadmap:create', input: () => ({ name: 'New' }) },
  'roadmaps.update': {
    needs: 'roadmap:update',
    input: async (w) => ({ id: (await w.roadmap()).id, name: 'Changed', url: w.word() }),
  },
  'roadmaps.sort': { needs: 'roadmap:update', input: (w) => w.swapped() },
  'roadmaps.move': { needs: 'roadmap:update', input: async (w) => ({ roadmap: (await w.roadmap()).id, position: 1 }) },
  'roadmaps.delete': { needs: 'roadmap:destroy', input: async (w) => ({ id: (await w.roadmap()).id }) },

  'tags.list': { needs: 'public', input: () => ({ limit: 100, visibility: ['public', 'private'] }) },
  'tags.show': { needs: 'public', input: (w) => ({ url: w.openTag }) },
  'tags.create': { needs: 'post:update', input: () => ({ name: 'New' }) },
  'tags.update': {
    needs: 'post:update',
    input: async (w) => ({ tagId: await w.tag(), name: 'Changed', url: w.word() }),
  },
  'tags.merge': { needs: 'post:update', input: async (w) => ({ ids: [await w.tag()], into: w.openTag }) },
  'tags.delete': { needs: 'post:update', input: async (w) => ({ tagId: await w.tag() }) },

  'roles.list': { needs: 'role:read', input: () => ({ limit: 100 }) },
  'roles.permissions': { needs: 'role:read' },
  'roles.show': { needs: 'role:read', input: async (w) => ({ id: await w.role() }) },
  'roles.create': { needs: 'role:create', input: () => ({ name: 'New' }) },
  'roles.update': { needs: 'role:update', input: async (w) => ({ id: await w.role(), name: 'Changed' }) },
  'roles.delete': { needs: 'role:destroy', input: async (w) => ({ id: await w.role() }) },
  'roles.assign': {
    needs: 'role:assign',
    input: async (w) => ({ role_id: await w.role(), user_id: (await w.person()).userId }),
  },
  'roles.unassign': { needs: 'role:unassign', input: async (w) => w.assigned() },

  'settings.site': { needs: 'public' },
  'settings.update': { needs: 'settings:update', input: () => ({ title: 'Changed' }) },
  'labs.show': { needs: 'public' },
  'backups.list': { needs: 'owner' },
  'backups.create': { needs: 'owner', differs: true, input: (w) => w.noTask() },
  'backups.rehearse': { needs: 'owner', differs: true, input: (w) => w.noTask() },
  'mails.list': { needs: 'owner' },
  'mails.test': { needs: 'owner', differs: true },
  'mails.retry': { needs: 'owner', input: (w) => w.waitingMail() },
  'mails.cancel': { needs: 'owner', input: (w) => w.waitingMail() },
  'mails.suppressed': { needs: 'owner' },
  'mails.unsuppress': { needs: 'owner', input: (w) => w.suppressed() },
  'labs.update': { needs: 'settings:update', input: () => ({ voteOnBehalf: true }) },
  'legal.list': { needs: 'public' },
  'legal.show': { needs: 'public', input: () => ({ name: 'terms' }) },
  'legal.set': { needs: 'settings:update', input: () => ({ name: 'terms', markdown: `Be kind. ${newId()}` }) },
  'settings.limits': { needs: 'settings:read' },
  'settings.blockedDomains': { needs: 'settings:read' },
  'settings.setBlockedDomains': { needs: 'settings:update', input: () => ({ domains: ['spam.example'] }) },
  'settings.blockDomains': { needs: 'settings:update', input: () => ({ domains: ['spam.example'] }) },
  'settings.unblockDomains': { needs: 'settings:update', input: (w) => w.blockedDomain() },
  'settings.notifications': { needs: 'settings:read' },
  'settings.updateNotifications': { needs: 'settings:update', input: () => ({ reply: 'page' }) },

  'audit.verify': { needs: 'owner' },
  'events.list': { needs: 'event:read', input: () => ({ limit: 100 }) },
  'events.told': { needs: 'post:update', input: (w) => w.eventOf(w.openPost) },
  'events.show': { needs: 'event:read', input: (w) => w.event() },
  'events.undo': { needs: 'event:read', input: (w, caller) => w.unfollowed(caller) },
}

/** Operation, what it does, caller (a visitor, the owner, or a member with these permissions), input, and outcome. */
type Rule = [
  op: string,
  sentence: string,
  who: 'visitor' | 'owner' | readonly Permission[],
  input: Input,
  outcome: Outcome,
]

const NOT_ALLOWED = '403 NOT_ENOUGH_PERMISSION'
const NO_POST = '404 POST_NOT_FOUND'
const INVALID = '400 VALIDATION_ERROR'
const SYSTEM_ROLE = '403 CANNOT_UPDATE_SYSTEM_ROLE'

const hiddenPost: Input = (w) => ({ post_id: w.secretPost })
const onHiddenPost: Input = async (w) => ({ comment_id: (await w.comment({ on: w.secretPost })).comment_id })
const internalComment: Input = async (w) => ({ comment_id: (await w.comment({ internal: true })).comment_id })
const own: Input = (w, me) => w.comment({ by: me })
const ownChanged = (change: object): Input => async (w, me) => ({ ...(await w.comment({ by: me })), ...change }) // prettier-ignore

/** Rules that depend on the row: its author, its visibility, the permissions it gives. */
export const rules: Rule[] = [
  ['site.setup', 'makes the first visitor the owner', 'visitor', (w) => w.disowned(), 'ok'],
  ['auth.login', 'refuses the blocked', 'visitor', (w) => w.account({ blocked: true }), '403 USER_BLOCKED'],

  [
    'users.list',
    'checks the input before it refuses, as in the contract',
    ['post:read'],
    () => ({ limit: 0 }),
    INVALID,
  ],
  ['users.list', 'shows addresses with user:read', ['user:read'], () => ({}), 'ok'],
  ['users.create', 'lets the owner alone choose a password', ['user:invite'], (w) => w.credentials(), NOT_ALLOWED],
  ['users.create', 'takes a password from the owner', 'owner', (w) => w.credentials(), 'ok'],
  [
    'users.signOut',
    'finds nobody by address without user:read',
    ['user:block'],
    (w) => ({ user: w.authorEmail }),
    '404 USER_NOT_FOUND',
  ],
  [
    'users.signOut',
    'finds people by address with user:read',
    ['user:block', 'user:read'],
    (w) => ({ user: w.authorEmail }),
    'ok',
  ],
  ['users.block', 'does not let people block themselves', ['user:block'], (_, me) => ({ user: me }), NOT_ALLOWED],
  ...(['users.block', 'users.unblock', 'users.signOut'] as const).flatMap((op): Rule[] => [
    [op, 'leaves the owner alone, whoever else asks', PERMISSIONS, (w) => w.owner(), '403 CANNOT_CHANGE_OWNER'],
    [
      op,
      'leaves people alone who have a permission that one lacks',
      ['user:block'],
      (w) => w.holder('settings:update', op === 'users.unblock'),
      NOT_ALLOWED,
    ],
    [
      op,
      'takes people who have no permission that one lacks',
      ['user:block', 'settings:update'],
      (w) => w.holder('settings:update', op === 'users.unblock'),
      'ok',
    ],
  ]),
  ['invitations.revoke', 'leaves those of others alone', ['user:invite'], async (w) => ({ user: await w.invited() }), NOT_ALLOWED], // prettier-ignore
  ['invitations.revoke', 'takes those of others with user:block', ['user:invite', 'user:block'], async (w) => ({ user: await w.invited() }), 'ok'], // prettier-ignore
  ['invitations.resend', 'finds nobody who was not invited', 'owner', async (w) => ({ user: (await w.person()).userId }), '404 INVITATION_NOT_FOUND'], // prettier-ignore
  ['invitations.revoke', 'finds nobody who was not invited', 'owner', async (w) => ({ user: (await w.person()).userId }), '404 INVITATION_NOT_FOUND'], // prettier-ignore
  [
    'events.list',
    'finds nobody by address without user:read',
    ['event:read'],
    (w) => ({ person: w.authorEmail }),
    '404 USER_NOT_FOUND',
  ],
  ['users.block', 'leaves the owner alone', 'owner', (_, me) => ({ user: me }), '403 CANNOT_CHANGE_OWNER'],
  ['users.delete', 'leaves the owner alone', 'owner', (_, me) => ({ user: me }), '403 CANNOT_CHANGE_OWNER'],

  ['posts.show', 'hides what is on a private board', 'visitor', (w) => ({ id: w.secretPost }), NO_POST],
  ['posts.show', 'shows it with board:read', ['board:read'], (w) => ({ id: w.secretPost }), 'ok'],
  ['posts.list', 'knows no private board', 'visitor', (w) => ({ boardId: [w.secretBoard] }), INVALID],
  ['posts.list', 'knows no private roadmap', 'visitor', (w) => ({ roadmapId: w.secretRoadmap }), INVALID],
  ['posts.list', 'finds no author by address', ['post:read'], (w) => ({ authorId: w.authorEmail }), INVALID],
  ['posts.create', 'knows no private board', ['post:create'], (w) => ({ boardId: w.secretBoard }), INVALID],
  ['posts.update', 'lets its author', ['post:read'], async (w, me) => ({ id: await w.post(me), title: 'Mine' }), 'ok'],
  [
    'posts.update',
    'knows no private roadmap',
    ['post:read'],
    async (w, me) => ({ id: await w.post(me), title: 'x', roadmapId: w.secretRoadmap }),
    INVALID,
  ],
  ['posts.update', 'finds no hidden post', ['post:update'], (w) => ({ id: w.secretPost, title: 'x' }), NO_POST],
  [
    'posts.delete',
    'lets its author, while nobody else took part',
    ['post:update'],
    async (w, me) => ({ id: await w.post(me) }),
    'ok',
  ],
  ['posts.delete', 'finds no hidden post', ['post:destroy'], (w) => ({ id: w.secretPost }), NO_POST],

  ['votes.list', 'finds no hidden post', 'visitor', hiddenPost, NO_POST],
  ['votes.segments', 'finds no hidden post', ['user:read'], hiddenPost, NO_POST],
  ['votes.download', 'finds no hidden post', 'visitor', hiddenPost, NO_POST],
  ['votes.add', 'finds no hidden post', ['vote:create'], (w) => ({ postId: w.secretPost }), NO_POST],
  [
    'votes.remove',
    'does not take back the vote of another',
    ['vote:destroy'],
    async (w) => ({ postId: await w.voted(w.authorId) }),
    '404 VOTE_NOT_FOUND',
  ],
  [
    'votes.assign',
    'finds no hidden post',
    ['vote:assign'],
    (w) => ({ post_id: w.secretPost, user_id: w.authorId }),
    NO_POST,
  ],
  [
    'votes.assign',
    'is off unless the labs allow it',
    'owner',
    (w) => w.withoutLabs({ user_id: w.authorId }),
    '403 LABS_DISABLED',
  ],
  [
    'votes.unassign',
    'is off unless the labs allow it',
    'owner',
    (w) => w.withoutLabs({ user_id: w.authorId }),
    '403 LABS_DISABLED',
  ],

  ['comments.list', 'finds no hidden post', 'visitor', hiddenPost, NO_POST],
  ['comments.show', 'finds none on a hidden post', 'visitor', onHiddenPost, '404 COMMENT_NOT_FOUND'],
  ['comments.show', 'finds no internal one', 'visitor', internalComment, '404 COMMENT_NOT_FOUND'],
  ['comments.show', 'shows an internal one to the team', ['comment:view_internal'], internalComment, 'ok'],
  [
    'comments.create',
    'finds no hidden post',
    ['comment:create'],
    (w) => ({ post_id: w.secretPost, body: 'x' }),
    NO_POST,
  ],
  [
    'comments.create',
    'refuses internal ones',
    ['comment:create'],
    (w) => ({ post_id: w.openPost, body: 'x', is_internal: true }),
    NOT_ALLOWED,
  ],
  [
    'comments.create',
    'takes internal ones',
    ['comment:create', 'comment:create_internal'],
    (w) => ({ post_id: w.openPost, body: 'x', is_internal: true }),
    'ok',
  ],
  ['comments.update', 'lets its author with :own', ['comment:update:own'], ownChanged({ body: 'x' }), 'ok'],
  ['comments.update', 'does not let its author without', ['comment:create'], ownChanged({ body: 'x' }), NOT_ALLOWED],
  [
    'comments.update',
    'does not let :own make it internal',
    ['comment:update:own'],
    ownChanged({ body: 'x', is_internal: true }),
    NOT_ALLOWED,
  ],
  [
    'comments.update',
    'does not let :own call it spam',
    ['comment:update:own'],
    ownChanged({ body: 'x', is_spam: true }),
    NOT_ALLOWED,
  ],
  [
    'comments.update',
    'finds no internal one',
    ['comment:update:any'],
    (w) => w.comment({ internal: true }),
    '404 COMMENT_NOT_FOUND',
  ],
  ['comments.delete', 'lets its author with :own', ['comment:delete:own'], own, 'ok'],
  ['comments.delete', 'does not let its author without', ['comment:create'], own, NOT_ALLOWED],
  [
    'comments.delete',
    'finds no internal one',
    ['comment:delete:any'],
    (w) => w.comment({ internal: true }),
    '404 COMMENT_NOT_FOUND',
  ],

  ['boards.show', 'refuses a private one', 'visitor', (w) => ({ url: w.secretBoard }), NOT_ALLOWED],
  ['boards.show', 'shows a private one with board:read', ['board:read'], (w) => ({ url: w.secretBoard }), 'ok'],
  [
    'boards.create',
    'does not name the private board that has a url',
    ['board:create'],
    () => ({ url: 'hidden' }),
    '409 BOARD_URL_EXISTS',
  ],
  ['boards.checkSlug', 'accepts board:update too', ['board:update'], () => ({ url: 'x' }), 'ok'],

  ['tags.show', 'finds no private one', 'visitor', (w) => ({ url: w.secretTag }), '404 TAG_NOT_FOUND'],
  ['tags.show', 'shows a private one with dashboard:read', ['dashboard:read'], (w) => ({ url: w.secretTag }), 'ok'],
  ['tags.update', 'finds no private one', ['post:update'], (w) => ({ tagId: w.secretTag, name: 'x', url: 'x' }), '404 TAG_NOT_FOUND'], // prettier-ignore
  ['posts.tag', 'knows no private tag', ['post:update'], async (w) => ({ ids: [await w.post()], add: [w.secretTag] }), INVALID], // prettier-ignore
  ['roadmaps.show', 'refuses a private one', 'visitor', (w) => ({ url: w.secretRoadmap }), NOT_ALLOWED],
  ['roadmaps.show', 'shows a private one with roadmap:read', ['roadmap:read'], (w) => ({ url: w.secretRoadmap }), 'ok'],
  [
    'roadmaps.create',
    'does not name the private roadmap that has a url',
    ['roadmap:create'],
    () => ({ url: 'hidden' }),
    '409 ROADMAP_URL_EXISTS',
  ],

  [
    'roles.create',
    'gives nothing that one has not',
    ['role:create'],
    () => ({ permissions: ['board:read'] }),
    NOT_ALLOWED,
  ],
  [
    'roles.update',
    'gives nothing that one has not',
    ['role:update'],
    async (w) => ({ id: await w.role(), permissions: ['role:assign'] }),
    NOT_ALLOWED,
  ],
  [
    'roles.assign',
    'gives nothing that one has not',
    ['role:assign'],
    async (w, me) => ({ role_id: await w.role(['board:read']), user_id: me }),
    NOT_ALLOWED,
  ],
  ['roles.update', 'leaves @everyone as it is', 'owner', () => ({ id: '@everyone', name: 'x' }), SYSTEM_ROLE],
  ['roles.delete', 'leaves @everyone as it is', 'owner', () => ({ id: '@everyone' }), SYSTEM_ROLE],
]
