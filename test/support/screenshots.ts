import { mkdirSync } from 'node:fs'
import type { BrowserContext } from 'playwright-core'
import { launch } from './chromium.js'
import { withDemo } from './demo.js'

/** Its first post is opened. */
const DISCUSSED = '/?sort=discussed'

interface Picture {
  file: string
  path: string
  viewport: { width: number; height: number }
  colorScheme?: 'light' | 'dark'
  locale?: string
  /** A link that is followed first. */
  opens?: string
}

const PICTURES: readonly Picture[] = [
  { file: 'docs/pages-wide.png', path: '/?sort=votes', viewport: { width: 1080, height: 640 }, colorScheme: 'light' },
  { file: 'docs/pages-phone.png', path: '/roadmaps', viewport: { width: 360, height: 640 }, colorScheme: 'dark' },
  { file: 'docs/gallery/home-dark.png', path: '/', viewport: { width: 1080, height: 640 }, colorScheme: 'dark' },
  { file: 'docs/gallery/post.png', path: DISCUSSED, opens: '.post h2 a', viewport: { width: 1080, height: 820 } },
  { file: 'docs/gallery/post-phone.png', path: DISCUSSED, opens: '.post h2 a', viewport: { width: 360, height: 640 } },
  { file: 'docs/gallery/search.png', path: '/search?q=dark', viewport: { width: 1080, height: 640 } },
  { file: 'docs/gallery/roadmap.png', path: '/roadmaps', viewport: { width: 1080, height: 640 } },
  { file: 'docs/gallery/arabic-phone.png', path: '/', viewport: { width: 360, height: 640 }, locale: 'ar' },
]

const OF_TEAM = [
  { file: 'docs/dashboard-inbox.png', path: '/dashboard' },
  { file: 'docs/dashboard-posts.png', path: '/dashboard/posts?sort=votes' },
  {
    file: 'docs/gallery/write.png',
    path: '/posts/new',
    write: 'A **dark** theme, please:\n\n- for the editor\n- for ',
  },
  { file: 'docs/gallery/brand.png', path: '/dashboard/settings/general' },
] as const

const PASSWORD = 'correct horse battery' // of everybody in the demo

// Writes the pictures of README.md and docs/ from the demo. Emoji and CJK need fonts: fonts-noto-color-emoji, fonts-noto-cjk.
await withDemo(async (address) => {
  const browser = await launch()
  mkdirSync('docs/gallery', { recursive: true })
  for (const { file, path, opens, ...options } of PICTURES) {
    const page = await (await browser.newContext({ locale: 'en', ...options })).newPage()
    await page.goto(address + path, { waitUntil: 'networkidle' })
    if (opens !== undefined) await page.click(opens)
    await page.waitForLoadState('networkidle')
    await page.screenshot({ path: file })
  }
  await report(address)
  const team = await browser.newContext({ locale: 'en', viewport: { width: 1120, height: 600 } })
  await signIn(team, address)
  for (const { file, path, ...more } of OF_TEAM) {
    const page = await team.newPage()
    await page.goto(address + path, { waitUntil: 'networkidle' })
    if ('write' in more) {
      await page.fill('textarea', more.write)
      await page.locator('[role=toolbar]').waitFor()
    }
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
