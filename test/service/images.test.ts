import { createRequire } from 'node:module'
import type Sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { imagesIn } from '../../src/core/images/address.js'
import { encodeImage } from '../../src/core/images/encoding.js'
import { headerOf } from '../../src/core/images/header.js'
import { connect, transaction } from '../../src/db/connect.js'
import { deleteUnused } from '../../src/db/images.js'
import { images } from '../../src/jobs/images.js'
import { PNG, storeImage } from '../support/images.js'
import { untilLocked } from '../support/locks.js'
import { animation, bomb, photos, PLACE } from '../support/photos.js'
import { random } from '../support/random.js'
import { cleanup, engines, makeSite, type TestSite } from '../support/site.js'

const sharp = createRequire(import.meta.filename)('sharp') as typeof Sharp

const picture = () => sharp({ create: { width: 60, height: 40, channels: 3, background: '#1d4ed8' } })

interface Sent {
  token?: string | undefined
  type?: string
}

const send = (site: TestSite, body: Buffer, { token, type = 'image/png' }: Sent) =>
  site.http('POST /images', { token, body, headers: { 'content-type': type } })

/** The status of an image, as somebody gets it. */
const look = async (site: TestSite, path: string, token?: string) => (await site.http(`GET /${path}`, { token })).status

const ownerOf = async ({ db }: TestSite) =>
  (await db.selectFrom('users').select('userId').where('isOwner', '=', 1).executeTakeFirstOrThrow()).userId

