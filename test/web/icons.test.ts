import { expect, it } from 'vitest'
import * as settings from '../../src/service/settings.js'
import { makeSite } from '../support/site.js'

const SITE = 'https://feedback.example.org/board'
const ID = `${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(12)}`
const IMAGE = `/api/v1/images/${ID}-64x48.webp`

async function open(siteUrl = SITE) {
  const site = await makeSite('sqlite', { siteUrl, rates: {} })
  await site.owner()
  const visit = async (path: string) => site.http(`GET /${path}`, { headers: { accept: 'text/html' } })
  const head = async () => (await visit('/')).text.split('</head>')[0] ?? ''
  const manifest = async () => {
    const answer = await visit('/manifest.webmanifest')
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/manifest+json; charset=utf-8'])
    return JSON.parse(answer.text) as { icons: { src: string; type: string; sizes: string }[] } & Record<string, string>
  }
  return { site, visit, head, manifest }
}

it('a site without a logo is installed with its title and the icon of the program', async () => {
  const { site, visit, head, manifest } = await open()
  await site.call(settings.update, { title: '"</script>\\ Moon & שלום', accentColor: '' })
  const found = await manifest()
  expect(found).toMatchObject({ id: '/board/', name: '"</script>\\ Moon & שלום', start_url: '/board/', scope: '/board/' }) // prettier-ignore
  expect(found).not.toHaveProperty('theme_color')
  expect(found.icons.map(({ type }) => type)).toEqual(['image/png', 'image/png', 'image/svg+xml'])
  for (const { src, type } of found.icons) {
    const { status, headers } = await visit(src.replace('/board', ''))
    expect([status, headers['content-type']?.toString().split(';')[0], headers['cache-control'], headers.etag]).toEqual([200, type, 'public, max-age=31536000, immutable', undefined]) // prettier-ignore
  }
  const shown = await head()
  expect(shown).toContain(`<link rel="apple-touch-icon" href="${found.icons[0]?.src}"/>`)
  expect(shown).toContain('<link rel="manifest" href="/board/manifest.webmanifest"/>')
  expect(shown).not.toContain('theme-color')
})

it('the logo is the icon where this host serves it, and no other host is asked', async () => {
  const { site, head, manifest } = await open()
  const { userId } = await site.db.selectFrom('users').select('userId').executeTakeFirstOrThrow()
  const image = { imageId: ID, userId, mediaType: 'image/webp', width: 64, height: 48, bytes: 0, createdAt: site.clock.now.toISOString() } // prettier-ignore
  await site.db.insertInto('images').values(image).execute()
  await site.call(settings.update, { logo: SITE + IMAGE, accentColor: 'FfEe00' })
  expect(await manifest()).toMatchObject({ theme_color: '#ffee00', icons: [{ src: `/board${IMAGE}`, type: 'image/webp', sizes: '64x48' }, { type: 'image/svg+xml' }] }) // prettier-ignore
  expect(await head()).toContain(`<link rel="icon" href="${SITE}${IMAGE}"/><link rel="apple-touch-icon" href="/board${IMAGE}"/>`) // prettier-ignore
  expect(await head()).toContain('<meta name="theme-color" content="#ffee00"/>')
  for (const logo of [`https://cdn.example.com${IMAGE}`, `${SITE}/logo.png`, `https://feedback.example.org${IMAGE}`]) {
    await site.call(settings.update, { logo })
    expect((await manifest()).icons[0]?.type).toBe('image/png')
    expect(await head()).toMatch(/rel="apple-touch-icon" href="\/board\/assets\/icon\.[\w-]+\.png"/)
  }
})

it('the manifest is cached by its tag, has a head, and changes with the settings', async () => {
  const { site, visit } = await open()
  const { headers, text } = await visit('/manifest.webmanifest')
  const again = await site.http('GET //manifest.webmanifest', { headers: { 'if-none-match': String(headers.etag) } })
  expect([again.status, again.text]).toEqual([304, ''])
  const only = await site.http('HEAD //manifest.webmanifest')
  expect([only.status, only.text, only.headers['content-type']]).toEqual([200, '', headers['content-type']])
  await site.call(settings.update, { title: 'Marsbase' })
  expect((await visit('/manifest.webmanifest')).text).toBe(text.replace('"Moonbase"', '"Marsbase"'))
  expect((await visit('/manifest.json')).status).toBe(404)
})
