import { generate } from 'otplib'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { operator } from '../../src/service/lib/access.js'
import { notifications as job } from '../../src/jobs/notifications.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import { serveSite, visit, type ServedSite } from '../support/browser.js'
import { OWNER } from '../support/site.js'

const EVE = { email: 'eve@example.org', password: 'a good password' }

/** A site with a post of the owner, and an account of Eve. */
async function filled() {
  const site = await serveSite('sqlite')
  await site.owner()
  const { userId } = await site.member([], EVE)
  const { post } = await site.call(posts.create, { title: 'Dark mode for the evening' })
  const { activity } = await site.call(comments.create, { post_id: post.postId, body: 'Which shade?' })
  return { site, userId, post, path: `/posts/${post.slug}`, comment: activity.id }
}

const signIn = async (page: Page, { email, password } = EVE) => {
  await page.locator('h1:text-is("Sign in")').waitFor()
  await page.fill('#field-email', email)
  await page.fill('#field-password', password)
  await page.click('main form button[type=submit]')
}

const pressed = (page: Page) => page.locator('.title .vote button').getAttribute('aria-pressed')

describe.each([true, false])('what a visitor wants is done after signing in (script: %s)', (script) => {
  const open = async (address: string) => {
    const { page } = await visit({ script })
    await page.goto(address)
    return page
  }

  it('a vote for a post like the one that they write, and their text stays', async () => {
    const { site } = await filled()
    const page = await open(`${site.url}/posts/new`)
    await page.fill('#field-title', 'Dark mode at night')
    await page.fill('#field-contentMarkdown', 'It is bright.')
    expect(await page.innerText('main form .buttons')).toContain('You will be asked to sign in. Your text is kept.')
    await page.click('button:text-is("Post")')
    await signIn(page)
    await page.locator('.similar .vote button').click()
    await expect.poll(() => page.innerText('h1')).toBe('Dark mode for the evening')
    await expect.poll(() => pressed(page)).toBe('true')
    await page.goto(`${site.url}/posts/new`)
    expect(await page.inputValue('#field-contentMarkdown')).toBe(script ? 'It is bright.' : '')
  })

  it('a comment, and a reply to one', async () => {
    const { site, path, comment } = await filled()
    const page = await open(site.url + path)
    await page.fill('#field-body', 'We need it too.')
    expect(await page.innerText('.comment-form:has(#field-body) .buttons')).toContain('asked to sign in')
    await page.click('main >> button:text-is("Comment")')
    await signIn(page)
    await page.locator('.comment >> text=We need it too.').waitFor()
    expect(await page.innerText('main')).not.toContain('asked to sign in')
    await expect.poll(() => page.locator('.comment .prose').allInnerTexts()).toContain('We need it too.')
    await page.click('header .to-logout')
    await page.goto(site.url + path)
    await page.click(`#comment-${comment} summary`)
    await page.fill(`#field-body-${comment}`, 'A dark one.')
    await page.click(`#comment-${comment} details .primary`)
    await signIn(page)
    await expect.poll(() => page.locator('.comment .comment .prose').allInnerTexts()).toEqual(['A dark one.'])
  })

  it('also by signing up: nothing beside the forms leads away from it', async () => {
    const { site, path } = await filled()
    const page = await open(site.url + path)
    await page.locator('.title .vote button').click()
    await page.locator('h1:text-is("Sign in")').waitFor()
    expect(await page.locator('header .account a').count()).toBe(0)
    await page.click('main >> text=No account yet?')
    await page.locator('h1:text-is("Sign up")').waitFor()
    expect(await page.locator('header .account a').count()).toBe(0)
    await page.fill('#field-email', 'grace@example.org')
    await page.fill('#field-password', 'a good password')
    await page.click('main form button[type=submit]')
    await expect.poll(() => pressed(page)).toBe('true')
    expect(new URL(page.url()).pathname).toBe(path)
    await page.click('header .to-logout')
    await page.goto(site.url + path)
    await page.click('header >> text=Sign up')
    await page.click('main >> text=Have an account?')
    await signIn(page)
    await expect.poll(() => page.innerText('h1')).toBe('Dark mode for the evening')
  })

  it('a report', async () => {
    const { site, path } = await filled()
    const page = await open(site.url + path)
    await page.click('.whole >> text=Report')
    await signIn(page)
    await page.fill('#field-reason', 'It is an advertisement.')
    await page.click('main >> button:text-is("Report")')
    await expect.poll(() => page.innerText('.flash')).toBe('Thanks. The moderators will review it.')
  })

  it('a post that was begun in a session which ended meanwhile, with another mistake on the way', async () => {
    const { site, userId } = await filled()
    const { page } = await visit({ script, expected: /status of (401|403|422)/ })
    await page.goto(`${site.url}/login?redirect=/posts/new`)
    await signIn(page)
    await page.fill('#field-title', 'Wider columns')
    await page.fill('#field-contentMarkdown', 'On *large* screens.')
    await site.db.deleteFrom('sessions').where('userId', '=', userId).execute()
    await page.click('button:text-is("Post")')
    await signIn(page, { ...EVE, password: 'wrong' })
    await page.locator('.summary').waitFor()
    await signIn(page)
    await expect.poll(() => page.innerText('h1')).toBe('Wider columns')
    expect(await page.innerText('.prose em')).toBe('large')
  })
})

