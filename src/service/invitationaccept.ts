import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { acceptInvitation, isInvitationOpen } from '../db/invitations.js'
import { endSessions, lockUser, updateUser } from '../db/users.js'
import { assertAddressAllowed } from './blockeddomains.js'
import type { Change } from './lib/change.js'
import { operation } from './lib/operation.js'
import { assertNewPassword, hashNewPassword } from './lib/passwords.js'
import { AuthUser, nameField, passwordField, userNotFound } from './lib/people.js'
import { fields } from './lib/schemas.js'
import { assertNotBlocked, signIn } from './lib/signin.js'
import { oneTimeTokenOf, TOKEN_ERRORS, tokenField, useUp } from './lib/tokens.js'

export const accept = operation({
  id: 'invitations.accept',
  summary: 'Accept an invitation with the mailed token: choose a password and a name, confirm the address, sign in',
  http: 'POST /invitations/accept 200',
  access: 'public',
  limit: 'token',
  sensitive: true,
  errors: [
    ...TOKEN_ERRORS,
    'INVITATION_NOT_FOUND',
    'PASSWORD_MISSING',
    'PASSWORD_COMMON',
    'EMAIL_DOMAIN_BLACKLISTED',
    'USER_NOT_FOUND',
    'USER_BLOCKED',
  ],
  input: fields({ token: tokenField, password: passwordField, name: nameField }),
  output: Type.Object({ user: AuthUser }),
  async run(ctx, { token: given, password: chosen, name }) {
    const token = await oneTimeTokenOf(ctx, given, 'resetPassword') // before the password is hashed, which is slow
    await assertAddressAllowed(ctx.db, token.email)
    if (!(await isInvitationOpen(ctx.db, token.userId))) throw notInvited()
    assertNewPassword(chosen)
    const password = await hashNewPassword(ctx, chosen, token.email)
    // Only the mail has the token, and a change of the address ends it. So the token proves the address.
    const create = async (tx: Change) => {
      const user = await lockUser(tx.db, token.userId)
      if (!user) throw userNotFound()
      assertNotBlocked(user)
      await useUp(tx.db, token)
      const at = tx.now().toISOString()
      const changed = await updateUser(tx.db, user.userId, { password, isVerified: 1, updatedAt: at, ...(name && { name }) }) // prettier-ignore
      if (!changed || changed === 'taken') throw userNotFound()
      await acceptInvitation(tx.db, user.userId, at)
      await endSessions(tx.db, user.userId)
      tx.record('user.password_set', user.userId)
      if (!user.isVerified) tx.record('user.verified', user.userId)
      return changed
    }
    return { user: await signIn(ctx, { way: 'account', create }) }
  },
})

const notInvited = () =>
  new AppError('INVITATION_NOT_FOUND', 'This link is of no invitation that waits. Set a new password with it instead.')
