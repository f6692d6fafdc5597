import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { HELD } from '../../src/core/hidden.js'
import { operator } from '../../src/service/lib/access.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as moderation from '../../src/service/moderation.js'
import * as posts from '../../src/service/posts.js'
import { tag } from '../../src/service/posttags.js'
import * as profile from '../../src/service/profile.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as settings from '../../src/service/settings.js'
import * as tags from '../../src/service/tags.js'
import { NARROW, serveSite, visit, WIDE } from '../support/browser.js'
import { makeGate } from '../support/gate.js'

/** Languages with long headings, and the days that make the longest ages in each: 59 minutes, 11 months or 23 hours. */
const AGES = [['en', 59 / 1440], ['en', 350], ['de', 23 / 24], ['fr', 59 / 1440], ['es', 59 / 1440]] as const // prettier-ignore

/** How many lines the text of each element has. */
const linesOf = (page: Page, selector: string) =>
  page.locator(selector).evaluateAll((all) =>
    all.map((each) => {
      const range = document.createRange()
      range.selectNodeContents(each)
      return new Set(Array.from(range.getClientRects(), ({ top }) => top)).size
    }),
  )

it('a count has one line however large it is, and is whole for a screen reader', async () => {
  const site = await serveSite('sqlite')
  await site.owner()
  await site.call(roadmaps.create, { name: 'Planned', display: true })
  for (const votesCount of [9_999, 10_432, 123_456, 1_234_567]) {
    const { post } = await site.call(posts.create, { title: `Dark mode ${votesCount}` })
    await site.call(posts.update, { id: post.postId, roadmapId: 'planned', partial: true })
    await site.db.updateTable('posts').set({ votesCount, commentsCount: votesCount }).where('postId', '=', post.postId).execute() // prettier-ignore
  }
  for (const [window, counts, label] of [
    [{ viewport: WIDE, locale: 'en' }, ['1.2M', '123K', '10K', '9,999'], '1.2M (1,234,567 votes)'],
    [
      { viewport: NARROW, locale: 'de' },
      ['1,2 Mio.', '123.456', '10.432', '9.999'],
      '1,2\u00a0Mio. (1.234.567 Stimmen)',
    ],
  ] as const) {
    const { page } = await visit(window)
    for (const path of ['/?sort=votes', '/roadmaps']) {
      await page.goto(site.url + path)
      const seen = async (selector: string) => (await page.locator(selector).allInnerTexts()).map((text) => text.trim().replaceAll('\u00a0', ' ')) // prettier-ignore
      expect([path, await seen('.vote button'), await seen('.facts [href$="#comments"]')]).toEqual([
        path,
        counts,
        counts,
      ])
      expect([path, await linesOf(page, '.vote button span')]).toEqual([path, [1, 1, 1, 1]])
      expect(await page.locator('.vote button').first().getAttribute('aria-label')).toContain(label)
    }
  }
})

it('a wide list gives each post two lines: its title, and its text with its facts, among them that the team wrote it', async () => {
  const site = await serveSite('sqlite')
  const token = await site.owner()
  await site.call(roadmaps.create, { name: 'Planned', display: true })
  await site.call(boards.create, { name: 'Ideas', display: true })
  for (const contentMarkdown of ['Short.', 'A long text. '.repeat(40), 'Ein-langes-Wort'.repeat(20)])
    await site.http('POST /posts', { token, body: { title: 'Dark mode', contentMarkdown, boardId: 'ideas', roadmapId: 'planned' } }) // prettier-ignore
  for (const [viewport, lines] of [
    [WIDE, 2],
    [{ width: 768, height: 900 }, undefined],
    [NARROW, undefined],
    [{ width: 390, height: 844 }, undefined],
  ] as const) {
    const { page } = await visit({ viewport, locale: 'en' })
    await page.goto(site.url)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width)
    const rows = await page.locator('.post').evaluateAll((all) =>
      all.map((each) => {
        const [title, ...rest] = ['h2', '.excerpt', '.facts'].map((part) => each.querySelector(part)?.getBoundingClientRect()) // prettier-ignore
        const [text, facts] = rest
        return title && text && facts && { isBelow: text.top >= title.bottom, isBeside: facts.left >= text.right && facts.top < text.bottom } // prettier-ignore
      }),
    )
    expect(rows).toEqual(Array.from({ length: 3 }, () => ({ isBelow: true, isBeside: lines === 2 })))
    const marks = await page.locator('.post .mark.team').evaluateAll((all) => all.map((each) => each.checkVisibility()))
    expect(marks).toEqual([true, true, true]) // a phone shows no other authors
  }
})

