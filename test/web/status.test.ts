import { expect, it } from 'vitest'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import { NARROW, serveSite, visit, WIDE } from '../support/browser.js'
import { OWNER } from '../support/site.js'

it.each([
  { script: true, viewport: WIDE },
  { script: false, viewport: NARROW },
])('staff change the status beside the title, by keyboard too: %o', async (window) => {
  const site = await serveSite('sqlite')
  await site.owner()
  await site.member([], { email: 'eve@example.org', password: 'a good password' })
  const { post } = await site.call(posts.create, { title: 'Dark mode' })
  const { page } = await visit(window)
  await page.goto(`${site.url}/login?redirect=/posts/${post.slug}`)
  await page.fill('#field-email', OWNER.email)
  await page.fill('#field-password', OWNER.password)
  await page.click('main form button[type=submit]')
  await page.locator('h1:has-text("Dark mode")').waitFor()
  expect(await page.locator('.menu').count(), 'without a roadmap there is nothing to choose').toBe(0)
  for (const name of ['Planned', 'Waiting for the next supply ship'])
    await site.call(roadmaps.create, { name, display: true })
  await page.reload()

  await page.focus('.menu summary:visible')
  await page.keyboard.press('Enter')
  expect(await page.locator('.menu button:visible').allInnerTexts()).toEqual([
    'Planned',
    'Waiting for the next supply ship',
    'No status',
  ])
  expect(await page.locator('.menu [aria-current]:visible').allInnerTexts()).toEqual(['No status'])
  const { scrollWidth, clientWidth } = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    return { scrollWidth, clientWidth }
  })
  expect(scrollWidth).toBe(clientWidth)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await expect.poll(() => page.innerText('.flash')).toBe('The status is changed.\nUndo')
  expect(await page.innerText('.menu summary:visible')).toContain('Planned')
  await page.click('.history summary')
  expect((await page.innerText('.history ol')).replaceAll(/[\u2068\u2069]/g, '')).toContain('Status set to Planned')
  await page.click('.menu summary:visible')
  await page.click('.menu button:text-is("No status"):visible')
  await expect.poll(() => page.innerText('.menu summary:visible')).toContain('No status')

  await page.click('header .to-logout')
  await page.goto(`${site.url}/login?redirect=/posts/${post.slug}`)
  await page.fill('#field-email', 'eve@example.org')
  await page.fill('#field-password', 'a good password')
  await page.click('main form button[type=submit]')
  await page.locator('h1:has-text("Dark mode")').waitFor()
  expect(await page.locator('.menu').count()).toBe(0)
})

it('a menu closes by Escape, and by a click elsewhere', async () => {
  const site = await serveSite('sqlite')
  await site.owner()
  await site.call(roadmaps.create, { name: 'Planned', display: true })
  const { post } = await site.call(posts.create, { title: 'Dark mode' })
  const { page } = await visit()
  await page.goto(`${site.url}/login?redirect=/posts/${post.slug}`)
  await page.fill('#field-email', OWNER.email)
  await page.fill('#field-password', OWNER.password)
  await page.click('main form button[type=submit]')
  const isOpen = () => page.locator('.menu button:visible').first().isVisible()
  await page.click('.menu summary:visible')
  expect(await isOpen()).toBe(true)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Escape')
  expect(await isOpen()).toBe(false)
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('SUMMARY')
  await page.keyboard.press('Enter')
  expect(await isOpen()).toBe(true)
  await page.click('h2#comments')
  expect(await isOpen()).toBe(false)
})
