import { AppError } from '../../core/errors.js'
import { quoted } from '../../core/text.js'
import { findUser } from '../../db/users.js'
import { operator, type Actor } from './access.js'
import type { Context } from './context.js'
import { idOf } from './names.js'

type Base = Pick<Context, 'db' | 'now'>

/** The operator on behalf of a person, who becomes the author of what is created. The rights stay the operator's. */
export async function operatorAs(base: Base, who: string): Promise<Actor> {
  const { db } = base
  const found = await findUser(db, who)
  const id = found ? undefined : await idOf({ ...base, actor: operator }, 'user', who)
  const user = id === undefined ? found : await findUser(db, id)
  if (!user)
    throw new AppError('USER_NOT_FOUND', `User ${quoted(who)} not found. Give their e-mail address, user name or id.`)
  if (user.isBlocked)
    throw new AppError(
      'USER_BLOCK',
      `This account is blocked. Unblock it first: feedbackctl users unblock ${user.email}`,
    )
  return { ...operator, userId: user.userId }
}
