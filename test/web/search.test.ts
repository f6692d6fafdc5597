import { expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import { NARROW, serveSite, visit, WIDE } from '../support/browser.js'
import { engines, makeSite } from '../support/site.js'

it.each(engines)('a search is limited to a status, and led out of it where nothing is found, on %s', async (engine) => {
  const site = await serveSite(engine)
  await site.owner()
  for (const name of ['Planned', 'Shipped']) await site.call(roadmaps.create, { name, display: true })
  for (const [title, roadmapId] of [
    ['Dark mode', 'planned'],
    ['Dark icons', null],
  ] as const) {
    const { post } = await site.call(posts.create, { title })
    await site.call(posts.update, { id: post.postId, roadmapId, partial: true })
  }
  const icons = await site.call(posts.show, { id: '2' })
  await site.call(comments.create, { post_id: icons.post.postId, body: 'In the **evening**.' })
  await site.call(boards.create, { name: 'Ideas', display: true })
  for (const window of [
    { script: true, viewport: WIDE },
    { script: false, viewport: NARROW },
  ]) {
    const { page } = await visit(window)
    const titles = () => page.locator('.post h2').allInnerTexts()
    await page.goto(`${site.url}/search?q=evening`)
    expect(await titles()).toEqual(['Dark icons'])
    expect(await page.locator('.excerpt').innerText()).toMatch(/^Comment by .+: In the evening\.$/)
    expect(await page.locator('.excerpt mark').allInnerTexts()).toEqual(['evening'])
    await page.goto(`${site.url}/search?q=${encodeURIComponent('"dark mode" board:nowhere')}`)
    expect(await page.locator('.empty').innerText()).toContain('Nothing here is called board:nowhere.')
    await page.click('details.history summary')
    expect(await page.locator('details.history code').allInnerTexts()).toContain('votes:>10')
    await page.goto(`${site.url}/search?q=dark`)
    expect(await titles()).toEqual(['Dark icons', 'Dark mode'])
    expect(await page.locator('.post h2 mark').allInnerTexts()).toEqual(['Dark', 'Dark'])
    await page.selectOption('select[name=roadmap]', 'planned')
    await page.click('.search-page button')
    await page.waitForURL('**/search?q=dark&roadmap=planned')
    expect(await titles()).toEqual(['Dark mode'])
    expect(await page.inputValue('select[name=roadmap]')).toBe('planned')
    await page.selectOption('select[name=roadmap]', 'shipped')
    await page.click('.search-page button')
    await page.click('.empty >> text=Search in any status')
    expect(await titles()).toHaveLength(2)

    await page.goto(`${site.url}/?sort=newest`)
    await page.locator('.filters').evaluate((filters) => filters.querySelector('details')?.setAttribute('open', ''))
    await page.focus('.filters input[type=search]')
    await page.keyboard.type('mode')
    for (const key of ['Tab', 'ArrowDown', 'Tab', 'ArrowDown']) await page.keyboard.press(key)
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('roadmap')
    await page.selectOption('.filters select[name=board]', '')
    expect(page.url(), 'only the button and Enter send a filter').toBe(`${site.url}/?sort=newest`)
    await page.keyboard.press('Tab')
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Filter')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/?sort=newest&q=mode&roadmap=planned')
    expect(await titles()).toEqual(['Dark mode'])
  }
})

it.each(engines)(
  'the number of a post leads to it: “#7” at once, “7” beside the texts that have it, on %s',
  async (engine) => {
    const site = await makeSite(engine, { siteUrl: 'http://localhost' })
    await site.owner()
    const titles = ['Dark mode', 'Version 1 is slow', 'Hidden', 'Dark icons']
    const { board } = await site.call(boards.create, { name: 'Labs', display: false })
    const made = []
    for (const title of titles)
      made.push((await site.call(posts.create, { title, ...(title === 'Hidden' && { boardId: board.boardId }) })).post)
    const search = async (text: string) => {
      const { status, headers, text: html } = await site.http(`GET //search?q=${encodeURIComponent(text)}`)
      const found = Array.from(html.matchAll(/<h2><a href="[^"]*">(.*?)<\/a>/g), ([, title = '']) => title.replaceAll(/<[^>]*>/g, '')) // prettier-ignore
      return { status, location: headers.location, found }
    }
    expect(await search('#1')).toMatchObject({ status: 303, location: `/posts/${made[0]?.slug}` })
    expect(await search('1')).toMatchObject({ status: 200, found: ['Dark mode', 'Version 1 is slow'] })
    expect(await search('#3'), 'of a board that visitors do not see').toMatchObject({ status: 200, found: [] })
    for (const text of ['3', '99', '#99', '#1 icons', '1'.repeat(200)])
      expect([text, await search(text)]).toMatchObject([text, { status: 200, found: [] }])
  },
)

it('results appear while somebody types, and the address names them', async () => {
  const site = await serveSite('sqlite')
  await site.owner()
  for (const title of ['Dark mode', 'Dark icons']) await site.call(posts.create, { title })
  const { page } = await visit({ viewport: WIDE })
  await page.goto(`${site.url}/search?q=dark`)
  await page.fill('.search-page input', 'icon')
  await expect.poll(() => page.locator('.post h2').allInnerTexts()).toEqual(['Dark icons'])
  expect(await page.locator('.search-status').innerText()).toBe('1 post')
  expect(page.url()).toBe(`${site.url}/search?q=icon`)
  expect(await page.locator('.search-results > .button').getAttribute('href')).toBe('/posts/new?title=icon')
  await page.fill('.search-page input', 'nothing')
  await expect.poll(() => page.locator('.search-status').innerText()).toBe('No posts found')

  await page.fill('.search-page input', '#1')
  await expect.poll(() => page.locator('.search-results h2').allInnerTexts()).toEqual(['Post #1', 'Dark mode'])
  expect(await page.locator('.search-status').innerText()).toBe('1 post')
  expect(page.url()).toBe(`${site.url}/search?q=%231`)
  await page.keyboard.press('Enter')
  await expect.poll(() => page.innerText('h1')).toBe('Dark mode')
})