it('the table of the team breaks no word of a status or an age, and fits its window', async () => {
  const site = await serveSite('sqlite')
  const token = await site.owner()
  await site.call(boards.create, { name: 'Import & export of everything', display: true })
  const names = ['Shipped', 'Under review', 'Überprüfungen', 'Ein-Wort-ohne-jedes-Ende'.repeat(2)]
  for (const name of names) {
    const { roadmap } = await site.call(roadmaps.create, { name, display: true })
    const { post } = await site.call(posts.create, { title: 'Export everything as CSV '.repeat(4), boardId: 'import-and-export-of-everything' }) // prettier-ignore
    await site.call(posts.update, { id: post.postId, roadmapId: roadmap.id, partial: true })
  }
  for (const [locale, days] of AGES) {
    const { page } = await visit({ locale, now: new Date(site.clock.now.getTime() + days * 86_400_000) })
    await page.context().addCookies([{ name: 'feedbackctl', value: token, url: site.url }])
    for (const width of [1024, 1101, 1120, 1201, 1440]) {
      await page.setViewportSize({ width, height: 800 })
      await page.goto(`${site.url}/dashboard/posts?sort=newest`)
      expect([locale, width, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([
        locale,
        width,
        width,
      ])
      const broken = await page.locator('.rows :is(.status bdi, time)').evaluateAll((all) =>
        all.flatMap((each) => {
          const range = document.createRange()
          const text = each.firstChild
          if (!text?.textContent || text.textContent.length > 20) return []
          return text.textContent.split(' ').filter((word) => {
            const at = text.textContent?.indexOf(word) ?? 0
            range.setStart(text, at)
            range.setEnd(text, at + word.length)
            return range.getClientRects().length !== 1
          })
        }),
      )
      expect([locale, width, broken]).toEqual([locale, width, []])
    }
  }
})

it('a wide table keeps its words whole, and scrolls by keyboard under a name', async () => {
  const site = await serveSite('sqlite')
  await site.owner()
  const row = Array.from({ length: 20 }, (_, index) => `Column **${index}**|`).join('')
  const { post } = await site.call(posts.create, { title: 'Tables', contentMarkdown: `|${row}\n|${'-|'.repeat(20)}\n|${row}\n\n||\n|-|\n|1|\n` }) // prettier-ignore
  const { page } = await visit({ viewport: NARROW })
  await page.goto(`${site.url}/posts/${post.slug}`)
  expect(Math.max(...(await linesOf(page, '.prose td')))).toBeLessThanOrEqual(2)
  const table = page.getByRole('group', { name: 'Column 0, Column 1, Column 2' })
  await table.focus()
  await page.keyboard.press('ArrowRight')
  await expect.poll(() => table.evaluate((box) => box.scrollLeft)).toBeGreaterThan(0)
})

/** Those of the window. What `evaluate` returns is a copy, and an element has none. */
const widthsOf = (page: Page) =>
  page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    return { scrollWidth, clientWidth }
  })

it('letters of twice the size make everything larger, and nothing wider than its window', async () => {
  const site = await serveSite('sqlite')
  await site.owner()
  await site.call(roadmaps.create, { name: 'Planned', display: true })
  const { post } = await site.call(posts.create, { title: 'Dark mode for the evening', contentMarkdown: 'Please.' })
  const { page, context } = await visit({ viewport: NARROW })
  const sizes = () => page.evaluate(() => Array.from(document.querySelectorAll('main :is(p, h2, input, button, summary, a):not(.hidden)'), (each) => Number.parseFloat(getComputedStyle(each).fontSize))) // prettier-ignore
  const devtools = await context.newCDPSession(page)
  const use = (size: number) => devtools.send('Page.setFontSizes', { fontSizes: { standard: size, fixed: size } })
  for (const path of ['/', `/posts/${post.slug}`, '/roadmaps', '/boards', '/posts/new', '/login']) {
    await use(16)
    await page.goto(site.url + path)
    const usual = await sizes()
    await use(32)
    for (const width of [NARROW.width, WIDE.width]) {
      await page.setViewportSize({ width, height: 900 })
      expect([path, await sizes()]).toEqual([path, usual.map((size) => size * 2)])
      const { scrollWidth, clientWidth } = await widthsOf(page)
      expect([path, width, scrollWidth]).toEqual([path, width, clientWidth])
    }
  }
})

