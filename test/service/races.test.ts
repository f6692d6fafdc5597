import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { NOUNS, NOUNS_WITH_ROWS } from '../../src/core/nouns.js'
import { connect } from '../../src/db/connect.js'
import { untilLocked } from '../support/locks.js'
import { cleanup, engines, makeSite, type Engine, type TestSite } from '../support/site.js'
import { PNG } from '../support/images.js'

/** What a request answers if the row that it refers to is deleted while it waits to write. */
interface Race {
  /** `user` is the token of a member, `owner` that of the owner. */
  as: 'user' | 'owner' | 'nobody'
  request(this: void, world: World): { line: string; body?: object; headers?: Record<string, string> }
  code: string
  /** The code on SQLite, where it differs. */
  onSqlite?: string | undefined
}

type World = Awaited<ReturnType<typeof world>>

const race = (as: Race['as'], code: string, request: Race['request'], onSqlite?: string): Race => ({ as, request, code, onSqlite }) // prettier-ignore

/** Every reference between tables, and a request that writes one; or why none can meet a deleted row. */
const RACES: Record<string, Race | string> = {
  'api_key_uses.keyId': 'a use of a revoked key is not stored (test/service/keys.test.ts)',
  'api_keys.userId': race('user', 'USER_NOT_FOUND', () => ({ line: 'POST /keys', body: { name: 'Key' } })), // prettier-ignore
  'board_follows.boardId': race('user', 'BOARD_NOT_FOUND', ({ boardId }) => ({ line: `PUT /boards/${boardId}/follow`, body: {} })), // prettier-ignore
  'board_follows.userId': race('user', 'USER_NOT_FOUND', ({ boardId }) => ({ line: `PUT /boards/${boardId}/follow`, body: {} })), // prettier-ignore
  'comments.author_id': race('user', 'USER_NOT_FOUND', ({ postId }) => ({ line: `POST /posts/${postId}/comments`, body: { body: 'x' } })), // prettier-ignore
  'comments.from_post_id': 'a merge and a deletion of posts wait for each other',
  'comments.parent_id': 'the comment loses its parent (test/service/change.test.ts)',
  'comments.post_id': race('user', 'POST_NOT_FOUND', ({ postId }) => ({ line: `POST /posts/${postId}/comments`, body: { body: 'x' } })), // prettier-ignore
  'comments.roadmap_id': 'the change of the post refers to it first',
  'follows.fromPostId': 'a merge and a deletion of posts wait for each other',
  'follows.postId': race('user', 'POST_NOT_FOUND', ({ postId }) => ({ line: `PUT /posts/${postId}/follow`, body: {} })),
  'follows.userId': race('user', 'USER_NOT_FOUND', ({ postId }) => ({ line: `PUT /posts/${postId}/follow`, body: {} })),
  'former_paths.postId': 'an import writes it in the transaction that inserts the post',
  'former_usernames.userId': 'a merge of people holds the account',
  'identities.userId': 'a sign-in holds the account before, and refuses where there is none',
  'image_parts.imageId': 'an image is stored in one transaction with its parts',
  'image_uses.commentId': 'a text is stored in one transaction with what it shows',
  'image_uses.imageId': 'PostgreSQL locks the image, and a text shows none that is gone (test/service/images.test.ts)',
  'image_uses.postId': 'a text is stored in one transaction with what it shows',
  'images.userId': race('user', 'USER_NOT_FOUND', () => ({ line: 'POST /images', body: PNG, headers: { 'content-type': 'image/png' } })), // prettier-ignore
  'invitations.invitedBy': race('user', 'USER_NOT_FOUND', () => ({ line: 'POST /users', body: { email: 'eve@example.org' } })), // prettier-ignore
  'invitations.userId': 'the account is created in the same transaction',
  'mail_bounces.userId': 'the courier writes it for an account that it has just found',
  'mentions.commentId': 'the consumer handles the event again, without the row',
  'mentions.postId': 'the consumer handles the event again, without the row',
  'mentions.userId': 'the consumer handles the event again, without the row',
  'merged_votes.postId': 'a merge and a deletion of posts wait for each other',
  'merged_votes.userId': 'a merge writes it from votes, which are deleted with the person',
  'merges.answerId': 'a merge writes it from a comment that it has just changed',
  'merges.intoId': race('owner', 'POST_NOT_FOUND', ({ postId, otherId }) => ({ line: 'POST /posts/merge', body: { ids: [otherId], into: postId } })), // prettier-ignore
  'merges.mergedBy': race('user', 'USER_NOT_FOUND', ({ postId, otherId }) => ({ line: 'POST /posts/merge', body: { ids: [otherId], into: postId } })), // prettier-ignore
  'merges.postId': 'a merge and a deletion of posts wait for each other',
  'merges.rootId': 'the same as merges.intoId',
  'notification_settings.userId': 'the operations hold the account before, and refuse where there is none',
  'notifications.actorId': 'the consumer handles the event again, without the row',
  'notifications.commentId': 'the consumer handles the event again, without the row',
  'notifications.postId': 'the consumer handles the event again, without the row',
  'notifications.roadmapId': 'the consumer handles the event again, without the row',
  'notifications.userId': 'the consumer handles the event again, without the row',
  'one_time_tokens.userId': race('nobody', 'USER_NOT_FOUND', ({ email }) => ({ line: 'POST /auth/password/reset', body: { email } })), // prettier-ignore
  'post_moves.actorId': race('user', 'USER_NOT_FOUND', ({ postId, boardId }) => ({ line: 'PATCH /posts', body: { id: postId, boardId, partial: true } })), // prettier-ignore
  'post_moves.postId': 'triggers of the post write it',
  'post_tags.postId': 'a change of many posts and a deletion of posts wait for each other',
  'post_tags.tagId': race('user', 'TAG_NOT_FOUND', ({ postId, tagId }) => ({ line: 'POST /posts/tag', body: { ids: [postId], add: [tagId] } }), 'UNKNOWN_TAG'), // prettier-ignore
  'posts.boardId': race('owner', 'BOARD_NOT_FOUND', ({ boardId }) => ({ line: 'POST /posts', body: { title: 'x', boardId } }), 'UNKNOWN_BOARD'), // prettier-ignore
  'posts.roadmap_id': race('owner', 'ROADMAP_NOT_FOUND', ({ postId, roadmapId }) => ({ line: 'PATCH /posts', body: { id: postId, roadmapId, partial: true } }), 'UNKNOWN_ROADMAP'), // prettier-ignore
  'posts.userId': race('user', 'USER_NOT_FOUND', () => ({ line: 'POST /posts', body: { title: 'x' } })),
  'recovery_codes.userId': 'totp.enable updates the second factor of the person first, and refuses without one',
  'reports.commentId': race('user', 'COMMENT_NOT_FOUND', ({ postId, commentId }) => ({ line: `POST /posts/${postId}/comments/${commentId}/report`, body: {} })), // prettier-ignore
  'reports.postId': race('user', 'POST_NOT_FOUND', ({ postId }) => ({ line: `POST /posts/${postId}/report`, body: {} })), // prettier-ignore
  'reports.userId': race('user', 'USER_NOT_FOUND', ({ postId }) => ({ line: `POST /posts/${postId}/report`, body: {} })), // prettier-ignore
  'reviews.commentId': race('owner', 'POST_NOT_FOUND', ({ commentId }) => ({ line: `POST /moderation/${commentId}`, body: { decision: 'keep' } })), // prettier-ignore
  'reviews.postId': race('owner', 'POST_NOT_FOUND', ({ postId }) => ({ line: `POST /moderation/${postId}`, body: { decision: 'keep' } })), // prettier-ignore
  'reviews.snoozedBy': race('user', 'USER_NOT_FOUND', ({ postId }) => ({ line: `POST /moderation/${postId}`, body: { decision: 'snooze', until: '1d' } })), // prettier-ignore
  'role_permissions.role_id': race('owner', 'ROLE_NOT_FOUND', ({ roleId }) => ({ line: 'PATCH /roles', body: { id: roleId, name: 'Team', permissions: ['board:read'] } })), // prettier-ignore
  'roles_users.role_id': race('owner', 'ROLE_NOT_FOUND', ({ roleId, userId }) => ({ line: `PUT /roles/${roleId}/users/${userId}` })), // prettier-ignore
  'roles_users.user_id': race('owner', 'USER_NOT_FOUND', ({ roleId, userId }) => ({ line: `PUT /roles/${roleId}/users/${userId}` })), // prettier-ignore
  'session_uses.sessionId': 'a use of an ended session is not stored (test/service/sessions.test.ts)',
  'sessions.userId': race('nobody', 'INCORRECT_PASSWORD', ({ email }) => ({ line: 'POST /auth/login', body: { email, password: PASSWORD } })), // prettier-ignore
  'totp.userId': race('user', 'USER_NOT_FOUND', () => ({ line: 'POST /totp', body: {} })),
  'undos.userId': race('user', 'USER_NOT_FOUND', ({ postId, boardId }) => ({ line: 'POST /posts/move', body: { ids: [postId], boardId } })), // prettier-ignore
  'user_tags.userId': 'the operation holds the account before, and refuses where there is none',
  'user_uses.userId': 'triggers of the user and of sessions write it',
  'views.userId': race('user', 'USER_NOT_FOUND', () => ({ line: 'POST /views', body: { name: 'Triage' } })),
  'votes.fromPostId': 'a merge and a deletion of posts wait for each other',
  'votes.postId': race('user', 'POST_NOT_FOUND', ({ postId }) => ({ line: 'POST /votes', body: { postId } })),
  'votes.userId': race('user', 'USER_NOT_FOUND', ({ postId }) => ({ line: 'POST /votes', body: { postId } })),
}

