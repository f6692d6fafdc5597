import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { lock } from '../db/counters.js'
import type { UserRow } from '../db/tables.js'
import type { OneTimeToken } from '../db/tokens.js'
import { lockUser } from '../db/users.js'
import { change } from './lib/change.js'
import type { Context } from './lib/context.js'
import { deletePerson, WHAT_STAYS } from './lib/leaving.js'
import { queueLetter } from './lib/mailings.js'
import { operation } from './lib/operation.js'
import { assertPasswordGiven, hasPassword, noPassword, passwordMatches } from './lib/passwords.js'
import { ownUser, passwordField, userNotFound } from './lib/people.js'
import { accountPolicy } from './lib/userpolicy.js'
import { fields, nullable, oneOf } from './lib/schemas.js'
import { personOf } from './lib/sessions.js'
import { oneTimeTokenOf, TOKEN_ERRORS, useUp } from './lib/tokens.js'

export { exportData } from './accountexport.js'

export const requestDeletion = operation({
  id: 'account.requestDeletion',
  summary: 'Send a mail with a link to delete your own account, for an account without a password',
  http: 'POST /users/profile/deletion 204',
  access: 'session',
  mails: true,
  limit: 'mail',
  errors: ['USER_NOT_FOUND', 'CANNOT_CHANGE_OWNER'],
  input: fields({}),
  output: Type.Undefined(),
  async run(ctx) {
    const userId = await personOf(ctx)
    return change(ctx, async (tx) => {
      const user = await lockUser(tx.db, userId)
      if (!user) throw userNotFound()
      accountPolicy.assert('delete', ctx.actor, user)
      await queueLetter(tx, 'deletion', user)
      tx.record('user.deletion_requested', userId)
      return undefined
    })
  },
})

export const remove = operation({
  id: 'account.delete',
  summary: 'Delete your own account and your votes; posts and comments stay without an author, or are deleted too',
  http: 'DELETE /users/profile 204',
  access: 'session',
  limit: 'sign-in',
  errors: [...TOKEN_ERRORS, 'USER_NOT_FOUND', 'PASSWORD_MISSING', 'INCORRECT_PASSWORD', 'CANNOT_CHANGE_OWNER'],
  input: fields({
    password: passwordField,
    deletionToken: Type.Optional(
      nullable('string', { description: 'The token of the mailed link, in place of the password', secret: true }),
    ),
    posts: oneOf(WHAT_STAYS, { default: 'keep', description: 'What happens to your posts and comments' }),
  }),
  output: Type.Undefined(),
  async run(ctx, { password, deletionToken, posts }) {
    const user = await ownUser(ctx)
    accountPolicy.assert('delete', ctx.actor, user)
    const token = deletionToken ? await ownToken(ctx, user, deletionToken) : undefined
    if (!token) await assertPassword(ctx, user, password)
    return change(ctx, async (tx) => {
      await lock(tx.db, 'post_counts')
      const now = await lockUser(tx.db, user.userId)
      if (!now) throw userNotFound()
      accountPolicy.assert('delete', ctx.actor, now)
      if (token) await useUp(tx.db, token)
      if (now.password !== user.password)
        throw new AppError('INCORRECT_PASSWORD', 'The password has just changed. Give the new one.')
      await deletePerson(tx, now, posts)
      return undefined
    })
  },
})

/** The token of a link that was mailed to this account, and to no other. */
async function ownToken(ctx: Context, { userId }: UserRow, given: string): Promise<OneTimeToken> {
  const token = await oneTimeTokenOf(ctx, given, 'deletion')
  if (token.userId !== userId)
    throw new AppError('INVALID_TOKEN 400', 'This token is of another account. Sign in to that account first.')
  return token
}

async function assertPassword(ctx: Context, user: UserRow, password: string | null | undefined): Promise<void> {
  if (!hasPassword(user))
    throw noPassword('delete it (POST /users/profile/deletion), and send its token as deletionToken')
  assertPasswordGiven(password)
  if (!(await passwordMatches(ctx, user, password, user.email)))
    throw new AppError('INCORRECT_PASSWORD', 'The password is wrong.')
}
