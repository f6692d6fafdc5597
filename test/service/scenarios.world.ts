import { generate } from 'otplib'
import { insertIdentity } from '../../src/db/identities.js'
import { claimMailKey } from '../../src/db/notificationsettings.js'
import { deleteTotp, putTotp } from '../../src/db/totp.js'
import { operator } from '../../src/service/lib/access.js'
import { newId, randomWord } from '../../src/core/ids.js'
import type { Permission } from '../../src/core/permissions.js'
import { queueMail } from '../../src/delivery/mail.js'
import * as boards from '../../src/service/boards.js'
import * as follows from '../../src/service/follows.js'
import * as comments from '../../src/service/comments.js'
import * as keys from '../../src/service/keys.js'
import * as labs from '../../src/service/labs.js'
import * as merges from '../../src/service/merges.js'
import * as posts from '../../src/service/posts.js'
import * as posttags from '../../src/service/posttags.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as tags from '../../src/service/tags.js'
import * as roles from '../../src/service/roles.js'
import { beginSession } from '../../src/service/lib/sessions.js'
import * as settings from '../../src/service/settings.js'
import { hashPassword } from '../../src/service/lib/passwords.js'
import { encrypted, newTotpSecret } from '../../src/service/lib/totp.js'
import { oneTimeToken } from '../../src/service/lib/tokens.js'
import * as users from '../../src/service/users.js'
import { NO_ADDRESS } from '../../src/core/placeholders.js'
import * as votes from '../../src/service/votes.js'
import { makeSite, OWNER, type Engine } from '../support/site.js'
import { storeImage } from '../support/images.js'

export type World = Awaited<ReturnType<typeof makeWorld>>

/** Texts that only callers with the right permission may read. */
export const SECRETS = [
  'SECRET-BOARD',
  'SECRET-POST',
  'SECRET-COMMENT',
  'SECRET-ROADMAP',
  'ada@example.org',
  'author@example.org',
]

const BACKUP = { file: 'site.backup', bytes: 100, createdAt: '2026-03-01T00:00:00.000Z', version: '1.0.0', schema: '0042_backup_tasks', encrypted: false, redacted: false } // prettier-ignore

async function* oneFile() {
  yield await Promise.resolve({ file: 'x.csv', text: 'x', rows: 1 })
}
async function* done() {
  yield await Promise.resolve({ done: { same: true, passwords: false, owner: null, types: [] } })
}
async function* received() {
  await Promise.resolve()
  yield { id: 'k'.repeat(32) }
}
async function* noRecords() {}
const oneSheet = { product: 'csv', preview: undefined, bytes: noRecords, records: noRecords }
const IMPORTS = {
  lines: done,
  files: {
    receive: received,
    open: async () => oneSheet,
    remove: async () => {},
    ids: async () => [],
    keep: async () => {},
    hold: async () => () => {},
    removeAbandoned: async () => {},
  },
}
const EXPORTS = { lines: oneFile, sheets: oneFile, pages: oneFile, spooled: <T>(pieces: T) => pieces }

