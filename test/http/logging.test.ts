import type { IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { clientAddress, trustOf } from '../../src/http/lib/logging.js'
import { clientKey } from '../../src/service/lib/clients.js'
import { heapUsed } from '../support/heap.js'
import { makeSite, OWNER } from '../support/site.js'

it('no token in a URL is logged, wherever it is', async () => {
  const site = await makeSite('sqlite')
  await site.owner()
  const token = await site.mailedToken(OWNER.email)
  for (const url of [
    `//email-verify/?token=${token}`,
    `//email-verify?x=1&%74oken=${token}`,
    `//PASSWORD-RESET/confirm/?utm=1&token=${token}`,
    `//password-reset/confirm?a?token=${token}`,
    `//nowhere/?token=${token}`,
    `//%zz?token=${token}`,
    `/auth/setup?token=${token}`,
    `/boards?after=x&Token=${token}&page=1`,
    `/boards?page=1&%74oken=${token}`,
    `/nowhere?resetToken=${token}`,
  ]) {
    await site.http(`GET ${url}`)
  }
  const log = site.logs.join('')
  expect(log).not.toContain(token)
  expect(log).toContain('"url":"/email-verify/?***"')
  expect(log).toContain('"url":"/api/v1/boards?after=x&Token=***&page=1"')
})

it('no header is kept in memory for the address that was read from it', () => {
  const trust = trustOf('loopback')
  const before = heapUsed()
  for (let number = 0; number < 3000; number++) {
    const forwarded = Buffer.from(
      `${'x'.repeat(15_000)}${number}, 2001:db8:1234:5678:9abc:def0:1234:${number}`,
    ).toString()
    for (const header of [forwarded, forwarded.slice(0, -20)]) {
      const request = { headers: { 'x-forwarded-for': header }, socket: { remoteAddress: '127.0.0.1' } } as unknown
      const address = clientAddress(request as IncomingMessage, trust) ?? ''
      expect(clientKey({ address, isForwarded: true })).toBeDefined()
    }
  }
  expect(heapUsed() - before).toBeLessThan(10_000_000) // of 90 MB
})