describe('what was typed', () => {
  const typed = (page: Page) => page.inputValue('#field-body')

  it('is there again after a reload, and after a server that could not store it; then no more', async () => {
    const { site, path } = await filled()
    const { page } = await visit({ expected: /status of 500|^500 / })
    await page.goto(`${site.url}/login?redirect=${path}`)
    await signIn(page)
    await page.locator('#field-body').waitFor()
    await page.fill('#field-body', 'We need it too.')
    await page.reload()
    expect(await typed(page)).toBe('We need it too.')
    await page.route('**/comments', (route) => route.fulfill({ status: 500, body: 'Try again.' }), { times: 1 })
    await page.click('main >> button:text-is("Comment")')
    await page.locator('text=Try again.').waitFor()
    await page.goto(site.url + path)
    expect(await typed(page)).toBe('We need it too.')
    await page.click('main >> button:text-is("Comment")')
    await expect.poll(() => page.locator('.comment .prose').allInnerTexts()).toContain('We need it too.')
    await page.goto(site.url + path)
    expect(await typed(page)).toBe('')
  })

  it('of one post is not lost by publishing a comment on another', async () => {
    const { site, path } = await filled()
    const { post: other } = await site.call(posts.create, { title: 'Export' })
    const { page, context } = await visit({ expected: /ERR_FAILED/ })
    await page.goto(`${site.url}/login?redirect=${path}`)
    await signIn(page, OWNER)
    await page.locator('#field-body').waitFor()
    await page.fill('#field-body', 'Half a thought')
    await page.goto(`${site.url}/posts/${other.slug}`)
    await page.fill('#field-body', 'A whole one')
    await page.click('main >> button:text-is("Comment")')
    await expect.poll(() => page.locator('.comment .prose').allInnerTexts()).toContain('A whole one')
    await page.goto(site.url + path)
    expect(await typed(page)).toBe('Half a thought')
    await page.route('**/assets/site.*.js', (route) => route.abort(), { times: 1 }) // left before its script runs
    await page.click('header .to-logout')
    await page.locator('.flash:text-is("You are signed out.")').waitFor()
    await page.goto(site.url + path)
    expect(await typed(page), 'nobody else on this tab finds it').toBe('')

    await page.fill('#field-body', 'A thought of a visitor')
    await page.goto(`${site.url}/login?redirect=${path}`)
    await signIn(page)
    await page.waitForURL(`**${path}`)
    expect(await typed(page), 'it was typed by whoever signs in then').toBe('A thought of a visitor')
    await context.clearCookies()
    await page.goto(`${site.url}/login?redirect=${path}`)
    await signIn(page, OWNER)
    await page.waitForURL(`**${path}`)
    expect(await typed(page), 'another person').toBe('')
  })
})

it('the votes of a post are the same everywhere on its page, in two windows, and on the way back', async () => {
  const { site, path } = await filled()
  const { page, context } = await visit({ expected: /ERR_INTERNET_DISCONNECTED/ })
  await page.goto(`${site.url}/login`)
  await signIn(page)
  await page.click('.post h2 a')
  const shown = async (on: Page) => {
    const [button, voters] = [on.locator('.vote button'), on.locator('#voters a')]
    const label = await button.getAttribute('aria-label')
    return [await button.getAttribute('aria-pressed'), (await button.innerText()).trim(), label?.slice(-7).trim(), await voters.allInnerTexts()] // prettier-ignore
  }
  const one = ['false', '1', '1 vote']
  const two = ['true', '2', '2 votes']
  const other = await context.newPage()
  await other.goto(site.url + path)
  expect(await shown(other)).toEqual([...one, ['1 vote']])
  await page.click('.title .vote button')
  await expect.poll(() => shown(page)).toEqual([...two, ['2 votes']])
  expect(await page.locator('#voters .avatar').count()).toBe(2)
  await expect.poll(() => shown(other)).toEqual([...two, ['2 votes']])
  await page.goBack()
  await expect.poll(() => shown(page)).toEqual([...two, []])

  await context.setOffline(true)
  await page.click('.vote button')
  await page.locator('.notice:text-is("The site cannot be reached. Check your connection, then try again.")').waitFor()
  expect(await shown(page)).toEqual([...two, []])
  await context.setOffline(false)
  await page.keyboard.press('Shift')
  expect(await page.locator('.notice').count()).toBe(0)
  await page.click('.vote button')
  await expect.poll(() => shown(page)).toEqual([...one, []])
})

