import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { assertNoPlaceholder } from '../core/placeholders.js'
import { acceptInvitation, isInvitationOpen } from '../db/invitations.js'
import { readSettings } from '../db/settings.js'
import type { UserRow } from '../db/tables.js'
import { assignEveryone, endSessions, findUserByEmail, lockUser, updateUser } from '../db/users.js'
import { ADDRESS_ERRORS, assertAddressAllowed } from './blockeddomains.js'
import { change, type Change } from './lib/change.js'
import { forgetWrongCodes } from './lib/codeguesses.js'
import type { Context } from './lib/context.js'
import { revokeKeys } from './lib/keys.js'
import { queueLetter } from './lib/mailings.js'
import { operation } from './lib/operation.js'
import { assertNewPassword, assertPasswordGiven, hashNewPassword, passwordMatches } from './lib/passwords.js'
import { assertEmail } from './lib/emails.js'
import { AuthUser, codeField, emailField, insertPerson, languageField, nameField, newUser, passwordField, userNotFound } from './lib/people.js' // prettier-ignore
import { readPasswordToken } from './lib/passwordtoken.js'
import { fields, nullable, oneOf } from './lib/schemas.js'
import { personOf } from './lib/sessions.js'
import { assertNotBlocked, signIn } from './lib/signin.js'
import { recordFailedSignIn } from './lib/signins.js'
import { oneTimeTokenOf, PURPOSES, TOKEN_ERRORS, tokenField, useUp } from './lib/tokens.js'

export const login = operation({
  id: 'auth.login',
  summary: 'Sign in with e-mail address and password',
  http: 'POST /auth/login 200',
  access: 'public',
  limit: 'sign-in',
  sensitive: true,
  errors: [
    ...ADDRESS_ERRORS,
    'PASSWORD_MISSING',
    'USER_NOT_FOUND',
    'USER_BLOCKED',
    'INCORRECT_PASSWORD',
    'INVALID_TOKEN',
    'TOTP_REQUIRED',
    'TOTP_WRONG',
    'TOTP_LIMITED',
  ],
  input: fields({
    email: emailField,
    password: passwordField,
    passwordToken: Type.Optional(
      nullable('string', { description: 'passwordToken of a TOTP_REQUIRED, in place of the password', secret: true }),
    ),
    code: codeField,
  }),
  output: Type.Object({ user: AuthUser }),
  async run(ctx, { email, password, passwordToken: token, code }) {
    const address = assertEmail(email)
    await assertAddressAllowed(ctx.db, address)
    if (token && !password) return { user: await signIn(ctx, { ...(await ofToken(ctx, address, token)), code }) }
    const user = await userOfPassword(ctx, address, password)
    return { user: await signIn(ctx, { way: 'password', user, code, ...(password && { password }) }) }
  },
})

export const signup = operation({
  id: 'auth.signup',
  summary: 'Sign up: create your own account and sign in',
  http: 'POST /auth/signup 201',
  access: 'public',
  mails: true,
  limit: 'mail',
  sensitive: true,
  errors: [
    ...ADDRESS_ERRORS,
    'PASSWORD_MISSING',
    'PASSWORD_COMMON',
    'SIGNUP_NOT_ALLOWED',
    'USER_EXISTS',
    'USERNAME_EXISTS',
  ],
  input: fields({ email: emailField, password: passwordField, name: nameField, language: languageField }),
  output: Type.Object({ user: AuthUser }),
  async run(ctx, { email, password, name, language }) {
    const address = assertEmail(email)
    assertNoPlaceholder(address)
    await assertAddressAllowed(ctx.db, address)
    assertNewPassword(password)
    const { allowSignup } = await readSettings(ctx.db)
    if (!allowSignup)
      throw new AppError('SIGNUP_NOT_ALLOWED', 'This site accepts no new accounts. Ask its owner for an invitation.')
    const person = newUser(ctx.now(), {
      email: address,
      name: name ?? '',
      password: await hashNewPassword(ctx, password, address),
      language,
    })
    const create = async (tx: Change) => {
      const inserted = await insertPerson(tx.db, person)
      await assignEveryone(tx.db, inserted.userId)
      await queueLetter(tx, 'verification', inserted)
      tx.record('user.signed_up', inserted.userId)
      return inserted
    }
    return { user: await signIn(ctx, { way: 'account', create }) }
  },
})