const PASSWORD = 'a good password'
const EMAIL = 'bob@example.org'

async function world(engine: Engine) {
  const site = await makeSite(engine)
  const owner = await site.owner()
  const { userId, token: user } = await site.member(['post:update', 'post:destroy', 'user:invite', 'dashboard:read'], {
    email: EMAIL,
    password: PASSWORD,
  })
  const made = async (line: string, body: object) => (await site.http(line, { token: owner, body })).body
  const { post } = await made('POST /posts', { title: 'Dark mode' })
  const { post: other } = await made('POST /posts', { title: 'Night theme' })
  const { board } = await made('POST /boards', { name: 'Ideas' })
  const { roadmap } = await made('POST /roadmaps', { name: 'Next' })
  const { tag } = await made('POST /tags', { name: 'Mobile' })
  const { role } = await made('POST /roles', { name: 'Team' })
  const { activity } = await made(`POST /posts/${post.postId}/comments`, { body: 'first' })
  const ids = { post: post.postId, board: board.boardId, roadmap: roadmap.id, role: role.id, comment: activity.comment.id, user: userId, key: '', session: '', identity: '', view: '', image: '', tag: tag.tagId } // prettier-ignore
  const named = { postId: ids.post, otherId: other.postId, boardId: ids.board, roadmapId: ids.roadmap, roleId: ids.role, tagId: ids.tag, commentId: ids.comment, userId } // prettier-ignore
  return { site, tokens: { user, owner, nobody: undefined }, email: EMAIL, ids, ...named }
}

