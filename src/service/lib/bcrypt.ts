import type { Db } from '../../db/tables.js'
import { highestBcryptCost } from '../../db/users.js'

/** The hashes of other products that are taken: a higher cost would hold up the sign-ins of everybody. */
const FORM = /^\$2[aby]\$(0[4-9]|1[0-4])\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{30}[.CGKOSWaeimquy26]$/
const MAX_COST = 14
/** bcrypt reads no more bytes of a password. */
const MAX_BYTES = 72

export const isBcryptHash = (text: string): boolean => FORM.test(text)

const costOf = (hash: string): number => Number(hash.slice(4, 6))

/** A hash that no password matches. */
const dummyHash = (cost: number): string =>
  `$2b$${String(cost).padStart(2, '0')}$tFRoLLbpznJEl7YHMbHsge4FhE1hqjlz0xyFMyYgdwpilAhxSCEU.`

/** The highest cost of a hash that an account here has, or 0. */
export async function bcryptCostHere(db: Db): Promise<number> {
  const cost = Number((await highestBcryptCost(db)) ?? 0)
  return Number.isInteger(cost) ? Math.min(cost, MAX_COST) : MAX_COST
}

/**
 * Whether the password has this hash. Where there is none, or one of a lower cost than others here, it takes as long as
 * for the highest cost, so that the time does not tell which accounts have which. Runs on the threads of libuv.
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

/** Whether bcrypt has checked all of the password: what comes after its 72 bytes could be anything. */
export const isWholeForBcrypt = (password: string): boolean => Buffer.byteLength(password) <= MAX_BYTES
