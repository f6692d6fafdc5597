import { createHash, timingSafeEqual } from 'node:crypto'
import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { updateSettings } from '../db/settings.js'
import { assignEveryone, findOwner } from '../db/users.js'
import { change } from './lib/change.js'
import type { Context } from './lib/context.js'
import { ADDRESS_ERRORS, assertAddressAllowed } from './settings.js'
import { queueLetter } from './lib/mailings.js'
import { operation } from './lib/operation.js'
import { assertNewPassword, hashNewPassword } from './lib/passwords.js'
import { fields, nullable } from './lib/schemas.js'
import { beginSession } from './lib/sessions.js'
import { assertSecretFits } from './lib/tokens.js'
import {
  assertEmail,
  authUser,
  AuthUser,
  emailField,
  insertPerson,
  nameField,
  newUser,
  passwordField,
  setupCompleted,
} from './lib/people.js'

export const status = operation({
  id: 'site.status',
  summary: 'Tell whether the site has an owner',
  http: 'GET /auth/setup 200',
  access: 'public',
  cache: 'public',
  errors: [],
  input: fields({}),
  output: Type.Object({ is_setup: Type.Boolean() }),
  async run({ db }) {
    return { is_setup: (await findOwner(db)) !== undefined }
  },
})

export const setup = operation({
  id: 'site.setup',
  summary: 'Create the owner account and set the site title',
  http: 'POST /auth/setup 201',
  access: 'public',
  mails: true,
  ownPages: true,
  limit: 'token',
  sensitive: true,
  errors: [
    'SETUP_REFUSED',
    ...ADDRESS_ERRORS,
    'PASSWORD_MISSING',
    'PASSWORD_COMMON',
    'SETUP_COMPLETED',
    'USER_EXISTS',
    'USERNAME_EXISTS',
    'INVALID_TOKEN',
    'SECRET_MISMATCH',
  ],
  input: fields({
    email: emailField,
    password: passwordField,
    siteTitle: Type.Optional(
      nullable('string', {
        maxLength: 255,
        trim: true,
        plain: true,
        description: 'Title shown across the site (default: Feedback)',
      }),
    ),
    name: nameField,
    setupToken: Type.Optional(
      nullable('string', { description: 'Needed where the server has the setting setup.token', secret: true }),
    ),
  }),
  output: Type.Object({ user: AuthUser }),
  async run(ctx, { email, password, siteTitle, name, setupToken }) {
    assertSetupToken(ctx, setupToken ?? '')
    const address = assertEmail(email)
    await assertAddressAllowed(ctx.db, address)
    assertNewPassword(password)
    if (await findOwner(ctx.db)) throw setupCompleted() // saves the hashing; the unique index decides
    if (!ctx.dryRun) await assertSecretFits(ctx)
    const owner = {
      ...newUser(ctx.now(), {
        email: address,
        name: name || 'Owner',
        password: await hashNewPassword(ctx, password, address),
      }),
      isOwner: 1,
    }
    const { user, sessionId } = await change(ctx, async (tx) => {
      const inserted = await insertPerson(tx.db, owner)
      await assignEveryone(tx.db, inserted.userId)
      await updateSettings(tx.db, { title: siteTitle || 'Feedback' })
      await queueLetter(tx, 'verification', inserted)
      tx.record('site.set_up', 'site')
      return { user: inserted, sessionId: await beginSession(tx, inserted.userId) }
    })
    return { user: await authUser(ctx, user, sessionId) }
  },
})

/** Whoever can open the database could take the site over anyway. */
function assertSetupToken({ actor, setupToken: expected }: Context, given: string): void {
  if (expected === undefined || actor.isOwner) return
  const [one, other] = [expected, given].map((text) => createHash('sha256').update(text).digest())
  if (one && other && timingSafeEqual(one, other)) return
  throw new AppError(
    'INVALID_TOKEN',
    given === ''
      ? 'This site is set up with a token. Send the value of the setting setup.token as setupToken.'
      : 'The token is not the one of the setting setup.token.',
  )
}
