import { generate } from 'otplib'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { serveSite, visit } from '../support/browser.js'
import { engines, OWNER, type Engine } from '../support/site.js'

const cases = engines.flatMap((engine) => [true, false].map((script): [Engine, boolean] => [engine, script]))

it.each(cases)(
  'a second factor is turned on, used, renewed and turned off on %s (script: %s)',
  async (engine, script) => {
    const site = await serveSite(engine)
    await site.owner()
    const { page } = await visit({ script, expected: /status of (401|403|422)/ })
    const codeOf = async (secret: string) => {
      site.clock.now = new Date(site.clock.now.getTime() + 30_000)
      return generate({ secret, epoch: site.clock.now.getTime() / 1000 })
    }
    const signIn = async (code?: string) => {
      await page.goto(`${site.url}/login`)
      await page.fill('#field-email', OWNER.email)
      await page.fill('#field-password', OWNER.password)
      await page.click('main form button[type=submit]')
      if (code !== undefined) await enter(code)
    }
    const enter = async (code: string) => {
      await page.fill('#field-code', code)
      await page.click('main form button[type=submit]')
    }
    const signOut = () => page.click('header .to-logout')
    const codesOf = async (shown: Page) => {
      await shown.locator('h1:text-is("Recovery codes")').waitFor()
      return shown.locator('.codes code').allInnerTexts()
    }

    await signIn()
    await page.goto(`${site.url}/settings`)
    await page.click('text=Turn on')
    const secret = (await page.innerText('main code')).replaceAll(' ', '')
    await page.fill('#field-code', '000000')
    await page.click('main form button')
    expect(await page.innerText('.summary')).toContain('The code is wrong')
    expect((await page.innerText('main code')).replaceAll(' ', ''), 'the same key').toBe(secret)
    await page.fill('#field-code', await codeOf(secret))
    await page.click('main form button')
    const codes = await codesOf(page)
    expect(codes).toHaveLength(10)
    await page.click('text=I have saved these codes')
    expect(await page.innerText('main')).toContain('You have 10 recovery codes left.')

    await signOut()
    await signIn()
    expect(await page.innerText('p[role=status]')).toBe('Now enter the code from your authenticator app.')
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('field-code')
    expect(await page.locator('#field-password').count(), 'the password is asked for once').toBe(0)
    expect(await page.title()).toBe('Sign in · Moonbase')
    await enter('000000')
    expect(await page.innerText('.summary')).toContain('The code is wrong')
    await page.click('text=Use another account')
    await page.locator('#field-password').waitFor()
    await signIn()
    site.clock.now = new Date(site.clock.now.getTime() + 601_000)
    await enter(codes[0] ?? '')
    expect(await page.innerText('.summary')).toContain('You took longer than ten minutes.')
    expect(await page.inputValue('#field-email')).toBe(OWNER.email)
    await page.fill('#field-password', OWNER.password)
    await page.click('main form button[type=submit]')
    await enter(codes[0] ?? '')
    await page.locator('header >> text=Sign out').waitFor()
    await signOut()
    await signIn(codes[0])
    expect(await page.innerText('.summary'), 'a recovery code works once').toContain('The code is wrong')
    await signIn(codes[1])
    await page.goto(`${site.url}/settings`)
    expect(await page.innerText('main')).toContain('You have 8 recovery codes left.')

    await page.fill('#field-code', await codeOf(secret))
    await page.keyboard.press('Enter')
    const renewed = await codesOf(page)
    expect(renewed.filter((code) => codes.includes(code))).toEqual([])
    await page.click('text=I have saved these codes')
    await page.fill('#field-code', codes[2] ?? '')
    await page.click('text=Turn off')
    expect(await page.innerText('.summary'), 'the codes before no longer work').toContain('The code is wrong')
    await page.fill('#field-code', renewed[0] ?? '')
    await page.click('text=Turn off')
    expect(await page.innerText('.flash')).toBe('Saved.')
    await signOut()
    await signIn()
    await page.locator('header >> text=Sign out').waitFor()
  },
)

it.each(['en', 'de'])('a page says how long wrong codes make an account wait, and what helps: %s', async (locale) => {
  const site = await serveSite('sqlite', { rates: {} })
  const token = await site.owner()
  const begun = await site.http('POST /totp', { token, body: {} })
  const code = await generate({ secret: begun.body.secret, epoch: site.clock.now.getTime() / 1000 })
  const { recoveryCodes } = (await site.http('POST /totp/enable', { token, body: { code } })).body
  const { email, password } = OWNER
  for (let turn = 0; turn < 20; turn++)
    await site.http('POST /auth/login', { body: { email, password, code: '000000' } })
  const { page } = await visit({ locale, expected: /status of (403|429)/ })
  await page.goto(`${site.url}/login`)
  await page.fill('#field-email', email)
  await page.fill('#field-password', password)
  await page.click('main form button[type=submit]')
  await page.fill('#field-code', '000000')
  await page.click('main form button[type=submit]')
  const words = { en: 'Try again in a minute, or enter a recovery code.', de: 'oder geben Sie einen Wiederherstellungscode ein.' } // prettier-ignore
  expect(await page.innerText('.summary')).toContain(words[locale as 'en'])
  await page.fill('#field-code', recoveryCodes[0])
  await page.click('main form button[type=submit]')
  await page.locator(`header a[href$="/settings"]`).waitFor()
})
