import { quoted } from '../core/text.js'
import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { LENGTHS } from '../core/lengths.js'
import { assertNoPlaceholder } from '../core/placeholders.js'
import { lock } from '../db/counters.js'
import { acceptInvitation } from '../db/invitations.js'
import type { UserRow } from '../db/tables.js'
import { deleteTotp, findTotp } from '../db/totp.js'
import { deleteOneTimeTokensOf } from '../db/tokens.js'
import { assignEveryone, endSessions, findUserByEmail, isFormerUsername, lockUser, updateUser } from '../db/users.js'
import { assertNoKey, refusedBy, type Access, type Actor } from './lib/access.js'
import { blockIn } from './lib/blocking.js'
import { change } from './lib/change.js'
import { forgetWrongCodes } from './lib/codeguesses.js'
import type { Context } from './lib/context.js'
import { ADDRESS_ERRORS, assertAddressAllowed } from './blockeddomains.js'
import { revokeKeys } from './lib/keys.js'
import { KnownIdentity, waysOf, withoutRights } from './lib/identities.js'
import { createInvited } from './lib/inviting.js'
import { deletePerson, WHAT_STAYS } from './lib/leaving.js'
import { reservedWords } from './lib/named.js'
import { assertMail, operation } from './lib/operation.js'
import { assertNewPassword, hashNewPassword } from './lib/passwords.js'
import { assertEmail } from './lib/emails.js'
import { displayName, emailField, findPerson, insertPerson, languageField, nameField, namingPeople, newUser, passwordField, User, userExists, userNotFound, userShown } from './lib/people.js' // prettier-ignore
import { fields, inPath, nullable, oneOf } from './lib/schemas.js'
import { holderOf, userPolicy } from './lib/userpolicy.js'
import { assertVersion, ifVersion, versionOf } from './lib/versions.js'
import * as ownAccount from './profile.js'

export const who = inPath('Id, e-mail address or user name', 'user')
const Shown = Type.Object({ user: User })
const WithWays = Type.Object({
  user: Type.Object({
    ...User.properties,
    identities: Type.Optional(
      Type.Array(KnownIdentity, { description: 'Ways to sign in; absent for all but the owner' }),
    ),
    hasTotp: Type.Optional(
      Type.Boolean({ description: 'Whether they have a second factor; absent for all but the owner' }),
    ),
  }),
  version: Type.Optional(
    Type.String({ description: 'Another after each change of the notes; absent for all but the owner' }),
  ),
})

export { downloadAll, list } from './userlists.js'

export const show = operation({
  id: 'users.show',
  summary: 'Show a user, with the ways to sign in',
  http: 'GET /users/:user 200',
  access: 'user:read',
  sensitive: true,
  errors: ['USER_NOT_FOUND'],
  input: fields({ user: who }),
  output: WithWays,
  subject: userOf('user:read'),
  async run(ctx, _input, subject) {
    const { user } = await userShown(ctx, subject)
    if (!ctx.actor.isOwner) return { user }
    const identities = (await waysOf(ctx, subject)).map(withoutRights)
    const hasTotp = Boolean((await findTotp(ctx.db, subject.userId))?.enabledAt)
    return { user: { ...user, identities, hasTotp }, version: versionOf(notesOf(subject)) }
  },
})

/** Why the actor cannot create an account without an invitation. */
export const refusalToAdd = (actor: Actor): AppError | undefined => refusedBy('owner', actor)

export const create = operation({
  id: 'users.create',
  summary: 'Create a user with an invitation by mail, or, as the owner, with a password or without either',
  http: 'POST /users 201',
  access: 'user:invite',
  limit: 'invitations',
  sensitive: true,
  errors: [
    ...ADDRESS_ERRORS,
    'PASSWORD_MISSING',
    'PASSWORD_COMMON',
    'MAIL_CONFIG_MISSING',
    'USER_EXISTS',
    'USER_NOT_FOUND',
    'USERNAME_EXISTS',
  ],
  input: fields({
    email: emailField,
    name: nameField,
    password: passwordField,
    invite: Type.Boolean({ default: true, description: 'Without a password, mail the user a link to choose one' }),
    language: languageField,
  }),
  output: Shown,
  async run(ctx, { email, name, password, invite, language }) {
    const hasNone = password === undefined || password === null
    const invited = hasNone && invite
    if (invited) assertMail({ mails: true }, ctx)
    const address = assertEmail(email)
    await assertAddressAllowed(ctx.db, address)
    const refused = invited ? undefined : refusalToAdd(ctx.actor)
    if (refused) throw refused
    if (!hasNone) {
      assertNoKey(ctx.actor)
      assertNewPassword(password)
    }
    const person = newUser(ctx.now(), {
      email: address,
      name: name ?? '',
      password: hasNone ? null : await hashNewPassword(ctx, password),
      language,
    })
    return change(ctx, async (tx) => {
      if (invited) return userShown(tx, await createInvited(tx, person))
      const user = await insertPerson(tx.db, person)
      await assignEveryone(tx.db, user.userId)
      tx.record('user.created', user.userId)
      return userShown(tx, user)
    })
  },
})

