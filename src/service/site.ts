import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { updateSettings } from '../db/settings.js'
import type { UserRow } from '../db/tables.js'
import { assignEveryone, findOwner, findUserByEmail, insertUser } from '../db/users.js'
import { queueMail } from '../mail/outbox.js'
import { verificationMail } from '../mail/templates.js'
import { change } from './change.js'
import type { Context } from './context.js'
import { operation } from './operation.js'
import { assertNewPassword, hashPassword } from './passwords.js'
import { fields, nullable } from './schemas.js'
import { assertSecretFits, oneTimeToken } from './tokens.js'
import { assertEmail, authUser, AuthUser, emailField, localPart, nameField, newUser, passwordField } from './users.js'

export const status = operation({
  id: 'site.status',
  summary: 'Tell whether the site has an owner',
  http: 'GET /auth/setup 200',
  access: 'public',
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
  errors: ['EMAIL_INVALID', 'PASSWORD_MISSING', 'SETUP_COMPLETED', 'USER_EXISTS', 'USERNAME_EXISTS', 'SECRET_MISMATCH'],
  input: fields({
    email: emailField,
    password: passwordField,
    siteTitle: Type.Optional(nullable('string', { maxLength: 255, trim: true, description: 'Title shown across the site (default: Feedback)' })),
    name: nameField,
  }),
  output: Type.Object({ user: AuthUser }),
  async run(ctx, { email, password, siteTitle, name }) {
    const address = assertEmail(email)
    assertNewPassword(password)
    if (await findOwner(ctx.db)) throw completed() // spares the hashing; what decides is the unique index
    await assertSecretFits(ctx)
    const owner = {
      ...newUser(ctx.now(), { email: address, name: name || localPart(address).slice(0, 100), password: await hashPassword(password) }),
      isOwner: 1,
    }
    const user = await change(ctx, async ({ db, record }) => {
      const inserted = await insertUser(db, owner)
      if (!inserted) throw await refusal(db, address)
      await assignEveryone(db, inserted.userId)
      await updateSettings(db, { title: siteTitle || 'Feedback' })
      await queueVerification({ ...ctx, db }, inserted, siteTitle || 'Feedback')
      record('site.set_up', inserted.userId)
      return inserted
    })
    return { user: await authUser(ctx, user) }
  },
})

const completed = () => new AppError('SETUP_COMPLETED', 'The site has an owner already. Sign in with that account.')

async function refusal(db: Context['db'], email: string): Promise<AppError> {
  if (await findOwner(db)) return completed()
  if (await findUserByEmail(db, email)) return new AppError('USER_EXISTS', `${email} has an account already. Use another address.`)
  return new AppError('USERNAME_EXISTS', 'No free user name was found. Try again.')
}

async function queueVerification({ db, now, siteUrl }: Context, user: UserRow, siteTitle: string): Promise<void> {
  const token = await oneTimeToken(db, now(), user.userId, 'emailVerification')
  const link = `${siteUrl}/email-verify/?token=${token}`
  await queueMail(db, now(), { recipient: user.email, ...verificationMail({ siteTitle, name: user.name, link }) })
}
