import { sql } from 'kysely'
import { newId } from '../../src/core/ids.js'
import { LEGAL_PAGES } from '../../src/core/legal.js'
import { NOTIFICATION_WAYS, WAYS_OR_DEFAULT } from '../../src/core/notificationways.js'
import { PERMISSIONS } from '../../src/core/permissions.js'
import { STATUS_KINDS } from '../../src/core/statuskinds.js'
import { pruneRowChanges } from '../../src/db/rowchanges.js'
import { transaction } from '../../src/db/connect.js'
import type { Db } from '../../src/db/tables.js'

/** A write: a request to one of the servers, the arguments of a command, or statements over another connection. */
export type Write =
  { request: string; body?: object; type?: string } | { command: string } | { statements: (db: Db) => Promise<unknown> }

/** The headers of a request whose body is not JSON. */
export const typeOf = ({ type }: { type?: string }): Record<string, string> =>
  type === undefined ? {} : { 'content-type': type }

export interface Given {
  rows: Rows
  /** Chooses at random. */
  draw: <T>(from: readonly T[]) => T
  /** Differs from write to write. */
  text: string
  people: { member: string; guest: string; moderator: string }
  /** A role whose permissions change, and that stays. */
  moderators: string
}

export type Rows = Awaited<ReturnType<typeof rowsOf>>

/** All rows that a write may be about: not those that an open transaction holds, as it would wait for that. */
export async function rowsOf(db: Db, held: { board: string; user: string; post: string }) {
  const assigned = db.selectFrom('roles_users').innerJoin('roles', 'id', 'role_id').where('isSystem', '=', 0)
  const [posts, boards, roadmaps, tags, roles, users, votes, comments, memberships, settings] = await Promise.all([
    db.selectFrom('posts').selectAll().where('postId', '<>', held.post).orderBy('postId').execute(),
    db.selectFrom('boards').selectAll().where('boardId', '<>', held.board).orderBy('boardId').execute(),
    db.selectFrom('roadmaps').selectAll().orderBy('index').execute(),
    db.selectFrom('tags').selectAll().orderBy('tagId').execute(),
    db.selectFrom('roles').selectAll().where('isSystem', '=', 0).orderBy('id').execute(),
    db.selectFrom('users').selectAll().where('userId', '<>', held.user).orderBy('userId').execute(),
    db.selectFrom('votes').selectAll().where('postId', '<>', held.post).orderBy('voteId').execute(),
    db.selectFrom('comments').selectAll().where('post_id', '<>', held.post).where('body', '<>', MANY).orderBy('id').execute(), // prettier-ignore
    assigned.selectAll('roles_users').orderBy('user_id').execute(),
    db.selectFrom('settings').selectAll().executeTakeFirstOrThrow(),
  ])
  return { posts, boards, roadmaps, tags, roles, users, votes, comments, memberships, settings }
}

const http = (request: string, body?: object): Write => ({ request, ...(body && { body }) })
const partial = true

const ownerOf = ({ users }: Rows) => users.find(({ isOwner }) => isOwner === 1)?.userId
const hasVoted = ({ votes }: Rows, person: string | undefined, post: string) =>
  votes.some(({ userId, postId }) => userId === person && postId === post)
const withoutRole = ({ users, memberships }: Rows) =>
  users.filter(({ userId }) => !memberships.some(({ user_id }) => user_id === userId))