describe('an image', () => {
  it('is stored as WebP, whatever it was', async () => {
    const site = await makeSite('sqlite')
    const token = await site.owner()
    for (const format of ['png', 'jpeg', 'webp', 'gif', 'avif'] as const) {
      const { status, body } = await send(site, await picture().toFormat(format).toBuffer(), { token, type: `image/${format}` }) // prettier-ignore
      expect([format, status, body.image.mediaType, body.image.width, body.image.height]).toEqual([format, 201, 'image/webp', 60, 40]) // prettier-ignore
      const path = /^https:\/\/feedback\.example\.org\/board(\/.*)$/.exec(body.image.url)?.[1] ?? ''
      const shown = await site.http(`GET /${path}`, { token })
      expect([shown.status, shown.headers['content-type']]).toEqual([200, 'image/webp'])
      expect(Number(shown.headers['content-length'])).toBe(body.image.bytes)
    }
  })

  it('is upright, in its colours, and has nothing of what a camera wrote, in any way that one writes it', async () => {
    const all = await photos(sharp)
    expect(Object.keys(all).length).toBeGreaterThanOrEqual(30)
    for (const [name, { bytes }] of Object.entries(all)) {
      const { bytes: stored } = await encodeImage(bytes, name)
      const { format, width, height, exif, xmp, iptc, icc, orientation } = await sharp(stored).metadata()
      expect([name, format, width, height]).toEqual([name, 'webp', 48, 32])
      expect([name, exif, xmp, iptc, icc, orientation]).toEqual([name, ...Array<undefined>(5).fill(undefined)])
      expect([name, stored.includes(PLACE)]).toEqual([name, false])
      const { data } = await sharp(stored).removeAlpha().raw().toBuffer({ resolveWithObject: true })
      const at = (x: number, y: number) => [...data.subarray((y * 48 + x) * 3, (y * 48 + x) * 3 + 3)]
      const isRed = ([r = 0, g = 0, b = 0]: number[]) => r > 150 && g < 80 && b < 80
      const isWhite = (color: number[]) => color.every((value) => value > 220)
      expect([name, isRed(at(6, 6)), isWhite(at(40, 6)), isWhite(at(6, 26)), isWhite(at(40, 26))]).toEqual([name, true, true, true, true]) // prettier-ignore
    }
  })

  it('that says it is too large is refused before it is decoded', async () => {
    const site = await makeSite('sqlite')
    const token = await site.owner()
    for (const type of ['png', 'jpeg', 'gif', 'webp', 'avif'] as const) {
      const real = await picture().toFormat(type).toBuffer()
      expect([type, headerOf(real)]).toEqual([type, { width: 60, height: 40, frames: 1 }])
      const huge = bomb(type, real, 60_000)
      expect([type, headerOf(huge)?.width, headerOf(huge)?.height]).toEqual([type, 60_000, 60_000])
      const { status, body } = await send(site, huge, { token, type: `image/${type}` })
      expect([type, status, body.message]).toEqual([type, 422, expect.stringContaining('million pixels')])
    }
    const film = animation(10_000)
    expect(headerOf(film)).toEqual({ width: 1, height: 1, frames: 2001 })
    expect((await send(site, film, { token, type: 'image/gif' })).body.message).toContain('2,000 frames')
    expect(headerOf(await sharp(animation(3), { animated: true }).webp().toBuffer())?.frames).toBe(3)
    expect((await send(site, animation(40), { token, type: 'image/gif' })).status).toBe(201)
  })

  it('has a header that ends anywhere, and says anything', async () => {
    const next = random()
    for (const type of ['png', 'jpeg', 'gif', 'webp', 'avif'] as const) {
      const real = await picture().toFormat(type).toBuffer()
      for (let end = 0; end <= real.length; end++) expect(() => headerOf(real.subarray(0, end))).not.toThrow()
      for (let trial = 0; trial < 500; trial++) {
        const bytes = Buffer.from(real)
        for (let change = 0; change < 4; change++)
          bytes[12 + Math.floor(next() * (bytes.length - 12))] = Math.floor(next() * 256)
        expect(() => headerOf(bytes)).not.toThrow()
      }
    }
  })

  it('that is wider than a screen is made smaller', async () => {
    const site = await makeSite('sqlite')
    const token = await site.owner()
    const wide = await sharp({ create: { width: 5000, height: 1000, channels: 3, background: 'white' } }).png().toBuffer() // prettier-ignore
    const { body } = await send(site, wide, { token })
    expect([body.image.width, body.image.height]).toEqual([2048, 410])
  })

  it('keeps its frames', async () => {
    const site = await makeSite('sqlite')
    const token = await site.owner()
    const frames = await sharp({ create: { width: 20, height: 60, channels: 3, background: 'red', noise: { type: 'gaussian', mean: 100, sigma: 30 } } }).raw().toBuffer() // prettier-ignore
    const gif = await sharp(frames, { raw: { width: 20, height: 60, channels: 3, pageHeight: 20 } }).gif({ delay: [50, 50, 50] }).toBuffer() // prettier-ignore
    const { body } = await send(site, gif, { token, type: 'image/gif' })
    expect([body.image.width, body.image.height]).toEqual([20, 20])
    const rows = await site.db.selectFrom('image_parts').select('data').orderBy('part').execute()
    const { pages } = await sharp(Buffer.concat(rows.map(({ data }) => Buffer.from(data, 'base64')))).metadata()
    expect(pages).toBe(3)
  })

  it('is refused if it is none, damaged or too large, and nothing is stored', async () => {
    const site = await makeSite('sqlite')
    const token = await site.owner()
    const svg = Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>',
    )
    const frames = sharp({ create: { width: 100, height: 100, channels: 3, background: 'red' } })
    const many = await sharp(Array(20).fill(await frames.png().toBuffer()) as Buffer[], { join: { animated: true } }).gif().toBuffer() // prettier-ignore
    const refused: Record<string, Buffer> = {
      svg,
      html: Buffer.from('<html><script>alert(1)</script>'),
      pdf: Buffer.from('%PDF-1.7\n'),
      empty: Buffer.alloc(0),
      'svg that begins as a PNG': Buffer.concat([PNG.subarray(0, 8), svg]),
      'half a PNG': PNG.subarray(0, 50),
      'a TIFF': await picture().tiff().toBuffer(),
      '5 MB and more': Buffer.concat([PNG, Buffer.alloc(5_000_000)]),
    }
    expect((await send(site, many, { token, type: 'image/gif' })).status).toBe(201)
    for (const [name, bytes] of Object.entries(refused)) {
      const { status, body } = await send(site, bytes, { token })
      expect([name, status, body.code]).toEqual([name, name.startsWith('5 MB') ? 413 : 422, name.startsWith('5 MB') ? 'PAYLOAD_TOO_LARGE' : 'IMAGE_REFUSED']) // prettier-ignore
    }
    expect((await send(site, svg, { token, type: 'image/svg+xml' })).body.code).toBe('UNSUPPORTED_MEDIA_TYPE')
    expect(await site.db.selectFrom('images').select('imageId').execute()).toHaveLength(1)
  })

  it('with something behind it is stored without that', async () => {
    const site = await makeSite('sqlite')
    const token = await site.owner()
    await send(site, Buffer.concat([await picture().jpeg().toBuffer(), Buffer.from('<script>alert(1)</script>')]), { token, type: 'image/jpeg' }) // prettier-ignore
    const rows = await site.db.selectFrom('image_parts').select('data').execute()
    expect(rows.map(({ data }) => Buffer.from(data, 'base64').toString('latin1')).join('')).not.toContain('script')
  })

  it('counts against the limit of whoever uploads it', async () => {
    const site = await makeSite('sqlite', { rates: { images: { points: 2, seconds: 3600 } } })
    await site.owner()
    const { token } = await site.member()
    const codes = []
    const trial = { 'content-type': 'image/png', 'feedbackctl-dry-run': '1' }
    const trials = []
    for (const body of [Buffer.from('no image'), PNG, PNG]) trials.push((await site.http('POST /images', { token, body, headers: trial })).status) // prettier-ignore
    expect(trials, 'a dry run decodes too').toEqual([422, 201, 429])
    for (const bytes of [Buffer.from('no image'), PNG, PNG]) codes.push((await send(site, bytes, { token })).body.code)
    expect(codes).toEqual(['IMAGE_REFUSED', undefined, 'RATE_LIMITED'])
  })
})

