import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { move } from '../../src/service/postmoves.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import { NARROW, serveSite, visit, WIDE } from '../support/browser.js'

const STAGES = ['Planned', 'In progress', 'Done', 'Declined']

async function open({
  as = 'owner',
  ...window
}: {
  as?: 'owner' | 'member'
  script?: boolean
  viewport?: typeof WIDE
  expected?: RegExp
}) {
  const site = await serveSite('sqlite')
  const owner = await site.owner()
  const token = as === 'owner' ? owner : (await site.member()).token
  for (const name of STAGES)
    await site.call(roadmaps.create, { name, display: true, ...(name === 'Declined' && { kind: 'declined' }) })
  for (const title of ['Dark mode', 'Export']) await site.call(posts.create, { title })
  await site.call(move, { ids: ['1', '2'], roadmapId: 'planned' })
  const { page } = await visit({ viewport: WIDE, ...window })
  await page.context().addCookies([{ name: 'feedbackctl', value: token, url: site.url }])
  await page.goto(`${site.url}/roadmaps`)
  const place = async (id: string) => (await site.call(posts.show, { slug: id })).post.roadmap?.name
  return { site, page, place, token }
}

const card = (page: Page, title: string) => page.locator('.post', { hasText: title })
const column = (page: Page, name: string) => page.locator('.column', { hasText: name })

it('a card of the roadmap is dragged to another column, and back by the undo', async () => {
  const { page, place } = await open({})
  await card(page, 'Dark mode').dragTo(column(page, 'Done'))
  await expect.poll(() => column(page, 'Done').locator('.flash').innerText()).toContain('The status is changed.')
  expect(await column(page, 'Done').locator('h2 >> text=Dark mode').count()).toBe(1)
  expect(await place('1')).toBe('Done')
  expect(
    await card(page, 'Dark mode')
      .locator('.flash')
      .evaluate((flash) => flash === document.activeElement),
  ).toBe(true)
  await page.click('.flash button')
  await expect.poll(() => column(page, 'Planned').locator('.post').count()).toBe(2)
  await card(page, 'Dark mode').dragTo(page.locator('main >> text=Declined'))
  await expect.poll(() => place('1')).toBe('Declined')
})

it.each([
  { language: 'en', towardsEnd: 'ArrowRight', back: 'ArrowLeft' },
  { language: 'ar', towardsEnd: 'ArrowLeft', back: 'ArrowRight' },
])('Shift and an arrow key move the card that has the focus, and again: %o', async ({ language, towardsEnd, back }) => {
  const { site, page, place } = await open({})
  await page.context().addCookies([{ name: 'feedbackctl-language', value: language, url: site.url }])
  await page.reload()
  await card(page, 'Dark mode').locator('h2 a').focus()
  await page.keyboard.press(`Shift+${back}`) // there is no column before the first one
  await page.keyboard.press(`Shift+${towardsEnd}`)
  await expect.poll(() => place('1')).toBe('In progress')
  await page.locator('.column .flash').waitFor()
  await page.keyboard.press(`Shift+${towardsEnd}`)
  await expect.poll(() => place('1')).toBe('Done')
  await column(page, 'Done').locator('.flash').waitFor()
  await page.keyboard.press(`Shift+${towardsEnd}`)
  await page.keyboard.press(`Shift+${back}`)
  await expect.poll(() => place('1')).toBe('In progress')
})

it('a dialog asks where to, and a card that came by “more” goes there too', async () => {
  const { site, page } = await open({})
  for (let index = 3; index <= 12; index++) {
    await site.call(posts.create, { title: `Post ${index}` })
    await site.call(move, { ids: [String(index)], roadmapId: 'planned' })
  }
  await page.reload()
  await page.click('.column .more')
  await expect.poll(() => column(page, 'Planned').locator('.post').count()).toBe(12)
  await page.locator('.post').last().locator('.move').click()
  const dialog = page.getByRole('dialog')
  const title = await page.locator('.post').last().locator('h2').innerText()
  expect((await dialog.innerText()).split('\n').filter(Boolean)).toEqual([
    `Move “${title}”`,
    'With a mouse, drag the card to another column. With the keyboard, press Shift and an arrow key on the card.',
    'Tell nobody',
    ...STAGES,
    'No status',
    'Cancel',
  ])
  await page.keyboard.press('Escape')
  expect(await page.getByRole('dialog').count()).toBe(0)
  expect(await page.locator('.move:focus').count()).toBe(1)
  await page.keyboard.press('Enter')
  await dialog.locator('text=Cancel').click()
  expect(await page.getByRole('dialog').count()).toBe(0)
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Done' }).click()
  await column(page, 'Done').locator('.flash').waitFor()
  expect(new URL(page.url()).pathname).toBe('/roadmaps')
  expect(await column(page, 'Done').locator('h2').allInnerTexts()).toContain(title)
})

it('without a script the link leads to the form, and the form back to the card', async () => {
  const { page, place } = await open({ script: false, viewport: NARROW })
  await card(page, 'Export').locator('.move').click()
  expect(await page.innerText('h1')).toBe('Move “Export”')
  await page.click('main >> text=Cancel')
  await card(page, 'Export').locator('.move').click()
  await page.getByRole('button', { name: 'In progress' }).click()
  expect(await page.innerText('.flash')).toContain('The status is changed.')
  expect(new URL(page.url())).toMatchObject({ pathname: '/roadmaps', hash: '#post-2' })
  expect(await place('2')).toBe('In progress')
  await column(page, 'In progress').locator('h2 a').first().click()
  await card(page, 'Export').locator('.move').click()
  await page.getByRole('button', { name: 'No status' }).click()
  expect(new URL(page.url()).pathname).toBe('/roadmaps/in-progress')
  expect(await place('2')).toBeUndefined()
})

it('a card that somebody else has moved meanwhile stays there, and the page says so', async () => {
  const { site, page, place } = await open({ expected: /409/ })
  await site.call(move, { ids: ['1'], roadmapId: 'done' })
  await card(page, 'Dark mode').dragTo(column(page, 'In progress'))
  await page.locator('.summary').waitFor()
  expect((await page.innerText('.summary')).replaceAll(/[\u2066-\u2069]/g, '')).toMatch(/Done.*In progress/)
  expect(await place('1')).toBe('Done')
  await page.getByRole('button', { name: 'Save anyway' }).click()
  await column(page, 'In progress').locator('.flash').waitFor()
  expect(await place('1')).toBe('In progress')
})

it('who may not change a status sees no way to', async () => {
  const { site, page, token } = await open({ as: 'member' })
  expect(await page.locator('.move').count()).toBe(0)
  expect(await page.content()).not.toMatch(/data-roadmap|roadmap\.\w+\.js/)
  const { post } = await site.call(posts.show, { slug: '1' })
  const shown = await page.request.get(`${site.url}/posts/${post.slug}/status`)
  expect(shown.status()).toBe(404)
  const sent = await page.request.post(`${site.url}/posts/${post.slug}/status`, {
    form: { roadmapId: 'done', to: '/roadmaps' },
    headers: { origin: site.url, cookie: `feedbackctl=${token}` },
  })
  expect(sent.status()).toBe(403)
})
