import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { readSettings } from '../db/settings.js'
import { assignEveryone, findUserByEmail } from '../db/users.js'
import { change } from './change.js'
import { ADDRESS_ERRORS, assertAddressAllowed } from './domains.js'
import { queueLetter } from './letters.js'
import { operation } from './operation.js'
import { assertNewPassword, assertPasswordGiven, hashPassword, passwordMatches } from './passwords.js'
import { assertEmail, authUser, AuthUser, emailField, insertPerson, nameField, newUser, passwordField } from './people.js'
import { fields } from './schemas.js'

export const login = operation({
  id: 'auth.login',
  summary: 'Sign in with e-mail address and password',
  http: 'POST /auth/login 200',
  access: 'public',
  errors: [...ADDRESS_ERRORS, 'PASSWORD_MISSING', 'USER_NOT_FOUND', 'USER_BLOCKED', 'INCORRECT_PASSWORD'],
  input: fields({ email: emailField, password: passwordField }),
  output: Type.Object({ user: AuthUser }),
  async run(ctx, { email, password }) {
    const address = assertEmail(email)
    await assertAddressAllowed(ctx.db, address)
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

export const signup = operation({
  id: 'auth.signup',
  summary: "Create an account of one's own, signed in at once",
  http: 'POST /auth/signup 201',
  access: 'public',
  mails: true,
  errors: [...ADDRESS_ERRORS, 'PASSWORD_MISSING', 'SIGNUP_NOT_ALLOWED', 'USER_EXISTS', 'USERNAME_EXISTS'],
  input: fields({ email: emailField, password: passwordField, name: nameField }),
  output: Type.Object({ user: AuthUser }),
  async run(ctx, { email, password, name }) {
    const address = assertEmail(email)
    await assertAddressAllowed(ctx.db, address)
    assertNewPassword(password)
    const { allowSignup } = await readSettings(ctx.db)
    if (!allowSignup) throw new AppError('SIGNUP_NOT_ALLOWED', 'This site takes no new accounts. Ask its owner for an invitation.')
    const person = newUser(ctx.now(), { email: address, name: name ?? '', password: await hashPassword(password) })
    const user = await change(ctx, async (tx) => {
      const inserted = await insertPerson(tx.db, person)
      await assignEveryone(tx.db, inserted.userId)
      await queueLetter(tx, 'verification', inserted)
      tx.record('user.signed_up', inserted.userId)
      return inserted
    })
    return { user: await authUser(ctx, user) }
  },
})