export const update = operation({
  id: 'users.update',
  summary: 'Change a user; a new address must be confirmed, and a new password ends all sessions',
  http: 'PATCH /users/:user 200',
  access: 'owner',
  sensitive: true,
  errors: [
    ...ADDRESS_ERRORS,
    'USER_NOT_FOUND',
    'PASSWORD_MISSING',
    'PASSWORD_COMMON',
    'USER_EXISTS',
    'USERNAME_EXISTS',
    'CONTENT_CHANGED',
  ],
  input: fields({
    user: who,
    name: Type.Optional(Type.String(displayName)),
    username: Type.Optional(
      Type.String({
        pattern: '^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,30}$',
        rule: '1 to 30 of the characters A-Z, a-z, 0-9, ".", "_" and "-"',
        trim: true,
        description: 'User name, unique on the site',
      }),
    ),
    email: emailField,
    notes: Type.Optional(
      nullable('string', { maxLength: LENGTHS.notes, description: "The owner's notes about the user" }),
    ),
    isVerified: Type.Optional(Type.Boolean({ description: 'Whether the address is confirmed' })),
    password: passwordField,
    ifVersion,
  }),
  output: Shown,
  subject: userOf('owner'),
  async run(ctx, { name, username, notes, isVerified, ifVersion: seen, ...input }, subject) {
    // 'block' is the word of users.blockMany, which is made of this file
    const reserved = [...reservedWords(Object.values(ownAccount)), 'block']
    if (username !== undefined && reserved.includes(username.toLowerCase())) throw usernameTaken(username)
    if (input.password !== undefined || input.email !== undefined) assertNoKey(ctx.actor)
    const email = input.email === undefined ? subject.email : assertEmail(input.email)
    const moves = email !== subject.email
    if (moves) assertNoPlaceholder(email)
    if (moves) await assertAddressAllowed(ctx.db, email)
    const password = input.password === undefined ? undefined : await hashNewPassword(ctx, input.password)
    return change(ctx, async ({ db, record }) => {
      const before = seen === undefined ? undefined : await lockUser(db, subject.userId)
      if (before) assertVersion(seen, notesOf(before))
      const user = await updateUser(db, subject.userId, {
        updatedAt: ctx.now().toISOString(),
        ...(name !== undefined && { name }),
        ...(username !== undefined && { username }),
        ...(notes !== undefined && { notes: notes || null }),
        ...(moves && { email, isVerified: 0 }),
        ...(isVerified !== undefined && { isVerified: isVerified ? 1 : 0 }),
        ...(password !== undefined && { password }),
      })
      if (user === 'taken') throw await taken(db, subject, email, username ?? '')
      if (!user) throw userNotFound()
      if (username !== undefined && (await isFormerUsername(db, username, user.userId))) throw usernameTaken(username)
      if (moves) await deleteOneTimeTokensOf(db, user.userId)
      else if (password !== undefined) await deleteOneTimeTokensOf(db, user.userId, 'resetPassword')
      record('user.updated', user.userId)
      if (password !== undefined) {
        await acceptInvitation(db, user.userId, ctx.now().toISOString())
        await endSessions(db, user.userId)
        await forgetWrongCodes(db, user.userId)
        await revokeKeys({ db, record }, user.userId)
        record('user.password_set', user.userId)
      }
      return userShown({ ...ctx, db }, user)
    })
  },
})

export const block = operation({
  id: 'users.block',
  summary: 'Block a user: all sessions end, and requests that need an account are refused',
  http: 'POST /users/:user/block 200',
  access: 'user:block',
  sensitive: true,
  errors: ['USER_NOT_FOUND', 'CANNOT_CHANGE_OWNER'],
  input: fields({ user: who }),
  output: Shown,
  subject: userOf('user:block'),
  run: (ctx, _input, subject) => blocked(ctx, subject, 'block'),
})

