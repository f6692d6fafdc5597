import { AppError } from '../../core/errors.js'
import { invalidField } from '../../core/fields.js'

/** argon2id with 19 MiB, two passes, one lane: OWASP's recommendation, about 30 ms. */
const COST = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } // 2 is Argon2id; the package's const enum is not importable here

const MIN = 8
const MAX = 256

/** A hash of nobody's password with the same cost: checked for unknown people, so that both answers take the same time. */
const NOBODY = '$argon2id$v=19$m=19456,t=2,p=1$tFRo//LbpznJEl7YHMbHsg$4FhE/1hqjlz0xyFMyYgdwpilAhxSCEU+BA77Ou5tW7E'

export async function hashPassword(password: string): Promise<string> {
  const { hash } = await import('@node-rs/argon2')
  return hash(password, COST)
}

/** Stored for whoever was invited and has set no password yet: no password matches it. */
export const NO_PASSWORD = '!'

/** `stored` undefined means that there is no such person: like anything that is no hash never true, in the time a check takes. */
export async function passwordMatches(stored: string | undefined, password: string): Promise<boolean> {
  const { verify } = await import('@node-rs/argon2')
  const hashed = stored?.startsWith('$argon2id$') ? stored : undefined
  const matches = await verify(hashed ?? NOBODY, password)
  return matches && hashed !== undefined
}

/** Throws PASSWORD_MISSING, or a VALIDATION_ERROR outside 8 to 256 characters. The password is in neither. */
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

export function assertPasswordGiven(password: string | null | undefined): asserts password is string {
  if (!password) throw new AppError('PASSWORD_MISSING', 'A password is needed.')
}
