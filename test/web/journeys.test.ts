import { describe, expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import { operator } from '../../src/service/lib/access.js'
import * as moderation from '../../src/service/moderation.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import { NARROW, serveSite, visit, WIDE, type ServedSite } from '../support/browser.js'
import { engines, OWNER } from '../support/site.js'
import type { Page } from 'playwright-core'

const PASSWORD = 'a good password'

/** A site with a board, a roadmap and some posts. */
async function filled(site: ServedSite): Promise<void> {
  await site.owner()
  await site.call(boards.create, { name: 'Ideas', display: true })
  await site.call(roadmaps.create, { name: 'Planned', display: true })
  for (const title of ['Dark mode for the evening', 'Export as CSV'])
    await site.call(posts.create, { title, contentMarkdown: 'Please, **soon**.', boardId: 'ideas' })
}

const signUp = async (page: Page, name: string, email = `${name.toLowerCase()}@example.org`) => {
  await page.fill('#field-name', name)
  await page.fill('#field-email', email)
  await page.fill('#field-password', PASSWORD)
  await page.click('main form button[type=submit]')
}

const signIn = async (page: Page, { email, password }: { email: string; password: string }) => {
  await page.fill('#field-email', email)
  await page.fill('#field-password', password)
  await page.click('main form button[type=submit]')
}

const WINDOWS = [
  { script: true, viewport: WIDE, colorScheme: 'light' },
  { script: true, viewport: NARROW, colorScheme: 'dark' },
  { script: false, viewport: WIDE, colorScheme: 'dark' },
  { script: false, viewport: NARROW, colorScheme: 'light' },
] as const

describe.each(engines)('a visitor on %s', (engine) => {
  it.each([true, false])('follows a post, and signs up on the way (script: %s)', async (script) => {
    const site = await serveSite(engine)
    await filled(site)
    const { page } = await visit({ script })
    await page.goto(`${site.url}/posts/1`)
    const title = await page.innerText('h1')
    await page.click('button:has-text("Follow")')
    expect(await page.innerText('.note')).toBe(`Sign in to follow “${title}”.`)
    await page.click('main >> text=No account yet?')
    expect(await page.innerText('.note')).toBe(`Sign up to follow “${title}”.`)
    await signUp(page, 'Eve')
    expect(await page.innerText('h1')).toBe(title)
    await page.click('button:has-text("Unfollow")')
    await page.locator('button:text-is("Follow")').waitFor()
  })

  it.each(WINDOWS)('votes, signs up on the way, writes and comments: %o', async (window) => {
    const site = await serveSite(engine)
    await filled(site)
    const { page } = await visit(window)
    await page.goto(site.url)
    await page.click('.post:has-text("Dark mode") .vote button')

    expect(await page.innerText('.note')).toBe('Sign in to vote for “Dark mode for the evening”.')
    await page.click('main >> text=No account yet?')
    expect(await page.innerText('.note')).toBe('Sign up to vote for “Dark mode for the evening”.')
    await signUp(page, 'Eve')
    const said = 'Your vote is counted. Welcome! We sent you a mail to confirm your address.'
    expect(await page.innerText(window.script ? '.post:has-text("Dark mode") .flash' : '.flash')).toBe(said)
    const voted = page.locator('.post:has-text("Dark mode") .vote button')
    await expect.poll(() => voted.getAttribute('aria-pressed')).toBe('true')
    expect(await voted.innerText()).toContain('2')
    await voted.click()
    await expect.poll(() => voted.getAttribute('aria-pressed')).toBe('false')
    await expect.poll(() => voted.innerText()).toContain('1')
    expect(await voted.getAttribute('aria-label')).toBe('Vote for “Dark mode for the evening”: 1 vote')

    await page.click('text=New post')
    await page.fill('#field-title', 'Dark theme')
    await page.fill('#field-contentMarkdown', 'It is *bright*.')
    await page.selectOption('select[name=boardId]', 'ideas')
    if (window.script) await page.locator('#similar:has-text("Dark mode for the evening")').waitFor()
    await page.click('button:has-text("Preview")')
    await expect.poll(() => page.locator('.preview em').innerText()).toBe('bright')
    await page.click('button:text-is("Post")')
    if (!window.script) {
      await page.locator('h1:text-is("Similar posts")').waitFor()
      await page.locator('.similar:has-text("Dark mode for the evening")').waitFor()
      await page.click('text=Post anyway')
    }
    await expect.poll(() => page.innerText('h1')).toBe('Dark theme')
    expect(await page.innerText('.flash')).toBe('Your post is published.')
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.className), { message: 'a screen reader says it' })
      .toBe('flash')
    expect(await page.innerText('.prose em')).toBe('bright')
    expect(page.url()).toMatch(/\/posts\/dark-theme-\w+/)

    await page.fill('#field-body', 'Who else?')
    await page.click('main >> button:text-is("Comment")')
    await expect.poll(() => page.locator('.comment .prose').allInnerTexts()).toEqual(['Who else?'])
    const noted = page.locator(window.script ? '.comment > .flash' : '.flash')
    expect(await noted.innerText()).toBe('Your comment is published.')
    await expect.poll(() => noted.evaluate((flash) => flash === document.activeElement)).toBe(window.script)
    await page.click('summary:text-is("Reply")')
    await page.fill('details textarea', 'I do.')
    await page.click('details[open] .primary')
    await expect.poll(() => page.locator('.comment .comment .prose').allInnerTexts()).toEqual(['I do.'])

    await page.click('.whole >> text=Edit')
    await page.fill('#field-title', 'Dark theme, please')
    await page.click('text=Save')
    await expect.poll(() => page.innerText('h1')).toBe('Dark theme, please')
    await page.click('header .to-logout')
    await expect.poll(() => page.innerText('.flash')).toBe('You are signed out.')
  })

  it.each([true, false])('signs in to what they wrote, after a mistake (script: %s)', async (script) => {
    const site = await serveSite(engine)
    await filled(site)
    const { page } = await visit({ script, expected: /status of (401|403|422)/ })
    await page.goto(`${site.url}/posts/new?board=ideas`)
    await page.fill('#field-title', 'Wider columns')
    await page.fill('#field-contentMarkdown', 'On *large* screens.')
    await page.click('button:text-is("Post")')
    expect(await page.innerText('.note')).toBe('Sign in to publish your post. Your text is kept.')
    await signIn(page, { ...OWNER, password: 'wrong' })
    await expect.poll(() => page.locator('.summary').innerText()).toContain('The address or the password is wrong.')
    expect(await page.innerText('.note')).toBe('Sign in to publish your post. Your text is kept.')
    expect(await page.inputValue('#field-email')).toBe(OWNER.email)
    await signIn(page, OWNER)
    await expect.poll(() => page.innerText('h1')).toBe('Wider columns')
    expect(await page.innerText('.facts')).toContain('Ideas')
    expect(await page.innerText('.prose em')).toBe('large')
  })
})