it('a vote of a visitor without a connection is said not to arrive, and leads to the sign-in with one', async () => {
  const { site, path } = await filled()
  const { page, context } = await visit({ expected: /ERR_INTERNET_DISCONNECTED/ })
  await page.goto(site.url + path)
  await context.setOffline(true)
  await page.click('.vote button')
  await page.locator('.notice:text-is("The site cannot be reached. Check your connection, then try again.")').waitFor()
  expect(new URL(page.url()).pathname).toBe(path)
  await context.setOffline(false)
  await page.click('.vote button')
  await page.locator('#field-password').waitFor()
})

it('comments, the status and what is unread are the same in two windows, and on the way back', async () => {
  const { site, userId, path, post, comment } = await filled()
  await site.call(roadmaps.create, { name: 'Planned', display: true })
  await site.call(boards.create, { name: 'Ideas', display: true })
  const log = { info: () => {}, warn: () => {}, error: () => {} }
  const { run } = job({ mail: { url: 'sendmail:', from: '' } })
  const tell = () => run({ db: site.db, now: () => site.clock.now, log, signal: new AbortController().signal })
  await tell()
  const { page, context } = await visit()
  await page.goto(`${site.url}/login?redirect=/boards`)
  await signIn(page, OWNER)
  await page.locator('.boards').waitFor()
  await page.goto(site.url)
  const [other, places] = [await context.newPage(), await context.newPage()]
  await other.goto(site.url + path)
  await places.goto(`${site.url}/boards`)
  const shown = async (on: Page) => [
    await on.innerText('#comments'),
    await on.locator('.comment .prose').allInnerTexts(),
    await on.locator('.side .menu summary').innerText(),
  ]
  const row = async () => (await page.innerText('.post .facts')).split('\n').map((text) => text.trim())
  expect(await row()).not.toContain('Planned')

  await page.click('.post h2 a')
  await page.locator('.side .menu summary').click()
  await page.click('.menu button:visible:has-text("Planned")')
  await page.locator('.flash').waitFor()
  await page.fill('#field-body', 'Midnight blue')
  await page.click('main >> button:text-is("Comment")')
  await page.locator('.comment .flash, .flash >> text=published').waitFor()
  const now = ['2 comments', ['Which shade?', 'Midnight blue'], expect.stringContaining('Planned')]
  await expect.poll(() => shown(page)).toEqual(now)
  await expect.poll(() => shown(other)).toEqual(now)
  for (let count = 0; count < 2; count++) {
    await page.goBack()
    await expect.poll(() => shown(page)).toEqual(now)
  }
  await page.goBack()
  expect(page.url()).toBe(`${site.url}/`)
  await expect.poll(row).toEqual(expect.arrayContaining(['Planned', '2']))

  await site.call(posts.update, { id: post.postId, boardId: 'ideas', partial: true })
  await other.click('.title .vote button')
  await expect.poll(() => places.innerText('.boards .soft')).toBe('1 post')

  // What is shown anew works as before, and what somebody writes stays
  await other.focus(`#comment-${comment} summary`)
  await other.keyboard.press('Enter')
  await expect.poll(() => other.evaluate(() => document.activeElement?.id)).toBe(`field-body-${comment}`)
  await other.keyboard.type('Or')
  await page.click('.post h2 a')
  await page.locator('#field-body').fill('Black')
  const refreshed = other.waitForResponse((response) => response.url().startsWith(`${site.url}/posts/`))
  await page.click('main >> button:text-is("Comment")')
  await page.locator('.flash >> text=published').waitFor()
  await (await refreshed).finished()
  await expect.poll(() => other.locator('.title .vote button').getAttribute('aria-pressed')).toBe('false')
  expect(await other.inputValue(`#field-body-${comment}`)).toBe('Or')
  await other.reload()
  expect(await other.inputValue(`#field-body-${comment}`)).toBe('Or')

  await site.callAs({ ...operator, userId })(comments.create, { post_id: post.postId, body: 'Or grey' })
  await tell()
  await page.goto(`${site.url}/notifications`)
  const unread = () => page.innerText('.to-notifications')
  expect([await unread(), await page.locator('.unread').count()]).toEqual([expect.stringContaining('1 unread'), 1])
  await page.click('.notifications a')
  await page.locator('#comments').waitFor()
  expect(await unread()).not.toContain('unread')
  await page.goBack()
  await expect.poll(async () => [await unread(), await page.locator('.unread').count()]).toEqual([expect.not.stringContaining('unread'), 0]) // prettier-ignore
})

