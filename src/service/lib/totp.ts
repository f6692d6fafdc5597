import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, randomInt } from 'node:crypto'
import { AppError } from '../../core/errors.js'
import { listTotpSecrets, setTotpSecret, useRecoveryCode, useStep } from '../../db/totp.js'
import type { Db, TotpRow } from '../../db/tables.js'
import type { Context } from './context.js'

/** Seconds that the clock of a phone may differ, and the length of a step. */
const TOLERANCE = 30
const RECOVERY_CODES = 10
/** Without letters that look alike. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789'

/** What proves a second factor. It works once. */
export type Proof = { step: number } | { codeHash: string }

/** Reads a code of an authenticator app, or a recovery code; undefined where it is neither, or wrong. */
export async function proofOf(
  ctx: Pick<Context, 'now' | 'secret' | 'previousSecret'>,
  totp: TotpRow,
  given: string,
): Promise<Proof | undefined> {
  const code = given.replaceAll(/[\s-]/g, '').toLowerCase()
  if (!/^\d{6}$/.test(code)) return { codeHash: hashOf(code) }
  const secret = decrypted(ctx, totp)
  if (secret === undefined) return undefined
  const { verify } = await import('otplib')
  const epoch = Math.floor(ctx.now().getTime() / 1000)
  const result = await verify({ secret, token: code, epoch, epochTolerance: TOLERANCE })
  return result.valid && 'timeStep' in result ? { step: result.timeStep } : undefined
}

/** Uses up a proof in a transaction, so that of two requests with one code the second is refused. */
export async function useProof(db: Db, userId: string, proof: Proof): Promise<void> {
  const isNew =
    'step' in proof ? await useStep(db, userId, proof.step) : await useRecoveryCode(db, userId, proof.codeHash)
  if (!isNew) throw wrongCode()
}

export const wrongCode = () =>
  new AppError('TOTP_WRONG', 'The code is wrong or was used before. Wait for the next one, or give a recovery code.')

/** A new secret, and the address that authenticator apps read. */
export async function newTotpSecret(issuer: string, label: string): Promise<{ secret: string; uri: string }> {
  const { generateSecret, generateURI } = await import('otplib')
  const secret = generateSecret()
  return { secret, uri: generateURI({ issuer, label, secret }) }
}

/** New recovery codes of 79 bits each, so a fast hash is enough. */
export function newRecoveryCodes(): { codes: string[]; hashes: string[] } {
  const codes = Array.from({ length: RECOVERY_CODES }, () => {
    const letters = Array.from({ length: 16 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
    return letters.replaceAll(/(.{4})(?=.)/g, '$1-')
  })
  return { codes, hashes: codes.map((code) => hashOf(code.replaceAll('-', ''))) }
}

const hashOf = (code: string): string => createHash('sha256').update(`recovery\n${code}`).digest('hex')

/** Encrypted with a key that the secret of the site derives: a copy of the database alone makes no codes. */
export function encrypted(siteSecret: string, userId: string, text: string): string {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', keyOf(siteSecret), nonce).setAAD(Buffer.from(userId))
  const bytes = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), bytes]).toString('base64url')
}

/** Undefined where the secret of the site was lost and replaced. */
function decrypted(ctx: Pick<Context, 'secret' | 'previousSecret'>, totp: TotpRow): string | undefined {
  const previous = ctx.previousSecret?.()?.secret // a rotation may not have come here yet
  return decrypt(ctx.secret(), totp) ?? (previous === undefined ? undefined : decrypt(previous, totp))
}

/** Encrypts the secret of a second factor again, for a new user id. Undefined where it cannot be decrypted. */
export function encryptedAnew(
  ctx: Pick<Context, 'secret' | 'previousSecret'>,
  totp: TotpRow,
  userId: string,
): string | undefined {
  const text = decrypted(ctx, totp)
  return text === undefined ? undefined : encrypted(ctx.secret(), userId, text)
}

function decrypt(siteSecret: string, { userId, secret }: Pick<TotpRow, 'userId' | 'secret'>): string | undefined {
  const bytes = Buffer.from(secret, 'base64url')
  try {
    const cipher = createDecipheriv('aes-256-gcm', keyOf(siteSecret), bytes.subarray(0, 12), { authTagLength: 16 })
    cipher.setAAD(Buffer.from(userId)).setAuthTag(bytes.subarray(12, 28))
    return Buffer.concat([cipher.update(bytes.subarray(28)), cipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

const keyOf = (siteSecret: string): Buffer =>
  Buffer.from(hkdfSync('sha256', siteSecret, '', 'feedbackctl second factors', 32))

/** Encrypts all secrets anew after the secret of the site was rotated. */
export async function reencryptTotp(db: Db, from: string, to: string): Promise<void> {
  for (const row of await listTotpSecrets(db)) {
    const text = decrypt(from, row)
    if (text !== undefined) await setTotpSecret(db, { ...row, secret: encrypted(to, row.userId, text) })
  }
}