describe('who signs up on the way is told of the mail', () => {
  const WELCOME = 'Welcome! We sent you a mail to confirm your address.'
  const cases = [true, false].flatMap((script) => (['name', 'form', 'gone'] as const).map((next) => ({ script, next }))) // prettier-ignore

  it.each(cases)('whatever page comes next: $next (script: $script)', async ({ script, next }) => {
    const site = await serveSite('sqlite', next === 'form' ? { unverified: 'read' } : {})
    await filled(site)
    const { post } = await site.call(posts.create, { title: 'Wider columns' })
    const { page } = await visit({ script, expected: /status of (403|404)/ })
    await page.goto(`${site.url}/posts/${next === 'form' ? 'new' : post.slug}`)
    await page.fill(next === 'form' ? '#field-title' : '#field-body', 'Who else?')
    await page.click(`main >> button:text-is("${next === 'form' ? 'Post' : 'Comment'}")`)
    await page.click('main >> text=No account yet?')
    if (next === 'gone') await site.call(posts.remove, { id: post.postId })
    await signUp(page, next === 'name' ? '' : 'Eve', 'eve@example.org')
    const titles = {
      name: 'What is your name?',
      form: 'New post',

      gone: 'Page not found',
    }
    const expected = titles[next]
    await page.locator(`h1:text-is("${expected}")`).waitFor()
    expect(await page.innerText('.flash')).toBe(WELCOME)
    if (next !== 'form') return
    expect(await page.innerText('.summary')).toContain('Confirm your e-mail address first')
    await expect.poll(() => page.evaluate(() => document.activeElement?.className), { message: 'what is wrong comes first' }).toBe('summary') // prettier-ignore
  })
})

