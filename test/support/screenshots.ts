import type { BrowserContext } from 'playwright-core'
import { launch } from './chromium.js'
import { withDemo } from './demo.js'

/** Writes the pictures of the README and docs/ from the demo. Emoji and CJK need fonts: fonts-noto-color-emoji, fonts-noto-cjk. */
const PICTURES = [
  { file: 'docs/pages-wide.png', path: '/?sort=votes', viewport: { width: 1080, height: 640 }, colorScheme: 'light' },
  { file: 'docs/pages-phone.png', path: '/roadmaps', viewport: { width: 360, height: 640 }, colorScheme: 'dark' },
] as const

const OF_TEAM = [
  { file: 'docs/dashboard-inbox.png', path: '/dashboard' },
  { file: 'docs/dashboard-posts.png', path: '/dashboard/posts?sort=votes' },
] as const

const PASSWORD = 'correct horse battery' // of everybody in the demo

await withDemo(async (address) => {
  const browser = await launch()
  for (const { file, path, ...options } of PICTURES) {
    const page = await (await browser.newContext({ locale: 'en', ...options })).newPage()
    await page.goto(address + path, { waitUntil: 'networkidle' })
    await page.screenshot({ path: file })
  }
  await report(address)
  const team = await browser.newContext({ locale: 'en', viewport: { width: 1120, height: 600 } })
  await signIn(team, address)
  for (const { file, path } of OF_TEAM) {
    const page = await team.newPage()
    await page.goto(address + path, { waitUntil: 'networkidle' })
    await page.screenshot({ path: file })
  }
  await browser.close()
})

/** Two people report a post of a third, so that the inbox has one. */
async function report(address: string): Promise<void> {
  const ask = async (path: string, body: object, token?: string) => {
    const headers = {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    }
    const answer = await fetch(`${address}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return (await answer.json()) as { user: { authToken: string }; post: { number: number } }
  }
  const [author, ...others] = await Promise.all(
    [9, 3, 5].map(async (person) => (await ask('/auth/login', { email: `person${person}@example.org`, password: PASSWORD })).user.authToken), // prettier-ignore
  )
  const { post } = await ask('/posts', { title: 'Buy 5,000 followers', contentMarkdown: 'Cheap, fast, real. Write to us today.', boardId: 'ideas' }, author) // prettier-ignore
  for (const [index, token] of others.entries())
    await ask(`/posts/${post.number}/report`, { reason: ['Only advertising', 'Spam'][index] }, token)
}

async function signIn(context: BrowserContext, address: string): Promise<void> {
  const page = await context.newPage()
  await page.goto(`${address}/login`)
  await page.fill('[name=email]', 'ada@example.org')
  await page.fill('[name=password]', PASSWORD)
  await page.click('main form button.primary')
  await page.waitForURL((url) => url.pathname === '/')
  await page.close()
}