/** Every kind of write that a cached response can show. */
export const WRITES: Record<string, (given: Given) => Write> = {
  'posts.create': ({ rows, draw, text }) =>
    http('POST /posts', { title: text, boardId: draw([null, draw(rows.boards).boardId]) }),
  'posts.upload': ({ rows, draw, text }) => ({
    ...http('POST /import/posts', { title: text, boardId: draw([null, draw(rows.boards).boardId]) }),
    type: 'application/x-ndjson',
  }),
  'imports.create': ({ text }) => ({
    ...http('POST /import/records?source=canny', { type: 'post', sourceId: text, title: text, importedVotes: 3 }),
    type: 'application/x-ndjson',
  }),
  'posts.update title': ({ rows, draw, text }) =>
    http('PATCH /posts', { id: draw(rows.posts).postId, title: text, contentMarkdown: text, partial }),
  'posts.update board': ({ rows, draw }) =>
    http('PATCH /posts', { id: draw(rows.posts).postId, boardId: draw([null, draw(rows.boards).boardId]), partial }),
  'posts.update roadmap': ({ rows, draw }) =>
    http('PATCH /posts', { id: draw(rows.posts).postId, roadmapId: draw([null, draw(rows.roadmaps).id]), partial }),
  'posts.move': ({ rows, draw }) =>
    http('POST /posts/move', {
      ids: [draw(rows.posts).postId, draw(rows.posts).postId],
      boardId: draw([null, draw(rows.boards).boardId]),
      roadmapId: draw([null, draw(rows.roadmaps).id]),
    }),
  'posts.tag': ({ rows, draw }) =>
    http('POST /posts/tag', { ids: [draw(rows.posts).postId], [draw(['add', 'remove'])]: [draw(rows.tags).tagId] }),
  'posts.merge': ({ rows, draw }) =>
    http('POST /posts/merge', { ids: [draw(rows.posts).postId], into: draw(rows.posts).postId }),
  'posts.unmerge': ({ rows, draw }) => http('POST /posts/unmerge', { ids: [draw(rows.posts).postId] }),
  'moderation.decideMany': ({ rows, draw }) =>
    http('POST /moderation', {
      ids: [draw(rows.posts).postId, draw(rows.comments).id],
      ...draw([
        { decision: 'keep' },
        { decision: 'spam' },
        { decision: 'spam', block: true },
        { decisions: ['keep', 'spam'] },
      ]),
    }),
  'moderation.decide post': ({ rows, draw }) =>
    http(`POST /moderation/${draw(rows.posts).postId}`, { decision: draw(['keep', 'spam', 'reopen']) }),
  'moderation.decide comment': ({ rows, draw }) =>
    http(`POST /moderation/${draw(rows.comments).id}`, { decision: draw(['keep', 'spam', 'reopen']) }),
  'posts.delete': ({ rows, draw }) => http('DELETE /posts', { id: draw(rows.posts).postId }),

  'votes.add': ({ rows, draw }) =>
    http('POST /votes', { postId: draw(rows.posts.filter(({ postId }) => !hasVoted(rows, ownerOf(rows), postId))).postId }), // prettier-ignore
  'votes.remove': ({ rows, draw }) =>
    http('DELETE /votes', { postId: draw(rows.votes.filter(({ userId }) => userId === ownerOf(rows))).postId }),
  'votes.assign': ({ people, rows, draw }) =>
    http(`POST /posts/${draw(rows.posts).postId}/votes/${draw(Object.values(people))}`),
  'votes.unassign': ({ rows, draw }) => {
    const { postId, userId } = draw(rows.votes)
    return http(`DELETE /posts/${postId}/votes/${userId}`)
  },

  'boards.follow': ({ rows, draw }) => http(`PUT /boards/${draw(rows.boards).boardId}/follow`),
  'boards.unfollow': ({ rows, draw }) => http(`DELETE /boards/${draw(rows.boards).boardId}/follow`),
  'posts.follow': ({ rows, draw }) => http(`PUT /posts/${draw(rows.posts).postId}/follow`),
  'posts.unfollow': ({ rows, draw }) => http(`DELETE /posts/${draw(rows.posts).postId}/follow`),
  'notifications.read': () => http('POST /notifications/read', {}),
  'notifications.updateSettings': ({ draw }) =>
    http('PATCH /notifications/settings', { status: draw(WAYS_OR_DEFAULT), followsVoted: draw([true, false]) }),

  'comments.create': ({ rows, draw, text }) =>
    http(`POST /posts/${draw(rows.posts).postId}/comments`, { body: text, is_internal: draw([true, false]) }),
  'comments.update': ({ rows, draw, text }) => {
    const { post_id, id } = draw(rows.comments)
    return http(`PUT /posts/${post_id}/comments/${id}`, { body: text, is_internal: draw([true, false]) })
  },
  'comments.answer': ({ rows, draw }) => {
    const { post_id, id } = draw(rows.comments.filter((comment) => !comment.is_internal))
    return http(`PUT /posts/${post_id}/comments/${id}/answer`)
  },
  'comments.unanswer': ({ rows, draw }) => {
    const { post_id, id } = draw(rows.comments)
    return http(`DELETE /posts/${post_id}/comments/${id}/answer`)
  },
  'comments.delete': ({ rows, draw }) => {
    const { post_id, id } = draw(rows.comments)
    return http(`DELETE /posts/${post_id}/comments/${id}`)
  },

  'boards.create': ({ draw, text }) => http('POST /boards', { name: text, display: draw([true, false]) }),
  'boards.update name': ({ rows, draw, text }) =>
    http('PATCH /boards', { boardId: draw(rows.boards).boardId, name: text, partial }),
  'boards.update url': ({ rows, draw, text }) =>
    http('PATCH /boards', { boardId: draw(rows.boards).boardId, url: text.toLowerCase().replace(' ', '-'), partial }),
  'boards.update display': ({ rows, draw }) => {
    const { boardId, display } = draw(rows.boards)
    return http('PATCH /boards', { boardId, display: display === 0, partial })
  },
  'boards.update rules': ({ rows, draw, text }) => {
    const { boardId, hides_votes: hidden } = draw(rows.boards)
    return http('PATCH /boards', { boardId, description: text, hides_votes: hidden === 0, partial })
  },
  'posts.update pinned': ({ rows, draw }) => {
    const { postId: id, pinned } = draw(rows.posts)
    return http('PATCH /posts', { id, pinned: pinned === 0, locked: draw(['none', 'votes', 'all']), partial })
  },
  'boards.update view_voters': ({ rows, draw }) => {
    const { boardId, view_voters: shown } = draw(rows.boards)
    return http('PATCH /boards', { boardId, view_voters: shown === 0, partial })
  },
  'boards.delete': ({ rows, draw }) => http('DELETE /boards', { boardId: draw(rows.boards).boardId }),
  'boards.delete moved': ({ rows, draw }) =>
    http('DELETE /boards', { boardId: draw(rows.boards).boardId, moveTo: draw(rows.boards).boardId }),

  'roadmaps.createUsual': () => http('POST /roadmaps/usual', {}),
  'roadmaps.create': ({ draw, text }) => http('POST /roadmaps', { name: text, display: draw([true, false]) }),
  'roadmaps.update': ({ rows, draw, text }) => {
    const { id, display } = draw(rows.roadmaps)
    return http('PATCH /roadmaps', { id, name: text, display: display === 0, partial })
  },
  'roadmaps.update kind': ({ rows, draw }) =>
    http('PATCH /roadmaps', { id: draw(rows.roadmaps).id, kind: draw(STATUS_KINDS), partial }),
  'roadmaps.move': ({ rows, draw }) =>
    http(`PUT /roadmaps/${draw(rows.roadmaps.slice(1)).id}/position`, { position: 1 }),
  'roadmaps.sort': ({ rows, draw }) => {
    const [from, to] = [draw(rows.roadmaps.slice(0, 1)), draw(rows.roadmaps.slice(1))]
    return http('PATCH /roadmaps/sort', { from: { id: from.id, index: to.index }, to: { id: to.id, index: from.index } }) // prettier-ignore
  },
  'roadmaps.delete': ({ rows, draw }) => http('DELETE /roadmaps', { id: draw(rows.roadmaps).id }),

  'tags.create': ({ draw, text }) => http('POST /tags', { name: text, display: draw([true, false]) }),
  'tags.update': ({ rows, draw, text }) => {
    const { tagId, display } = draw(rows.tags)
    return http('PATCH /tags', { tagId, name: text, display: display === 0, partial })
  },
  'tags.merge': ({ rows, draw }) =>
    http('POST /tags/merge', { ids: [draw(rows.tags.slice(1)).tagId], into: draw(rows.tags.slice(0, 1)).tagId }),
  'tags.delete': ({ rows, draw }) => http('DELETE /tags', { tagId: draw(rows.tags.slice(1)).tagId }),

  'roles.create': ({ draw, text }) => http('POST /roles', { name: text, permissions: [draw(PERMISSIONS)] }),
  'roles.update': ({ moderators, draw, text }) => {
    const permissions = PERMISSIONS.filter(() => draw([true, true, true, false]))
    return http('PATCH /roles', { id: moderators, name: text, description: text, permissions })
  },
  'roles.delete': ({ moderators, rows, draw }) =>
    http('DELETE /roles', { id: draw(rows.roles.filter(({ id }) => id !== moderators)).id }),
  'roles.assign': ({ rows, draw }) => http(`PUT /roles/${draw(rows.roles).id}/users/${draw(withoutRole(rows)).userId}`),
  'roles.unassign': ({ rows, draw }) => {
    const { role_id, user_id } = draw(rows.memberships)
    return http(`DELETE /roles/${role_id}/users/${user_id}`)
  },

  'users.create': ({ text }) => http('POST /users', { email: `${text.replace(' ', '')}@example.org`, name: text }),
  'auth.signup': ({ text }) =>
    http('POST /auth/signup', { email: `${text.replace(' ', '')}@example.org`, password: 'a long password' }),
  'users.update': ({ rows, draw, text }) =>
    http(`PATCH /users/${draw(rows.users).userId}`, { name: text, username: text.replace(' ', '_'), notes: text }),
  'users.block': ({ people }) => http(`POST /users/${people.guest}/block`),
  'users.blockMany': ({ people, draw }) => http('POST /users/block', { users: [people.guest, 'nobody'], block: draw([true, false]) }), // prettier-ignore
  'users.tag': ({ people, text }) =>
    http(`POST /users/${people.guest}/tag`, { add: [text.slice(0, 20)], remove: ['customer'] }),
  'users.unblock': ({ people }) => http(`POST /users/${people.guest}/unblock`),
  'users.signOut': ({ people }) => http(`POST /users/${people.guest}/sign-out`),
  'users.delete': ({ people, rows, draw }) => {
    const spare = rows.users.filter(({ userId, isOwner }) => isOwner === 0 && !Object.values(people).includes(userId))
    return http(`DELETE /users/${draw(spare).userId}?posts=${draw(['keep', 'delete'])}`)
  },
  'users.updateProfile': ({ text, draw }) =>
    http('PATCH /users/profile', { name: text, showProfile: draw([true, false]), showVotes: draw([true, false]) }),

  'settings.updateNotifications': ({ draw }) =>
    http('PATCH /settings/notifications', { status: draw(NOTIFICATION_WAYS) }),
  'settings.update': ({ text }) => http('PATCH /settings/site', { title: text }),
  'legal.set': ({ draw, text }) =>
    http(`PUT /settings/legal/${draw(LEGAL_PAGES)}`, { markdown: draw([text, text, '']) }),
  'labs.update': switchLabs,
  'labs.update back': switchLabs,

  'command boards update': ({ rows, draw, text }) => ({
    command: `boards update ${draw(rows.boards).boardId} --name '${text}'`,
  }),
  'command boards update --dry-run': ({ rows, draw, text }) => ({
    command: `boards update ${draw(rows.boards).boardId} --name '${text}' --dry-run`,
  }),
  'command posts create': ({ text }) => ({ command: `posts create '${text}' --as member@example.org` }),
  'command users block': () => ({ command: 'users block guest@example.org --yes' }),

  'statement: a user gets another name': ({ rows, draw, text }) => {
    const { userId } = draw(rows.users)
    return { statements: (db) => db.updateTable('users').set({ name: text }).where('userId', '=', userId).execute() }
  },
  'statement: a vote moves to another post': ({ rows, draw }) => {
    const { voteId, userId } = draw(rows.votes)
    const { postId } = draw(rows.posts.filter((post) => !hasVoted(rows, userId, post.postId)))
    return { statements: (db) => db.updateTable('votes').set({ postId }).where('voteId', '=', voteId).execute() }
  },
  'statement: a comment moves to another post': ({ rows, draw }) => {
    const { id, post_id } = draw(rows.comments)
    const { postId } = draw(rows.posts.filter((post) => post.postId !== post_id))
    return { statements: (db) => db.updateTable('comments').set({ post_id: postId }).where('id', '=', id).execute() }
  },
  'statement: a role moves to another person': ({ rows, draw }) => {
    const [{ role_id, user_id }, { userId }] = [draw(rows.memberships), draw(withoutRole(rows))]
    return {
      statements: (db) =>
        db
          .updateTable('roles_users')
          .set({ user_id: userId })
          .where('role_id', '=', role_id)
          .where('user_id', '=', user_id)
          .execute(),
    }
  },
  'statement: a person is signed out': ({ people }) => ({
    statements: (db) => db.deleteFrom('sessions').where('userId', '=', people.guest).execute(),
  }),
  'statement: everyone loses a permission': () => ({
    statements: (db) => db.deleteFrom('role_permissions').where('role_id', '=', EVERYONE).where('permission', '=', 'vote:create').execute(), // prettier-ignore
  }),
  'statement: everyone gets a permission': () => ({
    statements: (db) =>
      db
        .insertInto('role_permissions')
        .values({ role_id: EVERYONE, permission: 'vote:create' })
        .onConflict((conflict) => conflict.doNothing())
        .execute(),
  }),
  'statement: a transaction of which half is taken back': ({ text }) => ({
    statements: (db) =>
      transaction(db, async (tx) => {
        await tx.updateTable('settings').set({ description: text }).execute()
        await sql`savepoint half`.execute(tx)
        await tx.updateTable('settings').set({ title: 'taken back' }).execute()
        await sql`rollback to savepoint half`.execute(tx)
        await sql`savepoint other`.execute(tx)
        await tx.updateTable('roadmaps').set({ color: 'abcdef' }).execute()
        await sql`release savepoint other`.execute(tx)
      }),
  }),
  'statement: a transaction that is taken back': ({ rows, draw }) => {
    const { postId } = draw(rows.posts)
    return {
      async statements(db) {
        const tx = await db.startTransaction().execute()
        await tx.updateTable('settings').set({ title: 'taken back' }).execute()
        await tx.updateTable('posts').set({ title: 'taken back' }).where('postId', '=', postId).execute()
        await tx.rollback().execute()
      },
    }
  },
  'statement: more rows than a server reads from the log of row changes at once': ({ rows, draw, text }) => {
    const { post_id, author_id } = draw(rows.comments)
    const [row, created_at] = [{ post_id, author_id, body: MANY, is_internal: 0 }, '2026-01-01T00:00:00.000Z']
    const values = Array.from({ length: 1100 }, () => ({ ...row, id: newId(), created_at, updated_at: created_at }))
    return {
      statements: (db) =>
        transaction(db, async (tx) => {
          await tx.insertInto('comments').values(values).execute()
          await tx.updateTable('settings').set({ description: text }).execute()
        }),
    }
  },
  'statement: they are deleted': () => ({
    statements: (db) => db.deleteFrom('comments').where('body', '=', MANY).execute(),
  }),
  'statement: a change that is pruned from the log of row changes': ({ text }) => ({
    async statements(db) {
      await db.updateTable('settings').set({ title: text }).execute()
      for (let time = 0; time < 3; time++) await transaction(db, pruneRowChanges)
    },
  }),
  'statement: a change after which connections are cut': ({ text }) => ({
    async statements(db) {
      await db.updateTable('settings').set({ title: text }).execute()
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'feedbackctl cache' and datname = current_database()`.execute(db)
    },
  }),
}

/** Operations whose writes no cached response shows, or that write users as others here do, after a mail or for good. */
export const UNSHOWN = [
  'site.setup',
  'auth.login',
  'auth.verify',
  'auth.validate',
  'auth.resetPassword',
  'auth.validateToken',
  'auth.setPassword',
  'auth.useLink',
  'users.changePassword',
  'account.requestDeletion',
  'account.delete',
  'totp.begin',
  'totp.enable',
  'totp.disable',
  'totp.recovery',
  'identities.unlink',
  'notifications.updateByKey', // writes what updateSettings does, as the others
  'notifications.stopMail',
  'notifications.unfollowByKey',
  'sessions.revoke',
  'sessions.revokeAll',
  'keys.create',
  'keys.revoke',
  'users.resetTotp',
  'users.promote',
  'users.merge', // writes posts, votes and users, as others here do
  'invitations.create', // writes users, as others here do
  'invitations.accept',
  'invitations.resend',
  'invitations.revoke',
  'imports.site', // ends every session; cli/importremote looks at two servers
  'imports.file', // writes what the others here do
  'imports.startRun', // web/imports looks at two servers
  'imports.confirmRun',
  'imports.cancelRun',
  'views.create',
  'views.update',
  'views.delete',
  'posts.report',
  'images.create',
  'images.delete',
  'comments.report',
  'undo.apply', // moves posts, and decides, as others here do
  'events.undo', // by operations that are here
  'boards.checkSlug',
  'boards.checkName',
  'backups.create',
  'backups.rehearse',
  'mails.test',
  'mails.retry',
  'mails.cancel',
  'mails.unsuppress',
  'settings.setBlockedDomains',
  'settings.blockDomains',
  'settings.unblockDomains',
]

const EVERYONE = sql<string>`(select id from roles where "isSystem" = 1)`
const MANY = 'One of many'

function switchLabs({ rows }: Given): Write {
  const { voteOnBehalf = false } = JSON.parse(rows.settings.labs) as { voteOnBehalf?: boolean }
  return http('PATCH /settings/labs', { voteOnBehalf: !voteOnBehalf })
}
