import { rateLimited } from '../../core/limits.js'
import { count, findCounters, forget, putCounter } from '../../db/limits.js'
import type { TotpRow, UserRow } from '../../db/tables.js'
import { change } from './change.js'
import type { Context } from './context.js'
import { keyOf } from './limits.js'
import { queueLetter } from './mailings.js'
import { proofOf, type Proof } from './totp.js'

/** For how long wrong codes count, from the first of them. */
const PERIOD_MS = 7 * 24 * 3600 * 1000
/** Wrong codes per period before further attempts are delayed. Mistyping does not reach it. */
const FREE = 20
/** The first wait. Each further wrong code doubles it. */
const FIRST_MS = 60 * 1000
const LONGEST_MS = 24 * 3600 * 1000

const keysOf = (userId: string) => ({ wrong: keyOf('wrong codes', userId), wait: keyOf('wait for codes', userId) })

/**
 * Reads a code as `proofOf` does, and counts the wrong ones of an account for days, from all addresses together: the
 * sign-in limit alone allows thousands of guesses a day. A right code does not reset the count, or the sign-ins of the
 * person would give the attacker new guesses. Recovery codes are too long to guess, and always work.
 */
export async function countedProof(
  ctx: Context,
  user: UserRow,
  totp: TotpRow,
  code: string,
): Promise<Proof | undefined> {
  const proof = await proofOf(ctx, totp, code)
  if (!ctx.client || (proof && 'codeHash' in proof)) return proof
  const { wrong, wait } = keysOf(user.userId)
  const time = ctx.now().getTime()
  const at = (milliseconds: number) => new Date(time + milliseconds).toISOString()
  // A dry run reveals as much about a code as a sign-in, so it counts too
  await change({ ...ctx, dryRun: false }, async (tx) => {
    // Locks the row even for a right code, so that concurrent guesses cannot bypass the delay
    const [counted] = await count(tx.db, [{ key: wrong, points: proof ? 0 : 1, until: at(PERIOD_MS) }], at(0))
    const [waiting] = await findCounters(tx.db, [wait], at(0))
    if (waiting) throw codesLimited((Date.parse(waiting.until) - time) / 1000)
    const over = (counted?.points ?? 0) - FREE
    if (proof || over < 0) return
    await putCounter(tx.db, { key: wait, points: 0, until: at(Math.min(FIRST_MS * 2 ** over, LONGEST_MS)) })
    if (over > 0) return
    if (ctx.mail) await queueLetter(tx, 'warning', user)
    tx.record('user.totp_guessed', user.userId)
  })
  return proof
}

/** Called after a reset by mail or by the owner: an attacker does not know that password. */
export const forgetWrongCodes = (db: Context['db'], userId: string) => forget(db, Object.values(keysOf(userId)))

const codesLimited = (seconds: number) =>
  rateLimited('Too many wrong codes for this account.', seconds, {
    code: 'TOTP_LIMITED',
    otherwise: 'give a recovery code',
  })
