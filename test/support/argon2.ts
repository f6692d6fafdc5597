// Stands in for @node-rs/argon2, see vitest.config.ts: the real one, at its real cost, but each password is hashed once
// and each pair checked once, because most tests sign in with the same few passwords.
import { createRequire } from 'node:module'
import type * as Argon2 from '@node-rs/argon2'
import { cleanup } from './cleanup.js'

type Hash = typeof Argon2.hash
type Verify = typeof Argon2.verify

const real = createRequire(import.meta.url)('@node-rs/argon2') as typeof Argon2
const hashes = new Map<string, Promise<string>>()
const checks = new Map<string, Promise<boolean>>()

let isCached = true
let beforeNextCheck: (() => Promise<unknown>) | undefined
const calls = { hash: 0, verify: [] as string[] }

/** Computes each hash until the end of the test, for tests of what hashing takes. */
export function withoutCachedHashes(): void {
  isCached = false
  cleanup(() => (isCached = true))
}

/** Counts from here on: how many hashes were made, and the stored hashes that passwords were checked against. */
export const countHashes = (): Readonly<typeof calls> => Object.assign(calls, { hash: 0, verify: [] })

/** Something that happens while the next password is checked. */
export const whileChecking = (work: () => Promise<unknown>): void => void (beforeNextCheck = work)

export const hash: Hash = (password, options) => {
  calls.hash++
  const compute = () => real.hash(password, options)
  return isCached ? remembered(hashes, JSON.stringify([String(password), options]), compute) : compute()
}

export const verify: Verify = async (stored, password) => {
  calls.verify.push(String(stored))
  const work = beforeNextCheck
  beforeNextCheck = undefined
  await work?.()
  const compute = () => real.verify(stored, password)
  return isCached ? remembered(checks, JSON.stringify([String(stored), String(password)]), compute) : compute()
}

function remembered<T>(known: Map<string, Promise<T>>, key: string, compute: () => Promise<T>): Promise<T> {
  const found = known.get(key) ?? compute()
  known.set(key, found)
  return found
}