/** A site with an owner, an author, a private row of every noun, and functions that create more rows. */
export async function makeWorld(engine: Engine, options: Parameters<typeof makeSite>[1] = {}) {
  const site = await makeSite(engine, {
    ...options,
    backups: { every: null, list: async () => [BACKUP] },
    exports: EXPORTS,
    imports: IMPORTS,
  })
  const { call } = site
  const ownerToken = await site.owner()
  const authorEmail = 'author@example.org'
  const author = await site.member([], { email: authorEmail })
  const onBehalfOf = (userId: string | null | undefined) =>
    site.callAs({ ...operator, userId: userId ?? author.userId }) // works for a person who is blocked by now
  let told = 0
  const word = () => `w${randomWord(8)}`

  const person = async (options: { blocked?: boolean; password?: string } = {}) => {
    const email = `${word()}@example.org`
    return { ...(await site.member([], { ...options, email })), email }
  }
  const eventOf = async (subject: string) => ({ id: (await site.db.selectFrom('events').select('id').where('subject_id', '=', subject).orderBy('id').limit(1).executeTakeFirstOrThrow()).id }) // prettier-ignore
  const event = async () => ({ id: (await site.db.selectFrom('events').select('id').orderBy('id').limit(1).executeTakeFirstOrThrow()).id }) // prettier-ignore
  const post = async (by?: string | null, boardId: string | null = null) =>
    (await onBehalfOf(by)(posts.create, { title: boardId === null ? 'Open' : 'SECRET-POST', boardId })).post.postId
  const merged = async () => {
    const postId = await post()
    await call(merges.merge, { ids: [postId], into: openPost })
    return postId
  }
  const formerPath = async () => {
    const path = `/ideas/${newId()}`
    await site.db.insertInto('former_paths').values({ path, postId: openPost }).execute()
    return path
  }
  const image = async () => {
    const { imageId, markdown } = await storeImage(site.db, { userId: author.userId })
    await onBehalfOf(author.userId)(posts.create, { title: 'Illustrated', contentMarkdown: markdown })
    return imageId
  }
  const board = async () => (await call(boards.create, { name: 'Spare' })).board.boardId
  const roadmap = async () => (await call(roadmaps.create, { name: 'Spare', display: true })).roadmap
  const tag = async () => (await call(tags.create, { name: 'Spare' })).tag.tagId
  const role = async (permissions: Permission[] = []) =>
    (await call(roles.create, { name: 'spare', permissions })).role.id

  await call(labs.update, { voteOnBehalf: true })
  const { boardId: openBoard } = (await call(boards.create, { name: 'Open board' })).board
  const { boardId: secretBoard } = (await call(boards.create, { name: 'SECRET-BOARD', url: 'hidden', display: false }))
    .board
  const { id: openRoadmap } = (await call(roadmaps.create, { name: 'Open roadmap', display: true })).roadmap
  const { id: secretRoadmap } = (await call(roadmaps.create, { name: 'SECRET-ROADMAP', url: 'hidden', display: false }))
    .roadmap
  const { tagId: openTag } = (await call(tags.create, { name: 'Open tag' })).tag
  const { tagId: secretTag } = (await call(tags.create, { name: 'SECRET-TAG', url: 'hidden-tag', display: false })).tag
  const openPost = await post()
  await call(posttags.tag, { ids: [openPost], add: [openTag, secretTag] })
  await call(posts.update, { id: openPost, boardId: openBoard, roadmapId: secretRoadmap, partial: true })
  const secretPost = await post(null, secretBoard)
  await call(comments.create, { post_id: openPost, body: 'Yes' })
  await call(comments.create, { post_id: openPost, body: 'SECRET-COMMENT', is_internal: true })
  await call(comments.create, { post_id: secretPost, body: 'SECRET-POST has it' })

  return {
    site,
    ownerToken,
    authorEmail,
    authorId: author.userId,
    openBoard,
    secretBoard,
    openRoadmap,
    secretRoadmap,
    openPost,
    openTag,
    secretTag,
    merged,
    formerPath,
    image,
    secretPost,
    word,
    person,
    event,
    eventOf,
    post,
    board,
    roadmap,
    tag,
    role,
    /** What the caller can undo: nothing. */
    async undo(userId: string | null) {
      const undo = { undoId: newId(), userId, changes: '[]', expiresAt: new Date(site.clock.now.getTime() + 1000).toISOString() } // prettier-ignore
      await site.db.insertInto('undos').values(undo).execute()
      return undo.undoId
    },
    /** An event of the caller, who needs nothing more to take it back. */
    async unfollowed(userId: string | null) {
      const postId = await post()
      await onBehalfOf(userId)(follows.unfollow, { post_id: postId })
      return { id: (await site.db.selectFrom('events').select('id').orderBy('id', 'desc').limit(1).executeTakeFirstOrThrow()).id } // prettier-ignore
    },
    /** A view of the caller, or one that somebody shares where nobody calls. */
    async view(userId: string | null) {
      const view = { viewId: newId(), userId: userId ?? author.userId, name: word(), nameFolded: word(), isShared: userId === null ? 1 : 0, filter: '{}', createdAt: site.clock.now.toISOString(), updatedAt: site.clock.now.toISOString() } // prettier-ignore
      await site.db.insertInto('views').values(view).execute()
      return view.viewId
    },
    /** What the caller was told; where nobody calls, what the author was. */
    async notification(userId: string | null) {
      const eventId = 1_000_000 + ++told
      const row = { userId: userId ?? author.userId, eventId, kind: 'update', postId: openPost, createdAt: site.clock.now.toISOString() } as const // prettier-ignore
      await site.db.insertInto('notifications').values({ ...row, commentId: null, roadmapId: null, actorId: null, readAt: null }).execute() // prettier-ignore
      return eventId
    },
    /** What the mails of a person have in their links. */
    async mailKey() {
      return claimMailKey(site.db, (await person()).userId, newId())
    },
    async voted(userId: string | null) {
      const postId = await post((await person()).userId)
      if (userId !== null) await onBehalfOf(userId)(votes.add, { postId })
      return postId
    },
    async comment({
      by,
      internal = false,
      on = openPost,
    }: { by?: string | null; internal?: boolean; on?: string } = {}) {
      const body = internal ? 'SECRET-COMMENT' : 'Spare'
      const { activity } = await onBehalfOf(by)(comments.create, { post_id: on, body, is_internal: internal })
      return { post_id: on, comment_id: activity.comment.id }
    },
    /** A key of the caller, or of somebody else where nobody calls. */
    key: async (userId: string | null) => (await onBehalfOf(userId)(keys.create, { name: 'spare' })).key.keyId,
    /** One of two identities of the caller, or of somebody else where nobody calls: the last cannot be removed. */
    async identity(userId: string | null) {
      const [identityId, other] = [newId(), newId()]
      for (const id of [identityId, other])
        await insertIdentity(site.db, { identityId: id, userId: userId ?? author.userId, provider: 'oidc', subject: id, email: null, createdAt: site.clock.now.toISOString() }) // prettier-ignore
      return identityId
    },
    /** A session of the caller, or of somebody else where nobody calls. */
    session: async (userId: string | null) => (await beginSession(site.base, userId ?? author.userId)).sessionId,
    /** Sets the password of the caller, and returns it. */
    async password(userId: string | null) {
      const password = 'a long password'
      const stored = { password: await hashPassword(password) }
      await site.db
        .updateTable('users')
        .set(stored)
        .where('userId', '=', userId ?? author.userId)
        .execute()
      return password
    },
    async withoutTotp(userId: string | null) {
      await deleteTotp(site.db, userId ?? author.userId)
      return {}
    },
    /** Begins a second factor of the caller, or enables it, and returns a code. */
    async totp(given: string | null, enabled: boolean) {
      const userId = given ?? author.userId
      await deleteTotp(site.db, userId)
      const { secret } = await newTotpSecret('Site', 'person')
      const enabledAt = enabled ? site.clock.now.toISOString() : null
      await putTotp(site.db, { userId, secret: encrypted(site.base.secret(), userId, secret), enabledAt })
      return { code: await generate({ secret, epoch: site.clock.now.getTime() / 1000 }) }
    },
    /** Somebody whom an import brought without an address, and the account that they have here. */
    async placeholder() {
      const { userId } = await person()
      await site.db
        .updateTable('users')
        .set({ email: `${word()}@${NO_ADDRESS}`, password: null })
        .where('userId', '=', userId)
        .execute()
      return { user: userId, into: (await person()).userId }
    },
    async personWithTotp() {
      const { userId } = await person()
      await putTotp(site.db, { userId, secret: '', enabledAt: site.clock.now.toISOString() })
      return { user: userId }
    },
    async swapped() {
      const [one, other] = [await roadmap(), await roadmap()]
      return { from: { id: one.id, index: other.index }, to: { id: other.id, index: one.index } }
    },
    async assigned() {
      const given = { role_id: await role(), user_id: (await person()).userId }
      await call(roles.assign, given)
      return given
    },
    /** Somebody who was invited, by the author or by this person. */
    async invited(by?: string | null) {
      const { userId } = (await onBehalfOf(by)(users.create, { email: `${word()}@example.org` })).user
      return userId
    },
    credentials: () => ({ email: `${word()}@example.org`, password: 'a long password' }),
    async account(options: { blocked?: boolean } = {}) {
      const password = 'a long password'
      return { email: (await person({ ...options, password })).email, password }
    },
    /** The token of a mail to this person, or to somebody. */
    mailed: async (purpose: 'emailVerification' | 'resetPassword' | 'signIn', userId?: string) =>
      oneTimeToken(site.db, site.clock.now, { userId: userId ?? (await person()).userId, purpose, hours: 2 }),
    /** One task with backups runs at a time. */
    async noTask() {
      await site.db.deleteFrom('backup_tasks').execute()
      return {}
    },
    /** One import runs at a time. This one is in such a state, with what it refused. */
    async importRun(state: 'none' | 'running' | 'checked') {
      await site.db.deleteFrom('import_runs').execute()
      if (state === 'none') return {}
      const at = site.clock.now.toISOString()
      const run = { runId: newId(), userId: author.userId, name: 'x.csv', file: '', options: '{"boardId":null}', isCheck: 1, askedAt: at, startedAt: null, seenAt: null, isCancelled: 0, progress: null, result: null, error: null } // prettier-ignore
      const ended = state === 'checked' ? { endedAt: at, ending: 'done' as const, isOpen: 0 } : { endedAt: null, ending: null, isOpen: 1 } // prettier-ignore
      await site.db.insertInto('import_runs').values({ ...run, ...ended }).execute() // prettier-ignore
      await site.db.insertInto('import_refusals').values({ runId: run.runId, part: 0, text: '{}\n' }).execute()
      return { runId: run.runId }
    },
    async waitingMail() {
      await queueMail(site.db, site.clock.now, { recipient: 'eve@example.org', subject: 'x', text: 'x', html: 'x' })
      const newest = site.db.selectFrom('deliveries').select('deliveryId').orderBy('deliveryId', 'desc')
      return { mailId: (await newest.executeTakeFirstOrThrow()).deliveryId }
    },
    async suppressed() {
      const { userId } = await site.member()
      const at = site.clock.now.toISOString()
      await site.db.insertInto('mail_bounces').values({ userId, bounces: 3, reason: '550', bouncedAt: at, suppressedAt: at }).execute() // prettier-ignore
      return { user: userId }
    },
    async blockedDomain() {
      const domain = `${word()}.example`
      await call(settings.blockDomains, { domains: [domain] })
      return { domains: [domain] }
    },
    async withoutLabs(input: object) {
      await call(labs.update, { voteOnBehalf: false })
      return { post_id: openPost, ...input }
    },
    /** Somebody who can become the owner, which the owner of the tests is again. */
    async heir() {
      const owner = (changed: 0 | 1) => site.db.updateTable('users').set({ isOwner: changed })
      await owner(0).execute()
      await owner(1).where('email', '=', OWNER.email).execute()
      return { user: (await person()).userId }
    },
    async owner() {
      const { userId } = await site.db.selectFrom('users').select('userId').where('isOwner', '=', 1).executeTakeFirstOrThrow() // prettier-ignore
      return { user: userId }
    },
    /** Somebody with a role that has this permission, but counts only with a second factor. */
    async holder(permission: Permission, blocked = false) {
      const { userId } = await person({ blocked })
      const { id } = (await call(roles.create, { name: 'strong', permissions: [permission], require_totp: true })).role
      await call(roles.assign, { role_id: id, user_id: userId })
      return { user: userId }
    },
    /** Input that sets up the site, as if it had no owner yet. */
    async disowned() {
      await site.db.updateTable('users').set({ isOwner: 0 }).execute()
      return { email: `${word()}@example.org`, password: 'a long password' }
    },
  }
}
