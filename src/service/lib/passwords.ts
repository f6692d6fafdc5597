import { AppError } from '../../core/errors.js'
import { invalidField } from '../../core/fields.js'
import type { UserRow } from '../../db/tables.js'
import { bcryptCostHere, bcryptMatches, isBcryptHash, isWholeForBcrypt } from './bcrypt.js'
import type { Context } from './context.js'
import { Queue, type Asker } from './queue.js'

/** argon2id with 19 MiB, two passes and one lane, as OWASP recommends; about 30 ms. */
// 2 is Argon2id; isolatedModules cannot import the const enum of the package
const COST = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 }

const MIN = 8
const MAX = 256

/**
 * A hash of the same cost that no password matches. Unknown addresses are checked against it, so both refusals take the
 * same time.
 */
const DUMMY_HASH = '$argon2id$v=19$m=19456,t=2,p=1$tFRo//LbpznJEl7YHMbHsg$4FhE/1hqjlz0xyFMyYgdwpilAhxSCEU+BA77Ou5tW7E'

const queue = new Queue()

/** A sign-in of somebody else goes before the tenth of the same account or address: `asker` says who waits. */
export async function hashPassword(password: string, asker: Asker = {}): Promise<string> {
  const { hash } = await import('@node-rs/argon2')
  return queue.run(asker, () => hash(password, COST))
}

/** Hashes the new password of an account after all checks. A dry run stores nothing, so it costs no hash. */
export async function hashNewPassword(
  { commonPasswords, client, dryRun }: Pick<Context, 'commonPasswords' | 'client' | 'dryRun'>,
  password: string | null | undefined,
  account?: string,
): Promise<string> {
  assertNewPassword(password)
  if (commonPasswords === 'refuse') await assertUncommonPassword(password)
  if (dryRun) return ''
  return hashPassword(password, { client, ...(account !== undefined && { account }) })
}

type Account = Pick<UserRow, 'password'>

/** The hash of a password. Undefined for an account without one: null, or the `!` of a server of the version before. */
const hashOf = ({ password }: Account): string | undefined =>
  password?.startsWith('$argon2id$') ? password : undefined

/** The bcrypt hash of an imported account. The first sign-in replaces it. */
const importedHashOf = ({ password }: Account): string | undefined =>
  password !== null && isBcryptHash(password) ? password : undefined

export const hasPassword = (account: Account): boolean => (hashOf(account) ?? importedHashOf(account)) !== undefined

/**
 * Returns false, after the time of a full check, where there is no account, or none with a password. A check that fails
 * takes the same time for every account.
 */
export async function passwordMatches(
  { db, client }: Pick<Context, 'db' | 'client'>,
  account: Account | undefined,
  password: string,
  address?: string,
): Promise<boolean> {
  const { verify } = await import('@node-rs/argon2')
  const hashed = account && hashOf(account)
  const imported = account && importedHashOf(account)
  const highest = await bcryptCostHere(db)
  return queue.run({ client, ...(address !== undefined && { account: address }) }, async () => {
    if ((await verify(hashed ?? DUMMY_HASH, password)) && hashed !== undefined) return true
    return bcryptMatches(imported, password, highest)
  })
}

/**
 * Hashes a password anew after it has matched an imported hash. Undefined if there is none to replace, or if bcrypt has
 * checked only a part of the password.
 */
export async function renewedHash(account: Account, password: string, asker: Asker): Promise<string | undefined> {
  if (importedHashOf(account) === undefined || !isWholeForBcrypt(password)) return undefined
  return hashPassword(password, asker)
}

/**
 * Throws PASSWORD_MISSING, or a VALIDATION_ERROR for less than 8 or more than 256 characters. No error contains the
 * password.
 */
export function assertNewPassword(password: string | null | undefined): asserts password is string {
  assertPasswordGiven(password)
  const length = [...password].length
  if (length >= MIN && length <= MAX) return
  const rule = `${MIN} to ${MAX} characters long`
  throw invalidField({
    code: length < MIN ? 'TOO_SHORT' : 'TOO_LONG',
    message: `The password must be ${rule}; this one has ${length}.`,
    field: 'password',
    rule,
  })
}

/** Throws PASSWORD_COMMON for one of the 49,000 most common passwords, in any letter case. */
export async function assertUncommonPassword(password: string): Promise<void> {
  const { commonPasswords } = await import('./commonpasswords.js')
  if (commonPasswords.includes(password.toLowerCase()))
    throw new AppError(
      'PASSWORD_COMMON',
      'This is one of the most common passwords, which others guess first. Choose another, such as four random words.',
    )
}

export function assertPasswordGiven(password: string | null | undefined): asserts password is string {
  if (!password) throw new AppError('PASSWORD_MISSING', 'A password is needed.')
}

/** For an account that has none where it is asked for. `purpose` completes "Ask for a link by mail to …". */
export const noPassword = (purpose: string): AppError =>
  new AppError('INCORRECT_PASSWORD', `This account has no password. Ask for a link by mail to ${purpose}.`, {
    reason: 'no-password',
  })