const Verified = Type.Object({ verify: Type.Object({ success: Type.Boolean() }) })
const Reset = Type.Object({ reset: Type.Object({ success: Type.Boolean() }) })

export const verify = operation({
  id: 'auth.verify',
  summary: 'Send another mail with a link to confirm the address',
  http: 'POST /auth/email/verify 200',
  access: 'session',
  mails: true,
  limit: 'mail',
  errors: ['USER_NOT_FOUND', 'EMAIL_DOMAIN_BLACKLISTED', 'EMAIL_VERIFIED'],
  input: fields({}, ['email']),
  output: Verified,
  async run(ctx) {
    const userId = await personOf(ctx)
    return change(ctx, async (tx) => {
      const user = await lockUser(tx.db, userId)
      if (!user) throw userNotFound()
      await assertAddressAllowed(tx.db, user.email)
      if (user.isVerified) throw verifiedAlready()
      await queueLetter(tx, 'verification', user)
      tx.record('user.verification_requested', user.userId)
      return { verify: { success: true } }
    })
  },
})

export const validate = operation({
  id: 'auth.validate',
  summary: 'Confirm an address with the token mailed to it',
  http: 'POST /auth/email/validate 200',
  access: 'public',
  limit: 'token',
  errors: [...TOKEN_ERRORS, 'EMAIL_DOMAIN_BLACKLISTED', 'USER_NOT_FOUND', 'EMAIL_VERIFIED'],
  input: fields({ token: tokenField }),
  output: Verified,
  async run(ctx, input) {
    const token = await oneTimeTokenOf(ctx, input.token, 'emailVerification')
    await assertAddressAllowed(ctx.db, token.email)
    if (token.isVerified) throw verifiedAlready()
    return change(ctx, async ({ db, record }) => {
      await useUp(db, token)
      const user = await updateUser(db, token.userId, { isVerified: 1, updatedAt: ctx.now().toISOString() })
      if (!user) throw userNotFound()
      record('user.verified', token.userId)
      return { verify: { success: true } }
    })
  },
})

export const resetPassword = operation({
  id: 'auth.resetPassword',
  summary: 'Send a mail with a link to choose a new password',
  http: 'POST /auth/password/reset 200',
  access: 'public',
  mails: true,
  limit: 'mail',
  errors: [...ADDRESS_ERRORS, 'USER_NOT_FOUND'],
  input: fields({ email: emailField }),
  output: Reset,
  async run(ctx, { email }) {
    const address = assertEmail(email)
    await assertAddressAllowed(ctx.db, address)
    const known = await findUserByEmail(ctx.db, address)
    const isHidden = ctx.unknownAccounts === 'hide'
    if (!known && !isHidden) throw new AppError('USER_NOT_FOUND', `No account has the address ${address}. Check it.`)
    return change(ctx, async (tx) => {
      const user = known && (await lockUser(tx.db, known.userId))
      if (!user && !isHidden) throw userNotFound()
      if (user) {
        await queueLetter(tx, 'reset', user)
        tx.record('user.reset_requested', user.userId)
      }
      return { reset: { success: true } }
    })
  },
})