describe.each(engines)('on %s, an image', (engine) => {
  it('is shown to those who may read a text that shows it', async () => {
    const site = await makeSite(engine)
    const owner = await site.owner()
    const ann = await site.member(['post:create'])
    const bea = await site.member()
    const team = await site.member(['board:read', 'comment:view_internal'])
    const { path, markdown } = await storeImage(site.db, { userId: ann.userId })
    const seen = async () => [await look(site, path), await look(site, path, bea.token), await look(site, path, team.token), await look(site, path, ann.token)] // prettier-ignore
    const as = (token: string, line: string, body: object) => site.http(line, { token, body })
    expect(await seen()).toEqual([404, 404, 404, 200])

    const { post } = (await as(ann.token, 'POST /posts', { title: 'Dark mode', contentMarkdown: `Like this:\n\n${markdown}` })).body // prettier-ignore
    expect(await seen()).toEqual([200, 200, 200, 200])
    const { board } = (await as(owner, 'POST /boards', { name: 'Secret', display: false })).body
    await as(owner, 'PATCH /posts', { id: post.postId, boardId: board.boardId, partial: true })
    expect(await seen()).toEqual([404, 404, 200, 200])

    const { activity } = (await as(owner, `POST /posts/${post.postId}/comments`, { body: markdown, is_internal: true })).body // prettier-ignore
    await as(owner, 'PATCH /posts', { id: post.postId, boardId: null, contentMarkdown: 'No picture', partial: true })
    expect(await seen()).toEqual([404, 404, 200, 200])
    const comment = `/posts/${post.postId}/comments/${activity.comment.id}`
    await as(owner, `PUT ${comment}`, { body: markdown, is_internal: false })
    expect(await seen()).toEqual([200, 200, 200, 200])
    await as(owner, `DELETE ${comment}`, {})
    expect(await seen()).toEqual([404, 404, 404, 200])
  })

  it('of a merged post is shown to those who may read its text, not to all who read the post that stays', async () => {
    const site = await makeSite(engine)
    const owner = await site.owner()
    const [bea, team] = [await site.member(), await site.member(['board:read'])]
    const { path, markdown } = await storeImage(site.db, { userId: await ownerOf(site) })
    const as = async (line: string, body: object) => (await site.http(line, { token: owner, body })).body
    const seen = async () => [await look(site, path), await look(site, path, bea.token), await look(site, path, team.token)] // prettier-ignore
    const { board } = await as('POST /boards', { name: 'Ideas' })
    const { post } = await as('POST /posts', { title: 'Dark mode', contentMarkdown: markdown, boardId: board.boardId })
    const { post: root } = await as('POST /posts', { title: 'Night colours' })
    await as('POST /posts/merge', { ids: [post.postId], into: root.postId })
    expect(await seen()).toEqual([200, 200, 200])
    await as('PATCH /boards', { ...board, display: false })
    expect(await seen()).toEqual([404, 404, 200])
  })

  it('is not made public by somebody who only knows its address', async () => {
    const site = await makeSite(engine)
    const owner = await site.owner()
    const bob = await site.member(['post:create', 'comment:create', 'comment:update:own'])
    const { board } = (await site.http('POST /boards', { token: owner, body: { name: 'Secret', display: false } })).body
    const { path, markdown } = await storeImage(site.db, { userId: await ownerOf(site) })
    await site.http('POST /posts', { token: owner, body: { title: 'Secret', boardId: board.boardId, contentMarkdown: markdown } }) // prettier-ignore
    const { post } = (await site.http('POST /posts', { token: bob.token, body: { title: 'Mine', contentMarkdown: markdown } })).body // prettier-ignore
    await site.http('PATCH /posts', { token: bob.token, body: { id: post.postId, title: 'Mine', contentMarkdown: `${markdown} again` } }) // prettier-ignore
    const { activity } = (await site.http(`POST /posts/${post.postId}/comments`, { token: bob.token, body: { body: markdown } })).body // prettier-ignore
    await site.http(`PUT /posts/${post.postId}/comments/${activity.comment.id}`, { token: bob.token, body: { body: `${markdown} again` } }) // prettier-ignore
    expect([await look(site, path), await look(site, path, bob.token), await look(site, path, owner)]).toEqual([404, 404, 200]) // prettier-ignore
    // An edit by the team keeps what the author could show
    const own = await storeImage(site.db, bob)
    const shown = (await site.http('POST /posts', { token: bob.token, body: { title: 'x', contentMarkdown: own.markdown } })).body // prettier-ignore
    await site.http('PATCH /posts', { token: owner, body: { id: shown.post.postId, title: 'x', contentMarkdown: `${own.markdown} edited` } }) // prettier-ignore
    expect(await look(site, own.path)).toBe(200)
  })

  it('is shown by one public text, however many hidden ones show it too', async () => {
    const site = await makeSite(engine)
    const owner = await site.owner()
    const { post } = (await site.http('POST /posts', { token: owner, body: { title: 'x' } })).body
    const { path, markdown } = await storeImage(site.db, { userId: await ownerOf(site) })
    const comment = (is_internal: boolean) => site.http(`POST /posts/${post.postId}/comments`, { token: owner, body: { body: markdown, is_internal } }) // prettier-ignore
    for (let count = 0; count < 52; count++) await comment(true)
    expect(await look(site, path)).toBe(404)
    await comment(false)
    expect(await look(site, path)).toBe(200)
    expect(await look(site, path.replace('2x1', '3x1'))).toBe(404)
    const { headers } = await site.http(`GET /${path}`)
    expect((await site.http(`GET /${path}`, { headers: { 'if-none-match': String(headers.etag) } })).status).toBe(304)
  })

  it('is not kept by caches where not everybody may see it, and runs nothing', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const { userId, token } = await site.member(['post:create'])
    const { path, markdown } = await storeImage(site.db, { userId })
    const own = await site.http(`GET /${path}`, { token })
    expect(own.headers).toMatchObject({
      'cache-control': 'private, no-store',
      'cross-origin-resource-policy': 'same-site',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none';frame-ancestors 'none';sandbox",
    })
    await site.http('POST /posts', { token, body: { title: 'x', contentMarkdown: markdown } })
    const { headers } = await site.http(`GET /${path}`)
    expect([headers['cache-control'], headers['cross-origin-resource-policy']]).toEqual(['public, max-age=3600', 'cross-origin']) // prettier-ignore
  })

  it('that no text shows is deleted after a day', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const hours = (count: number) => new Date(site.clock.now.getTime() - count * 3_600_000)
    const made = { old: await storeImage(site.db, { at: hours(25) }), used: await storeImage(site.db, { at: hours(25), userId: await ownerOf(site) }), fresh: await storeImage(site.db, { at: hours(23) }) } // prettier-ignore
    await site.http('POST /posts', { token, body: { title: 'x', contentMarkdown: made.used.markdown } })
    const job = images()
    const context = site.base as unknown as Parameters<typeof job.run>[0]
    expect(await job.isDue?.(context)).toBe(true)
    await job.run(context)
    const ids = (await site.db.selectFrom('images').select('imageId').execute()).map(({ imageId }) => imageId)
    expect(ids.toSorted()).toEqual([made.used.imageId, made.fresh.imageId].toSorted())
    expect(await job.isDue?.(context)).toBe(false)
    const parts = await site.db.selectFrom('image_parts').select('imageId').distinct().execute()
    expect(parts).toHaveLength(2)
  })

  it('is not deleted while a text that shows it is written', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const { imageId, markdown } = await storeImage(site.db, { at: new Date(0) })
    const other = await connect(site.databaseUrl)
    cleanup(() => other.destroy())
    let deleting: Promise<number> | undefined
    await other.transaction().execute(async (db) => {
      await db.insertInto('image_uses').values({ imageId, textId: 'text', postId: null, commentId: null }).execute()
      await untilLocked(engine, site.db, () => (deleting = transaction(site.db, (inside) => deleteUnused(inside, [imageId])))) // prettier-ignore
    })
    expect(await deleting).toBe(0)
    const { status } = await site.http('POST /posts', { token, body: { title: 'x', contentMarkdown: markdown } })
    expect(status).toBe(201)
  })

  it('goes with the account of its uploader, unless a text of somebody else shows it', async () => {
    const site = await makeSite(engine)
    const owner = await site.owner()
    const ann = await site.member(['post:create'])
    const [posted, shared, unused] = [await storeImage(site.db, ann), await storeImage(site.db, ann), await storeImage(site.db, ann)] // prettier-ignore
    const write = (token: string, contentMarkdown: string) => site.http('POST /posts', { token, body: { title: 'x', contentMarkdown } }) // prettier-ignore
    await write(ann.token, posted.markdown)
    await site.http('POST /posts', { token: ann.token, body: { title: 'y', contentMarkdown: shared.markdown } })
    await write(owner, shared.markdown)
    const exported = await site.http('GET /users/profile/data', { token: ann.token })
    expect(exported.body.images).toHaveLength(3)
    await site.http(`DELETE /users/${ann.userId}`, { token: owner, body: { posts: 'delete' } })
    const rows = await site.db.selectFrom('images').select(['imageId', 'userId']).execute()
    expect(rows).toEqual([{ imageId: shared.imageId, userId: null }])
    expect([await look(site, unused.path, owner), await look(site, shared.path)]).toEqual([404, 200])
  })

  it('is deleted by its uploader and by moderators, and by nobody else', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const ann = await site.member(['post:create'])
    const bea = await site.member()
    const moderator = await site.member(['post:destroy'])
    const stored = async () => {
      const image = await storeImage(site.db, { userId: ann.userId })
      await site.http('POST /posts', { token: ann.token, body: { title: 'x', contentMarkdown: image.markdown } })
      return image
    }
    for (const { token } of [ann, moderator]) {
      const { imageId, path } = await stored()
      expect((await site.http(`DELETE /images/${imageId}`, { token: bea.token })).body.code).toBe('NOT_ENOUGH_PERMISSION') // prettier-ignore
      expect((await site.http(`DELETE /images/${imageId}`, { token })).status).toBe(204)
      expect(await look(site, path)).toBe(404)
      expect((await site.http(`DELETE /images/${imageId}`, { token })).body.code).toBe('IMAGE_NOT_FOUND')
    }
  })
})

it('the images of a text are those of its addresses, each once', () => {
  const id = '01a217e2-413a-7160-99ec-2329432a27eb'
  const path = `/api/v1/images/${id}-12x7.webp`
  expect(imagesIn(`![a](${path}) ![b](https://feedback.example.org/below${path}) ![c](/api/v1/images/none-1x1.webp)`)).toEqual([id]) // prettier-ignore
})