export const unblock = operation({
  id: 'users.unblock',
  summary: 'Unblock a user',
  http: 'POST /users/:user/unblock 200',
  access: 'user:block',
  sensitive: true,
  errors: ['USER_NOT_FOUND', 'CANNOT_CHANGE_OWNER'],
  input: fields({ user: who }),
  output: Shown,
  subject: userOf('user:block'),
  run: (ctx, _input, subject) => blocked(ctx, subject, 'unblock'),
})

export const signOut = operation({
  id: 'users.signOut',
  summary: 'End all sessions of a user',
  http: 'POST /users/:user/sign-out 200',
  access: 'user:block',
  sensitive: true,
  errors: ['USER_NOT_FOUND', 'CANNOT_CHANGE_OWNER'],
  input: fields({ user: who }),
  output: Shown,
  subject: userOf('user:block'),
  run: (ctx, _input, subject) =>
    change(ctx, async ({ db, record }) => {
      const user = await endSessions(db, subject.userId)
      if (!user) throw userNotFound()
      userPolicy.assert('signOut', ctx.actor, await holderOf(db, user))
      record('user.signed_out', user.userId)
      return userShown({ ...ctx, db }, user)
    }),
})

export const resetTotp = operation({
  id: 'users.resetTotp',
  summary: 'Remove the second factor of a user who lost it',
  http: 'POST /users/:user/reset-totp 200',
  access: 'owner',
  changesOwnRights: true,
  sensitive: true,
  errors: ['USER_NOT_FOUND', 'TOTP_NOT_ENABLED'],
  input: fields({ user: who }),
  output: Shown,
  subject: userOf('owner'),
  async run(ctx, _input, subject) {
    assertNoKey(ctx.actor)
    return change(ctx, async ({ db, record }) => {
      if (!(await deleteTotp(db, subject.userId)))
        throw new AppError('TOTP_NOT_ENABLED', 'This user has no second factor.')
      await forgetWrongCodes(db, subject.userId)
      record('user.totp_reset', subject.userId)
      return userShown({ ...ctx, db }, subject)
    })
  },
})

export const remove = operation({
  id: 'users.delete',
  summary: 'Delete a user and their votes; posts and comments stay without an author, or are deleted too',
  http: 'DELETE /users/:user 204',
  access: 'owner',
  errors: ['USER_NOT_FOUND', 'CANNOT_CHANGE_OWNER'],
  input: fields({
    user: who,
    posts: oneOf(WHAT_STAYS, { default: 'keep', description: 'What happens to their posts and comments' }),
  }),
  output: Type.Undefined(),
  subject: userOf('owner'),
  async run(ctx, { posts }, subject) {
    userPolicy.assert('delete', ctx.actor, await holderOf(ctx.db, subject))
    return change(ctx, async (tx) => {
      await lock(tx.db, 'post_counts')
      await deletePerson(tx, subject, posts)
      return undefined
    })
  },
})

/** The user that a request is about. Who may not call the operation does not learn whether the account exists. */
export function userOf(access: Access) {
  return async (ctx: Context, { user: given }: Record<string, unknown>): Promise<UserRow> => {
    const refusal = refusedBy(access, ctx.actor)
    if (refusal) throw refusal
    const user = typeof given === 'string' && given !== '' ? await findPerson(ctx, given) : undefined
    if (user) return user
    const named = typeof given === 'string' ? ` ${quoted(given)}` : ''
    throw new AppError('USER_NOT_FOUND', `User${named} not found. ${namingPeople(ctx.actor)}`)
  }
}

const blocked = (ctx: Context, { userId }: UserRow, verb: 'block' | 'unblock') =>
  change(ctx, async (tx) => userShown({ ...ctx, db: tx.db }, (await blockIn(tx, userId, verb)).user))

/** The error for the address or the user name, whichever another person has. */
async function taken(db: Context['db'], { userId }: UserRow, email: string, username: string): Promise<AppError> {
  const other = await findUserByEmail(db, email)
  return other && other.userId !== userId ? userExists(email) : usernameTaken(username)
}

const usernameTaken = (username: string) =>
  new AppError('USERNAME_EXISTS', `The user name ${JSON.stringify(username)} is taken. Choose another.`)

/** Where the row of a user changes with each sign-in, the form of the notes is only about them. */
const notesOf = ({ notes }: Pick<UserRow, 'notes'>) => [notes]