/** Each reference of the newest schema: its table and column, and what it refers to. */
async function referencesOf({ db }: TestSite, engine: Engine) {
  const { rows } = await (
    engine === 'sqlite'
      ? sql<Reference>`
          select m.name as "table", f."from" as "column", f."table" as target from sqlite_master m, pragma_foreign_key_list(m.name) f
          where m.type = 'table'`
      : sql<Reference>`
          select t.relname::text as "table", a.attname::text as "column", o.relname::text as target
          from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_class o on o.oid = c.confrelid
          join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1] where c.contype = 'f'`
  ).execute(db)
  return rows
}
interface Reference {
  table: string
  column: string
  target: string
}

describe.each(engines)('a row that another connection deletes before a write refers to it, on %s', (engine) => {
  it('every reference has a line here', async () => {
    const references = await referencesOf(await makeSite(engine), engine)
    expect(references.map(({ table, column }) => `${table}.${column}`).toSorted()).toEqual(Object.keys(RACES))
  })

  it.each(Object.entries(RACES).flatMap(([name, each]) => (typeof each === 'string' ? [] : [{ name, ...each }])))(
    '$name: $code',
    async ({ name, as, request, code, onSqlite }) => {
      const w = await world(engine)
      const reference = (await referencesOf(w.site, engine)).find(({ table, column }) => `${table}.${column}` === name)
      if (!reference) throw new Error(name)
      const noun = NOUNS_WITH_ROWS.find((each) => NOUNS[each].table === reference.target)
      if (!noun) throw new Error(`core/nouns.ts has no noun for the table ${reference.target}`)
      const other = await connect(w.site.databaseUrl)
      cleanup(() => other.destroy())
      const { line, ...rest } = request(w)
      let answering: ReturnType<TestSite['http']> | undefined
      await other.transaction().execute(async (db) => {
        await sql`delete from ${sql.table(reference.target)} where ${sql.ref(NOUNS[noun].id)} = ${w.ids[noun]}`.execute(db) // prettier-ignore
        await untilLocked(engine, w.site.db, () => (answering = w.site.http(line, { token: w.tokens[as], ...rest })))
      })
      const answer = await answering
      // SQLite waits before it looks the row up, PostgreSQL after that
      const codes = [answer?.body?.code, ...(answer?.body?.errors ?? []).map((issue: { code: string }) => issue.code)]
      expect(codes).toContain(engine === 'sqlite' ? (onSqlite ?? code) : code)
    },
  )
})
