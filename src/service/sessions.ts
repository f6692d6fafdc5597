import { AppError } from '../core/errors.js'
import { findActor } from '../db/users.js'
import { visitor, type Actor } from './access.js'
import type { Context } from './context.js'
import { readSessionToken } from './tokens.js'

const SIGN_IN = 'Sign in with POST /auth/login and send the token as "Authorization: Bearer <authToken>".'

/**
 * Who sent an Authorization header, by the contract's ladder (section 1.0). Never fails: whoever is not signed in is a
 * visitor that carries the reason, thrown only by operations that need an account. Asked anew for every request, so
 * that blocking and role changes act at once.
 */
export async function actorOf(authorization: string | undefined, ctx: Pick<Context, 'db' | 'secret' | 'now'>): Promise<Actor> {
  if (authorization === undefined) return visitor(new AppError('INVALID_AUTH_HEADER', `This needs an account. ${SIGN_IN}`))
  const [scheme, token, ...more] = authorization.trim().split(/\s+/)
  if (scheme?.toLowerCase() !== 'bearer' || !token || more.length > 0)
    return visitor(new AppError('INVALID_AUTH_HEADER_FORMAT', `The Authorization header must be "Bearer <authToken>". ${SIGN_IN}`))
  const userId = await readSessionToken(ctx, token)
  if (userId === undefined) return visitor(new AppError('INVALID_TOKEN', `The token is not valid, or has expired. ${SIGN_IN}`))
  const user = await findActor(ctx.db, userId)
  if (!user) return visitor(new AppError('USER_NOT_FOUND', 'The account of this token does not exist any more.'))
  if (user.isBlocked) return { ...visitor(new AppError('USER_BLOCK', 'This account is blocked. Ask the owner of the site.')), userId }
  if (!user.isOwner && user.permissions.length === 0)
    return { ...visitor(new AppError('ACCESS_DENIED', 'This account has no permissions. Ask the owner of the site for a role.')), userId }
  return { userId, isOwner: user.isOwner === 1, permissions: new Set(user.permissions), refusal: null }
}