describe.each([true, false])('the focus (script: %s)', (script) => {
  const signedIn = async (site: ServedSite, path: string) => {
    const { page } = await visit({ script, expected: /status of (401|422)/ })
    await page.goto(`${site.url}/login?redirect=${encodeURIComponent(path)}`)
    await signIn(page, OWNER)
    await page.waitForURL(`**${path}`)
    return page
  }
  const focused = (page: Page) => page.evaluate(() => document.activeElement?.className)

  it('is on what is wrong with a form, also where that is far down', async () => {
    const { site, path } = await filled()
    for (let count = 0; count < 40; count++) await site.call(comments.create, { post_id: path.slice(7), body: 'More' })
    const page = await signedIn(site, path)
    for (const [at, form] of [
      [path, 'section > .comment-form'],
      ['/posts/new', '.post-form'],
      ['/settings', 'form[action="/settings/password"]'],
    ] as const) {
      await page.goto(site.url + at)
      await page.evaluate((selector) => document.querySelector<HTMLFormElement>(selector)?.submit(), form)
      await page.locator('.summary').waitFor()
      await expect.poll(() => focused(page)).toBe('summary')
      const box = await page.locator('.summary').boundingBox()
      expect([at, (box?.y ?? -1) >= 0 && (box?.y ?? Infinity) < 900]).toEqual([at, true])
    }
  })

  it('is on what answers a form without an address of its own', async () => {
    const { site, post } = await filled()
    const { post: other } = await site.call(posts.create, { title: 'Export' })
    const page = await signedIn(site, '/settings')
    const first = async () => {
      await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).not.toBe('BODY')
      return page.evaluate(() => document.activeElement?.querySelector('h2')?.textContent ?? document.activeElement?.textContent) // prettier-ignore
    }

    await page.click('text=Turn on')
    await page.locator('.qr').waitFor()
    expect(await first()).toBe('Two-factor authentication')
    const secret = (await page.innerText('main code')).replaceAll(' ', '')
    await page.fill('#field-code', await generate({ secret, epoch: site.clock.now.getTime() / 1000 }))
    await page.click('main form button')
    await page.locator('.codes').waitFor()
    expect(await first()).toBe('Recovery codes')

    await page.goto(`${site.url}/dashboard/settings/keys`)
    await page.fill('#field-name', 'Sync')
    await page.click('.settings-form button')
    await page.locator('main code').waitFor()
    expect(await first()).toBe('Key “Sync”')

    await page.goto(`${site.url}/dashboard/posts`)
    await page.getByRole('checkbox', { name: other.title }).check()
    await page.click('.verbs .danger')
    await page.locator('.narrow .danger').waitFor()
    expect(await first()).toBe('Delete 1 for good?')

    await page.goto(`${site.url}/dashboard/settings/roles/new`)
    await page.fill('#field-name', 'Readers')
    await page.click('button[name=preview]')
    await page.locator('#changes').waitFor()
    expect(await first()).toBe('What would change')

    if (script) return // it shows similar posts and the preview without leaving the page
    await page.goto(`${site.url}/posts/new?title=${encodeURIComponent(post.title)}`)
    await page.click('.post-form .buttons .primary')
    await page.locator('text=Post anyway').waitFor()
    expect(await first()).toBe('Similar posts')
    await page.click('button[name=preview]')
    await page.locator('.preview').waitFor()
    expect(await first()).toBe('Preview')
  })
})

it('who opens a reply by keyboard writes at once, and closes it again', async () => {
  const { site, path, comment } = await filled()
  const { page } = await visit()
  await page.goto(site.url + path)
  await page.focus(`#comment-${comment} summary`)
  await page.keyboard.press('Enter')
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe(`field-body-${comment}`)
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Enter')
  expect(await page.locator(`#field-body-${comment}`).isVisible()).toBe(false)
})