export const validateToken = operation({
  id: 'auth.validateToken',
  summary: 'Check the token of a mailed link without using it',
  http: 'POST /auth/password/validateToken 200',
  access: 'public',
  limit: 'token',
  errors: [...TOKEN_ERRORS],
  input: fields({
    token: tokenField,
    purpose: oneOf(PURPOSES, {
      default: 'resetPassword',
      description: 'What the link is for',
    }),
  }),
  output: Type.Object({
    reset: Type.Object({
      valid: Type.Boolean(),
      invitation: Type.Optional(
        Type.Boolean({ description: 'true if the account waits for its invitation to be accepted; otherwise absent' }),
      ),
    }),
  }),
  async run(ctx, { token, purpose }) {
    const { userId } = await oneTimeTokenOf(ctx, token, purpose)
    const isInvited = purpose === 'resetPassword' && (await isInvitationOpen(ctx.db, userId))
    return { reset: { valid: true, ...(isInvited && { invitation: true }) } }
  },
})

export const setPassword = operation({
  id: 'auth.setPassword',
  summary: 'Set a new password with a mailed token; all sessions of the account end',
  http: 'POST /auth/password/set 200',
  access: 'public',
  limit: 'token',
  errors: [...TOKEN_ERRORS, 'PASSWORD_MISSING', 'PASSWORD_COMMON', 'EMAIL_DOMAIN_BLACKLISTED', 'USER_NOT_FOUND'],
  input: fields({ token: tokenField, password: passwordField }, 'all'),
  output: Reset,
  async run(ctx, input) {
    const token = await oneTimeTokenOf(ctx, input.token, 'resetPassword') // first: a wrong token must not cost a hash
    await assertAddressAllowed(ctx.db, token.email)
    if (!input.password) throw passwordMissing()
    const password = await hashNewPassword(ctx, input.password, token.email)
    const answer = await change(ctx, async ({ db, record }) => {
      await useUp(db, token)
      if (!(await updateUser(db, token.userId, { password, updatedAt: ctx.now().toISOString() }))) throw userNotFound()
      await acceptInvitation(db, token.userId, ctx.now().toISOString())
      await endSessions(db, token.userId)
      await forgetWrongCodes(db, token.userId)
      await revokeKeys({ db, record }, token.userId)
      record('user.password_set', token.userId)
      return { reset: { success: true } }
    })
    await ctx.limits?.forgive('sign-in', ctx, token.email)
    return answer
  },
})

async function userOfPassword(ctx: Context, address: string, password: string | null | undefined): Promise<UserRow> {
  const user = await findUserByEmail(ctx.db, address)
  // Checked first, so that every response to a password takes the same time.
  const matches = Boolean(password) && (await passwordMatches(ctx, user, password ?? '', address))
  if (!user || user.isBlocked || !matches) await recordFailedSignIn(ctx, user?.userId)
  if (ctx.unknownAccounts === 'hide') {
    assertPasswordGiven(password)
    if (!matches)
      throw new AppError('INCORRECT_PASSWORD', 'The address or the password is wrong.', { reason: 'sign-in' })
  }
  if (!user) throw new AppError('USER_NOT_FOUND', `No account has the address ${address}. Check it.`)
  assertNotBlocked(user)
  assertPasswordGiven(password)
  if (!matches) throw new AppError('INCORRECT_PASSWORD', 'The password is wrong.')
  return user
}

/** Who was recognised before the code was asked for, and how. */
async function ofToken(ctx: Context, address: string, token: string) {
  const user = await findUserByEmail(ctx.db, address)
  const stated = user && readPasswordToken(ctx, user, token)
  if (!stated)
    throw new AppError('INVALID_TOKEN', 'The passwordToken has expired or is not valid. Send the password again.')
  assertNotBlocked(user)
  const { identityId } = stated
  return identityId === undefined
    ? ({ way: 'password', user } as const)
    : ({ way: 'identity', user, identity: { identityId } } as const)
}

const verifiedAlready = () =>
  new AppError('EMAIL_VERIFIED', 'This address is already confirmed. There is nothing left to do.')

/** Here the contract also names the field. */
function passwordMissing(): AppError {
  const message = 'A password is needed.'
  return new AppError('PASSWORD_MISSING', message, {
    errors: [{ code: 'PASSWORD_MISSING', message, field: 'password', rule: '8 to 256 characters long' }],
  })
}
