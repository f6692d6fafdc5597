// Stands in for @node-rs/bcrypt, see vitest.config.ts: the real one, which counts what it checks.
import { createRequire } from 'node:module'
import type * as Bcrypt from '@node-rs/bcrypt'

const real = createRequire(import.meta.url)('@node-rs/bcrypt') as typeof Bcrypt
let costs: number[] = []

export const { hash } = real

export const verify: typeof Bcrypt.verify = (password, stored) => {
  costs.push(Number(String(stored).slice(4, 6)))
  return real.verify(password, stored)
}

/** The costs of the hashes that passwords are checked against from here on. */
export const countBcrypt = (): readonly number[] => (costs = [])