/** Whether the whole of the chosen tab is in sight. */
const isInside = (page: Page) =>
  page.locator('.tabs:not(.states) [aria-current]').evaluate((tab) => {
    const [row, own] = [tab.parentElement?.getBoundingClientRect(), tab.getBoundingClientRect()]
    return row !== undefined && own.left >= row.left - 1 && own.right <= row.right + 1
  })

it('letters of twice the size fit a phone on pages of the team too, and its chosen tab is whole', async () => {
  const site = await serveSite('sqlite')
  const owner = await site.owner()
  await site.call(roadmaps.create, { name: 'Waiting for the next supply ship', display: true })
  await site.call(boards.create, { name: 'Ideas of people on the far side', display: true })
  const { post } = await site.call(posts.create, { title: 'Dark mode', boardId: 'ideas-of-people-on-the-far-side' })
  const { userId } = await site.member()
  await site.callAs({ ...operator, userId })(moderation.reportPost, {
    post_id: post.postId,
    reason: 'An advertisement',
  })
  await site.call(profile.updateProfile, { name: 'Margaret of the far side' })
  const { page, context } = await visit({ viewport: NARROW })
  await page.context().addCookies([{ name: 'feedbackctl', value: owner, url: site.url }])
  const devtools = await context.newCDPSession(page)
  await devtools.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 32 } })
  const wider: unknown[] = []
  const pages = ['', '/comments', '/posts', `/posts/${post.slug}`, '/boards', '/boards/new', '/roadmaps', '/overview', '/users', '/invitations', '/settings/general', '/settings/domains', '/settings/notifications', '/settings/log', '/settings/mail', '/settings/backups', '/settings/import', '/settings/keys', '/settings/roles', '/settings/roles/new'] // prettier-ignore
  for (const path of [
    '/',
    '/settings',
    '/notifications',
    `/posts/${post.slug}`,
    ...pages.map((each) => `/dashboard${each}`),
  ]) {
    await page.goto(site.url + path)
    for (const summary of await page.locator('main details.fold > summary').all())
      if (await summary.isVisible()) await summary.click()
    const { scrollWidth, clientWidth } = await widthsOf(page)
    if (scrollWidth > clientWidth) wider.push([path, scrollWidth])
    expect(page.url()).toBe(site.url + path)
    const tab = page.locator('.tabs:not(.states) [aria-current]')
    if ((await tab.count()) > 0 && !(await isInside(page))) wider.push([path, await tab.innerText()])
  }
  expect(wider).toEqual([])
})

it('a phone has two lines for an event of the log, three with changes, and a title and two lines for a post of the table', async () => {
  const site = await serveSite('sqlite')
  const owner = await site.owner()
  await site.call(boards.create, { name: '💡 Ideas', display: true })
  await site.call(roadmaps.create, { name: 'In progress', display: true })
  await site.call(tags.create, { name: 'mobile' })
  const { post } = await site.call(posts.create, { title: 'Dark mode', boardId: 'ideas' })
  await site.call(posts.create, { title: 'Groups of people with boards of their own, and rights for each' })
  await site.call(posts.update, { id: post.postId, roadmapId: 'in-progress', partial: true })
  await site.call(tag, { ids: [post.postId], add: ['mobile'] })
  const { page } = await visit({ viewport: { width: 390, height: 800 }, locale: 'en' })
  await page.context().addCookies([{ name: 'feedbackctl', value: owner, url: site.url }])
  const heights = async (path: string) => {
    await page.goto(site.url + path)
    return page.locator('.rows tbody tr').evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height))
  }
  const log = await heights('/dashboard/settings/log')
  expect(await page.locator('header .to-logout .icon').isVisible(), 'the way to sign out').toBe(true)
  expect(log.length).toBeGreaterThan(6)
  expect([Math.max(...log) < 84, log.filter((height) => height < 64).length > log.length / 2]).toEqual([true, true])
  const links = await page.locator('.log a').evaluateAll((all) => all.map((link) => link.getBoundingClientRect().height)) // prettier-ignore
  expect(Math.min(...links)).toBeGreaterThanOrEqual(24)
  const [long = 0, short = 0] = await heights('/dashboard/posts')
  expect([long < 140, short < 128]).toEqual([true, true])
})

