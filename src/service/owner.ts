import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { deleteOneTimeTokensOf } from '../db/tokens.js'
import { findOwner, lockUser, updateUser } from '../db/users.js'
import { assertNoKey } from './lib/access.js'
import { change } from './lib/change.js'
import type { Context } from './lib/context.js'
import { operation } from './lib/operation.js'
import { AuthUser, User, userNotFound, userShown } from './lib/people.js'
import { fields } from './lib/schemas.js'
import { signIn } from './lib/signin.js'
import { oneTimeToken, oneTimeTokenOf, TOKEN_ERRORS, tokenField } from './lib/tokens.js'
import { userOf, who } from './users.js'

/** How long a link to sign in works. */
const LINK_HOURS = 1

interface Link {
  /** Null in a dry run, which makes no token. */
  url: string | null
  email: string
  userId: string
  expiresAt: string
}

/**
 * Makes a link that signs the owner in once, without password and second factor. It replaces the link before it. No
 * operation: only who can open the database may make one.
 */
export const createLink = (ctx: Context): Promise<Link> =>
  change(ctx, async ({ db, record }) => {
    const owner = await findOwner(db)
    if (!owner)
      throw new AppError('USER_NOT_FOUND', 'The site has no owner yet. Run "feedbackctl setup".', {
        reason: 'site-not-set-up',
      })
    const { userId, email } = owner
    const token = await oneTimeToken(db, ctx.now(), { userId, purpose: 'signIn', hours: LINK_HOURS })
    record('user.link_created', userId)
    const expiresAt = new Date(ctx.now().getTime() + LINK_HOURS * 60 * 60 * 1000).toISOString()
    return { url: ctx.dryRun ? null : `${ctx.siteUrl}/login/link/?token=${token}`, email, userId, expiresAt }
  })

export const useLink = operation({
  id: 'auth.useLink',
  summary: 'Sign in with the token of a link made by "feedbackctl owner link"',
  http: 'POST /auth/link 200',
  access: 'public',
  limit: 'token',
  sensitive: true,
  errors: [...TOKEN_ERRORS, 'USER_NOT_FOUND', 'USER_BLOCKED'],
  input: fields({ token: tokenField }),
  output: Type.Object({ user: AuthUser }),
  async run(ctx, input) {
    const token = await oneTimeTokenOf(ctx, input.token, 'signIn')
    const user = await signIn(ctx, { way: 'link', token })
    await ctx.limits?.forgive('sign-in', ctx, token.email)
    return { user }
  },
})

export const promote = operation({
  id: 'users.promote',
  summary: 'Make a user the owner of the site; the previous owner keeps the account and its roles',
  http: 'POST /users/:user/promote 200',
  access: 'owner',
  changesOwnRights: true,
  sensitive: true,
  errors: ['USER_NOT_FOUND', 'USER_BLOCKED'],
  input: fields({ user: who }),
  output: Type.Object({ user: User }),
  subject: userOf('owner'),
  async run(ctx, _input, subject) {
    assertNoKey(ctx.actor)
    return change(ctx, async ({ db, record }) => {
      const updatedAt = ctx.now().toISOString()
      const before = await findOwner(db)
      const heir = await lockUser(db, subject.userId)
      if (!heir) throw userNotFound()
      if (heir.isBlocked)
        throw new AppError('USER_BLOCKED', 'A blocked user cannot be the owner. Unblock the account first.')
      if (heir.isOwner) return userShown({ ...ctx, db }, heir)
      if (before) {
        await updateUser(db, before.userId, { isOwner: 0, updatedAt }) // first: the index allows one owner
        await deleteOneTimeTokensOf(db, before.userId, 'signIn')
      }
      const owner = await updateUser(db, subject.userId, { isOwner: 1, updatedAt })
      if (owner === 'taken') throw ownerChanged()
      if (!owner) throw userNotFound()
      record('user.promoted', owner.userId, undefined, before?.userId)
      return userShown({ ...ctx, db }, owner)
    })
  },
})

/** Another transaction made someone the owner in this moment. */
const ownerChanged = () => new AppError('SERVER_BUSY', 'The owner of the site has just changed. Try again.')
