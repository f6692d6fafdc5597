import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { withoutCachedHashes } from '../support/argon2.js'
import { makeSite, type TestSite } from '../support/site.js'

const PASSWORD = 'long enough for all'
const OTHERS = 24
/** How many hashes may end until something else had its turn: those that run, and once more as many. */
const FEW = 9

/** Sends sign-ins, and returns how many of them had been answered when something else that is begun with them was. */
async function answeredBefore(others: (() => Promise<unknown>)[], one: () => Promise<unknown>): Promise<number> {
  let answered = 0
  const sent = others.map((send) => send().then(() => answered++))
  await Promise.race(sent)
  await one()
  const before = answered
  await Promise.all(sent)
  return before
}

const signIn = (site: TestSite, email: string, address: string) => async () => {
  const body = { email, password: PASSWORD }
  expect((await site.http('POST /auth/login', { body, headers: { 'x-forwarded-for': address } })).status).toBe(200)
}

describe('a sign-in beside many others', () => {
  const [ADA, BOB] = ['ada@example.org', 'bob@example.org']
  const prepare = async () => {
    withoutCachedHashes()
    const site = await makeSite('sqlite', { trustProxy: 'loopback' })
    for (const email of [ADA, BOB]) await site.member([], { email, password: PASSWORD })
    return site
  }
  const times = <T>(value: T): T[] => Array.from({ length: OTHERS }, () => value)

  it('does not wait for those of another address', async () => {
    const site = await prepare()
    const others = times(signIn(site, ADA, '198.51.100.1'))
    expect(await answeredBefore(others, signIn(site, BOB, '198.51.100.2'))).toBeLessThan(FEW)
    expect(await answeredBefore(others, signIn(site, ADA, '198.51.100.2')), 'the same account').toBeLessThan(FEW)
  })

  it('does not wait for those of another account, or of many accounts at another address', async () => {
    const site = await prepare()
    const others = times(signIn(site, ADA, '198.51.100.1'))
    expect(await answeredBefore(others, signIn(site, BOB, '198.51.100.1'))).toBeLessThan(FEW)
    const unknown = Array.from({ length: OTHERS }, (_, n) => () => {
      const body = { email: `u${n}@example.org`, password: PASSWORD }
      return site.http('POST /auth/login', { body, headers: { 'x-forwarded-for': '198.51.100.1' } })
    })
    expect(await answeredBefore(unknown, signIn(site, BOB, '198.51.100.2'))).toBeLessThan(FEW)
  })

  it('leaves threads to files and names', async () => {
    const site = await prepare()
    const others = times(signIn(site, ADA, '198.51.100.1'))
    expect(await answeredBefore(others, () => readFile(import.meta.filename))).toBeLessThan(FEW)
  })
})