describe.each(engines)('a member on %s', (engine) => {
  it.each([true, false])(
    'sees what they have reported, and that the team has decided, in each tab (script: %s)',
    async (script) => {
      const site = await serveSite(engine)
      await filled(site)
      const member = { email: 'eve@example.org', password: PASSWORD }
      await site.member([], member)
      const { post } = await site.call(posts.create, { title: 'Cheap watches' })
      const { activity } = await site.call(comments.create, { post_id: post.postId, body: 'Buy now' })
      await site.call(comments.create, { post_id: post.postId, body: 'What for?' })
      const { page, context } = await visit({ script })
      await page.goto(`${site.url}/login`)
      await signIn(page, member)
      await page.locator('header >> text=Sign out').waitFor()
      const second = await context.newPage()
      const toolsOf = (shown: Page) => shown.locator('.tools').allInnerTexts()
      const marks = async (shown: Page) => {
        await shown.goto(`${site.url}/posts/${post.slug}`)
        return (await toolsOf(shown)).map((text) => /Reported by you|Reviewed by the team|Report/.exec(text)?.[0])
      }
      expect(await marks(second)).toEqual(['Report', 'Report', 'Report'])
      await page.goto(`${site.url}/posts/${post.slug}`)
      await page.click('.whole .tools >> text=Report')
      await page.click('main form button')
      await page.locator('.flash').waitFor()
      await page.click(`#comment-${activity.id} .tools >> text=Report`)
      await page.click('main form button')
      await page.locator(`#comment-${activity.id} .done`).waitFor()
      const done = ['Reported by you', 'Reported by you', 'Report']
      expect([await marks(page), await marks(second), await marks(page)]).toEqual([done, done, done])
      for (const id of [post.postId, activity.id]) await site.call(moderation.decide, { id, decision: 'keep' })
      expect(await marks(second)).toEqual(['Reviewed by the team', 'Reviewed by the team', 'Report'])
    },
  )
})

it.each([true, false])('the team decides about the text that it has read (script: %s)', async (script) => {
  const site = await serveSite('sqlite')
  await filled(site)
  const { userId } = await site.member([])
  const as = site.callAs({ ...operator, userId })
  const { post } = await as(posts.create, { title: 'Harmless', contentMarkdown: 'One' })
  const { activity } = await as(comments.create, { post_id: post.postId, body: 'Uno' })
  const { page } = await visit({ script })
  await page.goto(`${site.url}/login`)
  await signIn(page, OWNER)
  await page.locator('header >> text=Sign out').waitFor()
  await page.goto(`${site.url}/posts/${post.slug}`)
  const decide = (at: string) => page.click(`${at} .tools >> text=spam`)
  const said = 'The text was changed meanwhile, so nothing was decided. Read it again, then decide.'
  site.clock.now = new Date(site.clock.now.getTime() + 60_000)
  await as(posts.update, { id: post.postId, title: 'Harmful', contentMarkdown: 'Two' })
  await decide('.whole')
  await expect.poll(() => page.innerText('.flash')).toBe(said)
  expect([await page.innerText('h1'), await page.innerText('.whole .prose')]).toEqual(['Harmful', 'Two'])
  await as(comments.update, { post_id: post.postId, comment_id: activity.id, body: 'Due' })
  await decide('.comment')
  const noted = page.locator(script ? '.comment > .flash' : '.flash')
  await expect.poll(() => noted.innerText()).toBe(said)
  expect(await page.innerText('.comment .prose')).toBe('Due')
  await decide('.comment')
  await expect.poll(() => page.innerText('.comment .facts')).toContain('Spam')
  await decide('.whole')
  await expect.poll(() => page.innerText('.title .facts')).toContain('Spam')
})

describe.each(engines)('a fresh site on %s', (engine) => {
  it.each([true, false])('is set up in the browser (script: %s)', async (script) => {
    const site = await serveSite(engine, { setupToken: 'of the operator' })
    const { page } = await visit({ script, expected: /status of (401|422)/ })
    await page.goto(site.url)
    expect(new URL(page.url()).pathname).toBe('/setup/welcome')
    await page.click('text=Begin')
    expect(await page.locator('#field-setupToken').count(), 'most servers have none').toBe(0)
    await page.fill('#field-siteTitle', 'Moonbase')
    await page.fill('#field-email', OWNER.email)
    await page.fill('#field-password', OWNER.password)
    await page.click('main button')
    expect(await page.innerText('.summary a')).toBe('Enter the setup token of this server.')
    await page.fill('#field-password', OWNER.password)
    await page.fill('#field-setupToken', 'of the operator')
    await page.click('main button')
    await expect.poll(() => page.innerText('h1')).toBe('Create your first board')
    await page.click('text=Create board')
    await expect.poll(() => page.innerText('h1')).toBe('Say what becomes of posts')
    await page.click('text=Create these four')
    await expect.poll(() => page.innerText('.flash')).toBe('Your site is open.')
    await page.goto(`${site.url}/roadmaps`)
    for (const name of ['Under review', 'Planned', 'In progress', 'Complete'])
      expect(await page.innerText('main')).toContain(name)
    await page.goto(`${site.url}/setup/create-account`)
    expect(new URL(page.url()).pathname).toBe('/')
  })
})
