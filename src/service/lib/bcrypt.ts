import type { Db } from '../../db/tables.js'
import { highestBcryptCost } from '../../db/users.js'

/** The bcrypt hashes that can be imported. A higher cost would slow down everybody's sign-ins. */
const FORM = /^\$2[aby]\$(0[4-9]|1[0-4])\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{30}[.CGKOSWaeimquy26]$/
const MAX_COST = 14
/** bcrypt ignores the bytes after these. */
const MAX_BYTES = 72

export const isBcryptHash = (text: string): boolean => FORM.test(text)

const costOf = (hash: string): number => Number(hash.slice(4, 6))

/** A hash that no password matches. */
const dummyHash = (cost: number): string =>
  `$2b$${String(cost).padStart(2, '0')}$tFRoLLbpznJEl7YHMbHsge4FhE1hqjlz0xyFMyYgdwpilAhxSCEU.`

/** The highest bcrypt cost of this site, or 0 if it has no such hash. */
export async function bcryptCostHere(db: Db): Promise<number> {
  const cost = Number((await highestBcryptCost(db)) ?? 0)
  return Number.isInteger(cost) ? Math.min(cost, MAX_COST) : MAX_COST
}

/**
 * Checks a password against a bcrypt hash, on the threads of libuv. Every failed check does the work of the highest cost
 * of the site, also without a hash, so that its time reveals nothing about the account.
 */
export async function bcryptMatches(hash: string | undefined, password: string, highest: number): Promise<boolean> {
  const { verify } = await import('@node-rs/bcrypt')
  if (hash === undefined) {
    if (highest > 0) await verify(password, dummyHash(highest))
    return false
  }
  const matches = await verify(password, hash)
  // Each cost takes twice the time of the one below
  for (let cost = costOf(hash); cost < highest; cost++) await verify(password, dummyHash(cost))
  return matches
}

/** Whether bcrypt checks the whole password. It ignores what comes after 72 bytes. */
export const isWholeForBcrypt = (password: string): boolean => Buffer.byteLength(password) <= MAX_BYTES
