import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { findUserByEmail } from '../db/users.js'
import { operation } from './operation.js'
import { assertPasswordGiven, passwordMatches } from './passwords.js'
import { fields } from './schemas.js'
import { assertEmail, authUser, AuthUser, emailField, passwordField } from './users.js'

export const login = operation({
  id: 'auth.login',
  summary: 'Sign in with e-mail address and password',
  http: 'POST /auth/login 200',
  access: 'public',
  errors: ['EMAIL_INVALID', 'PASSWORD_MISSING', 'USER_NOT_FOUND', 'USER_BLOCKED', 'INCORRECT_PASSWORD'],
  input: fields({ email: emailField, password: passwordField }),
  output: Type.Object({ user: AuthUser }),
  async run(ctx, { email, password }) {
    const address = assertEmail(email)
    const user = await findUserByEmail(ctx.db, address)
    // Checked before anything is answered, so that every answer to a given password takes the same time.
    const matches = Boolean(password) && (await passwordMatches(user?.password, password ?? ''))
    if (!user) throw new AppError('USER_NOT_FOUND', `There is no account for ${address}. Check the address.`)
    if (user.isBlocked) throw new AppError('USER_BLOCKED', 'This account is blocked. Ask the owner of the site.')
    assertPasswordGiven(password)
    if (!matches) throw new AppError('INCORRECT_PASSWORD', 'The password is not right.')
    return { user: await authUser(ctx, user) }
  },
})
