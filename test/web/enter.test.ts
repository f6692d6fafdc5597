import { expect, it } from 'vitest'
import * as posts from '../../src/service/posts.js'
import { serveSite, visit } from '../support/browser.js'

it.each([true, false])(
  'Enter in the title sends the post, and gives no vote to one like it (script: %s)',
  async (script) => {
    const site = await serveSite('sqlite')
    await site.owner()
    await site.member([], { email: 'eve@example.org', password: 'a good password' })
    const { post } = await site.call(posts.create, { title: 'Dark mode' })
    const { page } = await visit({ script })
    await page.goto(`${site.url}/login?redirect=/posts/new?title=Dark%20theme`)
    await page.fill('#field-email', 'eve@example.org')
    await page.fill('#field-password', 'a good password')
    await page.click('main form button[type=submit]')
    await page.locator('.similar .vote button').waitFor()
    await page.focus('#field-title')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.innerText('h1')).toBe(script ? 'Dark theme' : 'Similar posts')
    const { post: after } = await site.call(posts.show, { id: post.postId })
    expect(after.voters.votesCount).toBe(1)
  },
)
