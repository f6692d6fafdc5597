import type { Route } from 'playwright-core'
import { expect, it } from 'vitest'
import * as comments from '../../src/service/comments.js'
import * as posts from '../../src/service/posts.js'
import { NARROW, serveSite, visit, type Visit } from '../support/browser.js'
import { PNG } from '../support/images.js'
import { OWNER } from '../support/site.js'

async function signIn({ page }: Visit, url: string, to: string): Promise<void> {
  await page.goto(`${url}/login?redirect=${encodeURIComponent(to)}`)
  await page.fill('#field-email', OWNER.email)
  await page.fill('#field-password', OWNER.password)
  await page.click('main form button[type=submit]')
  await page.waitForURL(url + to) // and until the scripts of that page run
}

/** Whether each image on the page is loaded, and what stands for it. A page does not wait for its images, so poll. */
const shown = ({ page }: Visit) =>
  page.locator('.prose img').evaluateAll((all) => all.map((each) => each instanceof HTMLImageElement && [each.alt, each.complete && each.naturalWidth, each.getAttribute('width')])) // prettier-ignore

it('images come with a form without a script, also below a path', async () => {
  const site = await serveSite('sqlite', { path: '/feedback' })
  await site.owner()
  const visitor = await visit({ viewport: NARROW, script: false })
  await signIn(visitor, site.url, '/posts/new')
  const { page } = visitor
  await page.fill('#field-title', 'Dark mode')
  await page.fill('#field-contentMarkdown', 'Like this:')
  await page.click('details.images summary')
  await page.fill('[name=imageAlt]', 'The [settings]')
  await page.setInputFiles('[name=images]', { name: 'shot.png', mimeType: 'image/png', buffer: PNG })
  await page.click('.post-form .buttons [name=preview]')
  await expect.poll(() => shown(visitor)).toEqual([['The settings ', 2, '2']])
  await page.click('.post-form .buttons button:not([name])')
  await page.locator('.flash').waitFor()
  await expect.poll(() => shown(visitor)).toEqual([['The settings ', 2, '2']])
  const path = '/feedback/api/v1/images/'
  expect(await page.locator('.prose a:has(img)').getAttribute('href')).toContain(path)
  expect(await page.locator('meta[property="og:image"]').getAttribute('content')).toContain(path)
  const stored = await site.db.selectFrom('posts').select('contentMarkdown').executeTakeFirstOrThrow()
  expect(stored.contentMarkdown).toMatch(/^Like this:\n\n!\[The settings \]\(\/feedback\/api\/v1\/images\/[0-9a-f-]{36}-2x1\.webp\)$/) // prettier-ignore
})

