import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { readSettings } from '../db/settings.js'
import {
  countRecoveryCodes,
  deleteTotp,
  enableTotp,
  findTotp,
  lacksTotp,
  putTotp,
  replaceRecoveryCodes,
} from '../db/totp.js'
import { change } from './lib/change.js'
import { countedProof } from './lib/codeguesses.js'
import type { Context } from './lib/context.js'
import { operation } from './lib/operation.js'
import { codeField, ownUser } from './lib/people.js'
import { fields, nullable } from './lib/schemas.js'
import { personOf } from './lib/sessions.js'
import { encrypted, newRecoveryCodes, newTotpSecret, proofOf, useProof, wrongCode, type Proof } from './lib/totp.js'

const RecoveryCodes = Type.Object({
  recoveryCodes: Type.Array(Type.String(), { description: 'Each works once instead of a code; shown only now' }),
})

export const status = operation({
  id: 'totp.status',
  summary: 'Show whether you have a second factor',
  http: 'GET /totp 200',
  access: 'session',
  sensitive: true,
  errors: ['USER_NOT_FOUND'],
  input: fields({}),
  output: Type.Object({
    isEnabled: Type.Boolean(),
    enabledAt: nullable('string', { description: 'When it was enabled; null if it is not' }),
    recoveryCodesLeft: Type.Integer({ description: 'Recovery codes that were not used yet' }),
    isNeeded: Type.Boolean({ description: 'Whether a role of yours counts only once you have a second factor' }),
  }),
  async run(ctx) {
    const userId = await personOf(ctx)
    const enabledAt = (await findTotp(ctx.db, userId))?.enabledAt ?? null
    const recoveryCodesLeft = await countRecoveryCodes(ctx.db, userId)
    return { isEnabled: enabledAt !== null, enabledAt, recoveryCodesLeft, isNeeded: await lacksTotp(ctx.db, userId) }
  },
})

export const begin = operation({
  id: 'totp.begin',
  summary: 'Create the secret for an authenticator app; the second factor counts once it is enabled',
  http: 'POST /totp 201',
  access: 'session',
  sensitive: true,
  errors: ['USER_NOT_FOUND', 'TOTP_ENABLED'],
  input: fields({}),
  output: Type.Object({
    secret: Type.String(),
    uri: Type.String({ description: 'The secret as an address; show it as a QR code' }),
  }),
  async run(ctx) {
    const { userId, email } = await ownUser(ctx)
    const made = await newTotpSecret((await readSettings(ctx.db)).title || 'Feedback', email)
    const secret = encrypted(ctx.secret(), userId, made.secret)
    return change(ctx, async ({ db, record }) => {
      if (!(await putTotp(db, { userId, secret }))) throw alreadyEnabled()
      record('user.totp_begun', userId)
      return ctx.dryRun ? { secret: '', uri: '' } : made
    })
  },
})

export const enable = operation({
  id: 'totp.enable',
  summary: 'Enable your second factor with a code from the app, and get recovery codes',
  http: 'POST /totp/enable 200',
  access: 'session',
  sensitive: true,
  changesOwnRights: true,
  limit: 'sign-in',
  errors: ['USER_NOT_FOUND', 'TOTP_ENABLED', 'TOTP_NOT_ENABLED', 'TOTP_REQUIRED', 'TOTP_WRONG'],
  input: fields({ code: codeField }),
  output: RecoveryCodes,
  async run(ctx, { code }) {
    const { userId } = await ownUser(ctx)
    const totp = await findTotp(ctx.db, userId)
    if (!totp) throw notEnabled()
    if (totp.enabledAt !== null) throw alreadyEnabled()
    if (!code) throw new AppError('TOTP_REQUIRED', 'Give a code of the authenticator app.')
    const proof = await proofOf(ctx, totp, code)
    if (!proof || !('step' in proof)) throw wrongCode()
    const { codes, hashes } = newRecoveryCodes()
    return change(ctx, async ({ db, record }) => {
      if (!(await enableTotp(db, totp, ctx.now().toISOString()))) throw alreadyEnabled()
      await useProof(db, userId, proof)
      await replaceRecoveryCodes(db, userId, hashes)
      record('user.totp_enabled', userId)
      return { recoveryCodes: ctx.dryRun ? [] : codes }
    })
  },
})

export const disable = operation({
  id: 'totp.disable',
  summary: 'Remove your second factor, with a code',
  http: 'POST /totp/disable 204',
  access: 'session',
  changesOwnRights: true,
  limit: 'sign-in',
  errors: ['USER_NOT_FOUND', 'TOTP_NOT_ENABLED', 'TOTP_REQUIRED', 'TOTP_WRONG', 'TOTP_LIMITED'],
  input: fields({ code: codeField }, ['password']),
  output: Type.Undefined(),
  async run(ctx, { code }) {
    const { userId, proof } = await proven(ctx, code)
    return change(ctx, async ({ db, record }) => {
      await useProof(db, userId, proof)
      if (!(await deleteTotp(db, userId))) throw notEnabled()
      record('user.totp_disabled', userId)
      return undefined
    })
  },
})

export const recovery = operation({
  id: 'totp.recovery',
  summary: 'Replace your recovery codes, with a code',
  http: 'POST /totp/recovery 200',
  access: 'session',
  sensitive: true,
  limit: 'sign-in',
  errors: ['USER_NOT_FOUND', 'TOTP_NOT_ENABLED', 'TOTP_REQUIRED', 'TOTP_WRONG', 'TOTP_LIMITED'],
  input: fields({ code: codeField }, ['password']),
  output: RecoveryCodes,
  async run(ctx, { code }) {
    const { userId, proof } = await proven(ctx, code)
    const { codes, hashes } = newRecoveryCodes()
    return change(ctx, async ({ db, record }) => {
      await useProof(db, userId, proof)
      await replaceRecoveryCodes(db, userId, hashes)
      record('user.totp_recovery', userId)
      return { recoveryCodes: ctx.dryRun ? [] : codes }
    })
  },
})

/** An open session and the password must not be enough to change the second factor. */
async function proven(ctx: Context, code: string | null | undefined): Promise<{ userId: string; proof: Proof }> {
  const user = await ownUser(ctx)
  const totp = await findTotp(ctx.db, user.userId)
  if (!totp?.enabledAt) throw notEnabled()
  if (!code) throw codeMissing()
  const proof = await countedProof(ctx, user, totp, code)
  if (!proof) throw wrongCode()
  return { userId: user.userId, proof }
}

const alreadyEnabled = () => new AppError('TOTP_ENABLED', 'This account has a second factor already. Disable it first.')

const notEnabled = () => new AppError('TOTP_NOT_ENABLED', 'This account has no second factor yet. Begin with POST /totp (feedbackctl totp begin).') // prettier-ignore

const codeMissing = () => new AppError('TOTP_REQUIRED', 'Give a code of the authenticator app, or a recovery code.')