it('a phone shows the chosen tab, the name of the site, the facts of a post in two lines, and times of its place; ages move nothing', async () => {
  const title = 'Feedback for the people of Moonbase on the far side'
  const site = await serveSite('sqlite')
  await site.owner()
  await site.call(settings.update, { title })
  await site.call(boards.create, { name: 'Ideas of people on the far side', display: true })
  await site.call(roadmaps.create, { name: 'Waiting for the next supply ship', display: true })
  const { post } = await site.call(posts.create, { title: 'Dark mode', contentMarkdown: 'Please.', boardId: 'ideas-of-people-on-the-far-side' }) // prettier-ignore
  await site.call(posts.update, { id: post.postId, roadmapId: 'waiting-for-the-next-supply-ship', partial: true })
  const { activity } = await site.call(comments.create, { post_id: post.postId, body: 'Yes' })
  await site.call(comments.update, { post_id: post.postId, comment_id: activity.id, body: 'Yes!' })
  const { page: plain } = await visit({ viewport: NARROW, script: false })
  await plain.goto(`${site.url}/?sort=discussed`)
  expect([await isInside(plain), await plain.innerText('footer bdi')]).toEqual([true, title])
  const timesOf = (page: Page) => page.locator('.facts time').evaluateAll((all) => all.map((time) => time.getAttribute('title')?.replaceAll(/\s/g, ' '))) // prettier-ignore
  expect([await timesOf(plain), await plain.innerText('footer')]).toEqual([
    ['Mar 2, 2026, 10:00 AM UTC'],
    expect.stringContaining('Dates are in UTC'),
  ])
  const { height = 0 } = (await plain.locator('.facts').boundingBox()) ?? {}
  expect(height).toBeLessThan(60)

  const { page } = await visit({ viewport: NARROW, timezoneId: 'America/New_York' })
  await page.goto(`${site.url}/?sort=discussed`)
  await expect.poll(() => isInside(page)).toBe(true)
  expect([await timesOf(page), await page.innerText('footer')]).toEqual([
    ['Mar 2, 2026, 5:00 AM'],
    expect.not.stringContaining('UTC'),
  ])
  for (const path of ['/', `/posts/${post.slug}`]) {
    const gate = makeGate()
    await page.route('**/assets/site.*.js', (route) => gate.opened.then(() => route.continue()), { times: 1 })
    await page.goto(site.url + path, { waitUntil: 'commit' })
    await page.locator('footer').waitFor()
    // The parser reaches the footer before the styles arrive; what stands without them says nothing.
    await page.waitForFunction(() => Array.from(document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')).every(({ sheet }) => sheet)) // prettier-ignore
    // Not by a locator, which waits until the page has loaded
    const placed = async () => {
      const found = await page.waitForFunction(() =>
        Array.from(document.querySelectorAll('.facts *, .prose *, .tools *'), (each) => {
          const { left, top } = each.getBoundingClientRect()
          return [each.tagName, left, top]
        }),
      )
      return found.jsonValue()
    }
    const before = await placed()
    gate.open()
    await page.locator('time:has-text("ago")').first().waitFor()
    expect(await placed()).toEqual(before)
  }
})

it('the header has whole words, and at most two rows, in windows of any width from a phone on', async () => {
  const site = await serveSite('sqlite')
  const token = await site.owner()
  await site.call(settings.update, { title: 'Feedback for Moonbase' })
  for (let number = 0; number < 13; number++) await site.call(posts.create, { title: `Wish ${number}` })
  await site.db.updateTable('posts').set({ is_spam: HELD, display: 0 }).execute() // each waits for the team
  for (const locale of ['de', 'fr']) {
    const { page } = await visit({ locale })
    await page.context().addCookies([{ name: 'feedbackctl', value: token, url: site.url }])
    for (const width of [390, 560, 641, 700, 780, 880, 901, 960, 1030, 1280]) {
      await page.setViewportSize({ width, height: 600 })
      await page.goto(`${site.url}/dashboard/posts`)
      // What only a screen reader reads is a pixel wide
      const words = page.locator('header .account span')
      const heights = await words.evaluateAll((all) => all.map((each) => each.getBoundingClientRect()).flatMap(({ width: wide, height }) => (wide > 2 ? [height] : []))) // prettier-ignore
      expect(heights.length).toBeGreaterThan(0)
      const seen = await linesOf(page, 'header nav a, header .count')
      expect([locale, width, Math.max(...seen), Math.max(...heights) < 30]).toEqual([locale, width, 1, true])
      const rows = await page.evaluate(() => {
        const middles = Array.from(document.querySelectorAll('header > *'), (each) => each.getBoundingClientRect()).map(({ top, height }) => Math.round((top + height / 2) / 20)) // prettier-ignore
        return new Set(middles).size
      })
      expect([locale, width, rows]).toEqual([locale, width, expect.toBeOneOf([1, 2])])
    }
  }
})
