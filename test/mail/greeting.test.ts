import { describe, expect, it } from 'vitest'
import * as auth from '../../src/service/auth.js'
import * as settings from '../../src/service/settings.js'
import * as users from '../../src/service/users.js'
import { makeSite, OWNER, type TestSite } from '../support/site.js'

const newest = (site: TestSite) =>
  site.db.selectFrom('deliveries').selectAll().orderBy('deliveryId', 'desc').executeTakeFirstOrThrow()

/** The greeting of the mail that a stranger causes by signing up with this name. */
async function greeted(name: string): Promise<string> {
  const site = await makeSite('sqlite')
  await site.owner()
  await site.call(auth.signup, { email: 'bob@example.org', password: 'correct horse', name })
  const [first = '', ...rest] = (await newest(site)).text.split('\n')
  expect(rest.join('\n')).not.toContain(name.slice(0, 20))
  return first
}

describe('a mail greets by name', () => {
  it.each([
    'Ada',
    'Ada Lovelace',
    "Conan O'Brien",
    'J. R. Tolkien',
    'Jean-Luc Picard',
    'Зоя',
    '李小龙',
    'José Núñez',
    'می\u200cنا',
  ])('%s', async (name) => expect(await greeted(name)).toBe(`Hello ${name},`))
})

describe('a mail repeats no words of a stranger', () => {
  it.each([
    'Your account is hacked, visit http://evil.example/ now',
    'evil.example',
    'www.evil.example',
    'Visit evil。example',
    'Call 555 1234',
    'Your account is hacked',
    'Account hacked! Act',
    'click <a href=//x>here</a>',
    'mail@evil.example',
    'a'.repeat(41),
    'https:x',
    '$100',
    'Eve: pay',
  ])('%s', async (name) => expect(await greeted(name)).toBe('Hello,'))

  it('in an invitation or a reset either', async () => {
    const site = await makeSite('sqlite')
    await site.owner()
    await site.call(users.create, { email: 'eve@example.org', name: 'Visit http://evil.example' })
    expect((await newest(site)).html).not.toContain('evil')
    await site.db.updateTable('users').set({ name: 'Visit evil.example' }).execute()
    await site.call(auth.resetPassword, { email: OWNER.email })
    expect((await newest(site)).text).toMatch(/^Hello,\n/)
  })

  it('and no control characters of the title', async () => {
    const site = await makeSite('sqlite')
    await site.owner()
    await site.db.updateTable('settings').set({ title: 'Moon\u202ebase\u009b\n' }).execute()
    await site.call(auth.resetPassword, { email: OWNER.email })
    const { subject, text, html } = await newest(site)
    expect(subject + html + text).not.toMatch(/[\u202e\u009b]/)
    expect(subject).not.toContain('\n')
  })
})

it('a mail looks like the site: its title, its logo, and its accent colour under a text that can be read', async () => {
  const site = await makeSite('sqlite')
  await site.owner()
  const mail = async () => {
    await site.call(auth.resetPassword, { email: OWNER.email })
    return (await newest(site)).html
  }
  const logo = 'https://example.org/logo.png?a=1&b=2'
  expect(await mail()).not.toContain('<img')
  await site.call(settings.update, { title: 'Moon & Mars', accentColor: 'ffe600', logo })
  const html = await mail()
  expect(html).toMatch(/background:#ffe600;color:#000000[^>]*>Choose a new password<\/a>/)
  expect(html).toMatch(/<img src="[^"]+logo\.png\?a=1&amp;b=2" alt=""/)
  expect(html).toMatch(/>Moon &amp; Mars<\/h1>/)
  await site.db.updateTable('settings').set({ logo: 'http://example.org/logo.png', accentColor: 'red' }).execute()
  const plain = await mail()
  expect(plain).not.toContain('<img')
  expect(plain).toContain('background:#1f5fd6;color:#ffffff')
})