it('a form keeps its text, and the images before one that is refused', async () => {
  const site = await serveSite('sqlite')
  await site.owner()
  const visitor = await visit({ script: false, expected: /422/ })
  await signIn(visitor, site.url, '/posts/new')
  const { page } = visitor
  await page.fill('#field-title', 'Dark mode')
  await page.click('details.images summary')
  await page.setInputFiles('[name=images]', [
    { name: 'shot.png', mimeType: 'image/png', buffer: PNG },
    {
      name: 'drawing.svg',
      mimeType: 'image/svg+xml',
      buffer: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
    },
  ])
  await page.click('.post-form .buttons button:not([name])')
  expect(await page.locator('.summary').innerText()).toContain('not an image that can be shown')
  expect(await page.inputValue('#field-title')).toBe('Dark mode')
  expect(await page.inputValue('#field-contentMarkdown')).toMatch(/^!\[shot\]\(\/api/)
  expect(await page.locator('details.images').getAttribute('open')).toBe('')
  expect(await site.db.selectFrom('posts').select('postId').execute()).toEqual([])
})

it('images are sent at once where they are chosen, pasted or dropped', async () => {
  const site = await serveSite('sqlite')
  await site.owner()
  const { post } = await site.call(posts.create, { title: 'Dark mode' })
  const visitor = await visit({ expected: /422/ })
  await signIn(visitor, site.url, `/posts/${post.slug}`)
  const { page } = visitor
  const field = page.locator('#field-body')
  const script = await page.locator('.comment-form [data-images]').getAttribute('data-script')
  const routes: Route[] = []
  await page.route(`**${script}`, (route) => void routes.push(route))
  await field.fill('Like this')
  const give = (kind: 'paste' | 'drop', bytes: Buffer, name: string, mime = 'image/png') =>
    field.evaluate(
      (element, [type, base64, file, media]) => {
        const data = new DataTransfer()
        data.items.add(new File([Uint8Array.from(atob(base64), (each) => each.charCodeAt(0))], file, { type: media })) // prettier-ignore
        const init = { bubbles: true, cancelable: true }
        element.dispatchEvent(type === 'paste' ? new ClipboardEvent('paste', { ...init, clipboardData: data }) : new DragEvent('drop', { ...init, dataTransfer: data })) // prettier-ignore
      },
      [kind, bytes.toString('base64'), name, mime] as const,
    )
  const images = () => field.inputValue().then((text) => text.match(/!\[.*?\]\(.*?\)/g)?.map((each) => each.replace(/\(.+\)/, '(…)'))) // prettier-ignore
  await expect.poll(() => routes.length).toBe(1) // the script comes with the focus
  await give('paste', PNG, 'early.png')
  await give('drop', PNG, 'second.png')
  expect(await images()).toBeUndefined()
  await routes[0]?.continue()
  await expect.poll(async () => (await images())?.toSorted()).toEqual(['![early](…)', '![second](…)']) // in any order
  await field.fill('Like this')
  await give('paste', PNG, 'pasted.png')
  await expect.poll(images).toEqual(['![pasted](…)'])
  await give('drop', PNG, 'dropped.png')
  await expect.poll(images).toEqual(['![pasted](…)', '![dropped](…)'])
  await page.click('.comment-form details.images summary')
  await page.setInputFiles('.comment-form [name=images]', { name: 'chosen.png', mimeType: 'image/png', buffer: PNG })
  await expect.poll(images).toEqual(['![pasted](…)', '![dropped](…)', '![chosen](…)'])
  expect(await field.inputValue()).toMatch(/^Like this\n\n!\[pasted/)
  for (const [kind, name, mime] of [
    ['drop', 'terms.pdf', 'application/pdf'],
    ['paste', 'broken.png', 'image/png'],
  ] as const) {
    await Promise.all([page.waitForResponse((response) => response.status() >= 400), give(kind, Buffer.from('no image'), name, mime)]) // prettier-ignore
    await expect.poll(images).toHaveLength(3)
    expect(await page.innerText('.images [role=alert]')).toMatch(/image/i)
  }
  await page.locator('.comment-form button.primary').last().click()
  await page.locator('.flash').waitFor()
  expect((await shown(visitor)).map((each) => each && each[0])).toEqual(['pasted', 'dropped', 'chosen'])
})

it('a reply takes images after the comments were refreshed', async () => {
  const site = await serveSite('sqlite')
  await site.owner()
  const { post } = await site.call(posts.create, { title: 'Dark mode' })
  await site.call(comments.create, { post_id: post.postId, body: 'Which one?' })
  const visitor = await visit()
  await signIn(visitor, site.url, `/posts/${post.slug}`)
  const { page } = visitor
  const reply = page.locator('.comment-form:has([name=parent_id])')
  const script = await reply.locator('[data-images]').getAttribute('data-script')
  await page.evaluate(`import(${JSON.stringify(script)}).then(() => undefined)`)
  await reply.evaluate((form) => (form.dataset.old = 'yes'))
  await page.evaluate(() => dispatchEvent(new StorageEvent('storage', { key: 'changed' })))
  await page.locator('[data-old]').waitFor({ state: 'detached' })
  await reply.locator('[name=images]').setInputFiles({ name: 'chosen.png', mimeType: 'image/png', buffer: PNG })
  await expect.poll(() => reply.locator('textarea').inputValue()).toMatch(/^!\[chosen\]\(\/api/)
})

it('an image of a private board is shown to whoever may read it', async () => {
  const site = await serveSite('sqlite')
  const token = await site.owner()
  const { board } = (await site.http('POST /boards', { token, body: { name: 'Secret', display: false } })).body
  const uploaded = (await site.http('POST /images', { token, body: PNG, headers: { 'content-type': 'image/png' } })).body // prettier-ignore
  const { post } = await site.call(posts.create, { title: 'Dark mode', boardId: board.boardId })
  await site.call(comments.create, { post_id: post.postId, body: `![Shot](${uploaded.image.url})` })
  const visitor = await visit()
  await signIn(visitor, site.url, `/posts/${post.slug}`)
  await expect.poll(() => shown(visitor)).toEqual([['Shot', 2, '2']])
  const stranger = await visit({ expected: /404/ })
  expect((await stranger.page.goto(uploaded.image.url))?.status()).toBe(404)
})

it('a form that ends anywhere is refused, and the server goes on', async () => {
  const site = await serveSite('sqlite')
  const token = await site.owner()
  const form = Buffer.from(
    '--XX\r\nContent-Disposition: form-data; name="markdown"\r\n\r\nHi\r\n' +
      '--XX\r\nContent-Disposition: form-data; name="images"; filename="a.png"\r\nContent-Type: image/png\r\n\r\nabc\r\n--XX--\r\n',
  )
  const post = (body: Buffer | string, cookie = `feedbackctl=${token}`) =>
    fetch(`${site.url}/images`, {
      method: 'POST',
      body: typeof body === 'string' ? body : new Uint8Array(body),
      headers: {
        cookie,
        origin: site.url,
        accept: 'application/json',
        'content-type': 'multipart/form-data; boundary=XX',
      },
    })
  const statuses = new Set<number>()
  for (let end = 0; end < form.length - 4; end += 3) statuses.add((await post(form.subarray(0, end))).status)
  expect([...statuses]).toEqual([400])
  const parts = '--XX\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n'.repeat(2000)
  expect((await post(`${parts}--XX--\r\n`)).status).toBe(400)
  const large = Buffer.concat([form.subarray(0, -12), Buffer.alloc(4_000_000), form.subarray(-12)])
  expect((await post(large, '')).status).toBe(400) // visitors get no form with files
  expect((await post(form)).status).toBe(422)
})
