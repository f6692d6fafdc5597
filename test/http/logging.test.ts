import { expect, it } from 'vitest'
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
