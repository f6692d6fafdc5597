import { expect, it } from 'vitest'
import { operator } from '../../src/service/lib/access.js'
import * as comments from '../../src/service/comments.js'
import * as posts from '../../src/service/posts.js'
import { OWNER } from '../support/site.js'
import { NARROW, serveSite, visit } from '../support/browser.js'

it('names are offered while an @ is typed, and chosen by keyboard or pointer', async () => {
  const site = await serveSite('sqlite')
  await site.owner()
  const { post } = await site.call(posts.create, { title: 'Dark mode' })
  for (const [username, name] of [
    ['eve_1', 'Eve Ng'],
    ['evan', 'Evan'],
    ['bob', 'Bob'],
  ] as const) {
    const { userId } = await site.member(['comment:create'])
    await site.db.updateTable('users').set({ username, name }).where('userId', '=', userId).execute()
    await site.callAs({ ...operator, userId })(comments.create, { post_id: post.postId, body: 'Me too' })
  }
  const mate = await site.member(['dashboard:read'])
  await site.db.updateTable('users').set({ username: 'tea', name: 'Tea Mate' }).where('userId', '=', mate.userId).execute() // prettier-ignore
  const { page } = await visit({ viewport: NARROW })
  await page.goto(`${site.url}/login?redirect=/posts/${post.slug}`)
  await page.fill('#field-email', OWNER.email)
  await page.fill('#field-password', OWNER.password)
  await page.click('main form button[type=submit]')
  const field = page.locator('#field-body')
  const options = page.locator('[role=listbox] [role=option]')
  await field.pressSequentially('Ask me@ev or @ev')
  await expect.poll(() => options.allInnerTexts()).toEqual(['Evan @evan', 'Eve Ng @eve_1'])
  // The styles come with the script, which a policy of the page could forbid
  expect(await page.locator('.people').evaluate((list) => getComputedStyle(list).position)).toBe('absolute')
  expect(await page.locator('.field [role=status]').innerText()).toContain('arrow keys')
  await field.press('ArrowDown')
  const active = await field.getAttribute('aria-activedescendant')
  expect(await page.locator(`#${active}`).innerText()).toBe('Eve Ng @eve_1')
  await field.press('Enter')
  expect(await field.inputValue()).toBe('Ask me@ev or @eve_1 ')
  expect(await options.count()).toBe(0)
  await field.pressSequentially('me@ev') // the names are there by now
  expect(await options.count(), 'an @ inside a word').toBe(0)
  for (let key = 0; key < 5; key++) await field.press('Backspace')
  await field.pressSequentially('@b')
  await options.getByText('@bob').click()
  expect(await field.inputValue()).toBe('Ask me@ev or @eve_1 @bob ')
  await field.pressSequentially('@ng')
  await expect.poll(() => options.count()).toBe(1)
  await field.press('Escape')
  expect([await options.count(), await field.getAttribute('aria-activedescendant')]).toEqual([0, null])
  await page.locator('.comment-form button.primary').last().click()
  await page.locator('.flash').waitFor()
  for (const form of ['edit', 'update']) {
    await page.goto(`${site.url}/posts/${post.slug}/${form}`)
    await page.locator('textarea').fill('')
    await page.locator('textarea').pressSequentially('@ev')
    await expect.poll(() => options.allInnerTexts()).toEqual(['Evan @evan', 'Eve Ng @eve_1'])
  }
  await page.goto(`${site.url}/posts/new`) // where nobody wrote yet, the team is offered
  await page.locator('textarea').pressSequentially('@t')
  await expect.poll(() => options.allInnerTexts()).toEqual(['Tea Mate @tea'])
})
