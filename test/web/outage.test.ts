import { renameSync } from 'node:fs'
import pg from 'pg'
import type { Page } from 'playwright-core'
import { describe, expect, inject, it } from 'vitest'
import * as posts from '../../src/service/posts.js'
import { NARROW, serveSite, visit, type ServedSite } from '../support/browser.js'
import { engines, OWNER, type Engine } from '../support/site.js'

/** Takes the database away, and returns what brings it back. */
async function takeAway(engine: Engine, { databaseUrl }: ServedSite): Promise<() => Promise<void>> {
  if (engine === 'sqlite') {
    const file = databaseUrl.slice('sqlite:'.length)
    renameSync(file, `${file}.away`)
    return async () => renameSync(`${file}.away`, file)
  }
  const name = new URL(databaseUrl).pathname.slice(1)
  const admin = async (...statements: string[]) => {
    const client = new pg.Client({ connectionString: inject('postgres') })
    await client.connect()
    for (const statement of statements) await client.query(statement)
    await client.end()
  }
  await admin(
    `alter database ${name} allow_connections false`,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
  )
  return () => admin(`alter database ${name} allow_connections true`)
}

const signIn = async (page: Page) => {
  await page.fill('#field-email', OWNER.email)
  await page.fill('#field-password', OWNER.password)
  await page.click('main form button[type=submit]')
}

const PASSWORDS = 'input[type=password], input[name*=assword], input[name=code], input[name=token]'

const begin = async (engine: Engine) => {
  const site = await serveSite(engine)
  await site.owner()
  const { post } = await site.call(posts.create, { title: 'Dark mode for the evening' })
  const { page } = await visit({ script: false, viewport: NARROW, expected: /^503 |status of (4\d\d|503)/ })
  return { site, page, path: `/posts/${post.slug}` }
}
const failed = async (page: Page) => {
  await page.locator('h1:text-is("This did not work")').waitFor()
  expect(await page.innerText('.empty > p')).toContain('Try again in a moment.')
  expect(await page.locator(PASSWORDS).count()).toBe(0)
  return page.locator('.typed p').allInnerTexts()
}
/** Sends the form again until the database is back for the server, too. */
const again = async (page: Page) => {
  await expect
    .poll(async () => {
      await page.locator('button:text-is("Try again")').click()
      return page.locator('button:text-is("Try again")').count()
    })
    .toBe(0)
}

describe.each(engines)('while %s is away', (engine) => {
  it('a new post stays in sight, and is sent again with one button', async () => {
    const { site, page } = await begin(engine)
    await page.goto(`${site.url}/login?redirect=/posts/new`)
    await signIn(page)
    await page.fill('#field-title', 'Wider columns')
    await page.fill('#field-contentMarkdown', 'On *large* screens.\n\n<b>Please</b>')
    const bringBack = await takeAway(engine, site)
    await page.click('button:text-is("Post")')
    expect(await failed(page)).toEqual(['Wider columns', 'On *large* screens.\n\n<b>Please</b>'])
    await page.click('button:text-is("Try again")')
    expect(await failed(page)).toHaveLength(2)
    await bringBack()
    await again(page)
    expect(await page.innerText('h1')).toBe('Wider columns')
    expect(await page.innerText('.prose em')).toBe('large')
    expect(await page.innerText('.flash')).toBe('Your post is published.')
  })

  it('a comment is not lost by signing in, and no page holds the password', async () => {
    const { site, page, path } = await begin(engine)
    await page.goto(site.url + path)
    await page.fill('#field-body', 'We need it too.')
    await page.click('main >> button:text-is("Comment")')
    const bringBack = await takeAway(engine, site)
    await signIn(page)
    expect(await failed(page)).toEqual(['We need it too.'])
    expect(await page.content()).not.toContain(OWNER.password)
    expect(await page.innerText('.empty form p')).toContain('Passwords')
    await bringBack()
    await again(page)
    expect(await page.inputValue('#field-email')).toBe(OWNER.email)
    expect(await page.locator('.summary').count(), 'to be asked again is no error').toBe(0)
    expect(await page.innerText('.note')).toContain('Your text is kept')
    await signIn(page)
    await expect.poll(() => page.locator('.comment .prose').allInnerTexts()).toEqual(['We need it too.'])
  })
})

it('a page that is only read offers to open it again', async () => {
  const { site, page, path } = await begin('postgres') // SQLite reads on from the file that it has open
  await page.goto(`${site.url}/login`)
  await signIn(page)
  await page.locator('header >> text=Sign out').waitFor()
  const bringBack = await takeAway('postgres', site)
  await page.goto(`${site.url + path}?page=1`)
  expect(await failed(page)).toEqual([])
  await bringBack()
  await expect
    .poll(async () => {
      await page.locator('a:text-is("Try again")').click()
      return page.locator('a:text-is("Try again")').count()
    })
    .toBe(0)
  expect(page.url()).toBe(`${site.url + path}?page=1`)
})
