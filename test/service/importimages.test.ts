import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { DRY_RUN_HEADER } from '../../src/core/wire.js'
import * as comments from '../../src/service/comments.js'
import * as posts from '../../src/service/posts.js'
import { PNG, storeImage } from '../support/images.js'
import { engines, makeSite, type TestSite } from '../support/site.js'

const send = async (site: TestSite, token: string, records: readonly object[], { isDry = false } = {}) => {
  const { status, text } = await site.http('POST /import/records?source=fider', {
    token,
    body: records.map((record) => `${JSON.stringify(record)}\n`).join(''),
    headers: { 'content-type': 'application/x-ndjson', ...(isDry && { [DRY_RUN_HEADER]: '1' }) },
  })
  const lines = text.trim().split('\n').map((line) => JSON.parse(line)) // prettier-ignore
  const last = lines.at(-1)
  const of = (wanted: string) => last.balance.find(({ type }: { type: string }) => type === wanted)
  return { status, last, of, failed: lines.filter(({ result }) => result === 'failed') }
}

const image = (sourceId: string, data: Buffer, more: object = {}) => ({ type: 'image', sourceId, data: data.toString('base64'), ...more }) // prettier-ignore
const shown = (name: string, alt = 'a') => `![${alt}](import-image:${encodeURIComponent(name)})`

/** Does work while every process that decodes is killed. */
async function withKilledDecoder<T>(work: () => Promise<T>): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), 'decoder-'))
  const before = process.execPath
  process.execPath = path.join(folder, 'killed')
  writeFileSync(process.execPath, '#!/bin/sh\nkill -9 $$\n', { mode: 0o755 })
  try {
    return await work()
  } finally {
    process.execPath = before
    rmSync(folder, { recursive: true })
  }
}

/** The header of a PNG of 50,000 pixels each way. */
const bomb = () => {
  const png = Buffer.from(PNG)
  png.writeUInt32BE(50_000, 16)
  png.writeUInt32BE(50_000, 20)
  return png
}

const RECORDS = [
  { type: 'person', sourceId: 'u1', name: 'Ann', email: 'ann@example.org' },
  image('attachments/x y', PNG, { author: 'u1' }),
  image('attachments/x y', PNG),
  image('svg', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')),
  image('bomb', bomb()),
  image('large', Buffer.concat([PNG, Buffer.alloc(5_000_001 - PNG.length)])),
  { type: 'image', sourceId: 'text', data: 'no base64!' },
  { type: 'post', sourceId: 'p1', title: 'Dark mode', text: `Look: ${shown('attachments/x y', 'Night')} ${shown('svg', 'Vector')} ${shown('none', 'Gone')}`, author: 'u1' }, // prettier-ignore
  {
    type: 'post',
    sourceId: 'p2',
    title: 'Night',
    text: `${shown('attachments/x y')} ![](https://canny.example/1.png)`,
  },
  { type: 'comment', sourceId: 'c1', post: 'p1', text: shown('attachments/x y', ''), isInternal: true },
  { type: 'comment', sourceId: 'c2', post: 'p1', text: 'See ![b](<http://other.example/2.png>) and `![c](https://canny.example/1.png)`' }, // prettier-ignore
]

describe.each(engines)('imported images on %s', (engine) => {
  it('are made as those that people upload, once each, and texts show them', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const dry = await send(site, token, RECORDS, { isDry: true })
    expect((await site.db.selectFrom('images').selectAll().execute()).length).toBe(0)
    const first = await send(site, token, RECORDS)
    expect([first.last.isBalanced, first.last.balance]).toEqual([true, dry.last.balance])
    expect(first.of('image')).toEqual({ type: 'image', found: 6, created: 1, matched: 0, existing: 1, failed: 4 })
    expect(first.failed.map(({ type, line, error }) => [type, line, error.code])).toEqual([
      ['image', 4, 'IMAGE_REFUSED'],
      ['image', 5, 'IMAGE_REFUSED'],
      ['image', 6, 'IMAGE_REFUSED'],
      ['image', 7, 'VALIDATION_ERROR'],
    ])
    const [stored] = await site.db.selectFrom('images').selectAll().execute()
    expect(stored).toMatchObject({ mediaType: 'image/webp', width: 2, height: 1 })
    const { post } = await site.call(posts.show, { id: '1' })
    expect(stored?.userId).toBe(post.author.userId)
    const address = /\((http[^)]+\.webp)\)/.exec(post.contentMarkdown ?? '')?.[1] ?? ''
    expect(post.contentMarkdown).toBe(`Look: ![Night](${address}) Vector Gone`)
    expect((await site.http(`GET /${address.replace(/^.*(?=\/api\/)/, '')}`)).status).toBe(200)
    const uses = await site.db.selectFrom('image_uses').select(['postId', 'commentId']).execute()
    expect([uses.length, uses.filter(({ commentId }) => commentId !== null).length]).toEqual([3, 1])
    expect(first.last.linkedImages).toEqual(dry.last.linkedImages)
    expect(first.last.missingImages).toEqual({ count: 1, images: [{ type: 'post', sourceId: 'p1', name: 'none' }] })
    expect(dry.last.missingImages).toEqual(first.last.missingImages)
    expect(first.last.linkedImages).toMatchObject({
      count: 3,
      images: [
        { type: 'post', sourceId: 'p2', url: 'https://canny.example/1.png' },
        { type: 'comment', sourceId: 'c2', url: 'http://other.example/2.png' },
        { type: 'comment', sourceId: 'c2', url: 'https://canny.example/1.png' },
      ],
    })
    const again = await send(site, token, RECORDS)
    expect(again.of('image')).toEqual({ type: 'image', found: 6, created: 0, matched: 0, existing: 2, failed: 4 })
    expect(again.last.linkedImages).toBeUndefined()
    expect(again.last.missingImages).toEqual(first.last.missingImages)
    expect((await site.db.selectFrom('images').selectAll().execute()).length).toBe(1)
  })

  it.each([false, true])(
    'an import that was cut off between an image and its text goes on, a day later: %s',
    async (isLater) => {
      const site = await makeSite(engine)
      const token = await site.owner()
      await send(site, token, RECORDS.slice(0, 2))
      // Nothing has shown it for a day
      if (isLater) await site.db.deleteFrom('images').execute()
      await send(site, token, RECORDS)
      expect((await site.db.selectFrom('images').select('imageId').execute()).length).toBe(1)
      expect((await site.db.selectFrom('image_uses').select('imageId').execute()).length).toBe(3)
    },
  )

  it('an image that could not be decoded for a passing reason comes with a later import, into texts that nobody has edited', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const records = [
      image('night', PNG),
      image('bomb', bomb()),
      { type: 'post', sourceId: 'p1', title: 'Dark mode', text: `Look: ${shown('night')} ${shown('bomb', 'Boom')}` },
      { type: 'post', sourceId: 'p2', title: 'Edited', text: `Here ${shown('night')}` },
      { type: 'post', sourceId: 'p3', title: 'Only an image', text: shown('night', '') },
      { type: 'comment', sourceId: 'c1', post: 'p1', text: `See ${shown('night')}` },
      { type: 'comment', sourceId: 'c2', post: 'p1', text: shown('night', '') },
      { type: 'comment', sourceId: 'c3', post: 'p1', text: shown('bomb', '') },
      { type: 'comment', sourceId: 'c4', post: 'p1', parent: 'c3', text: 'An answer' },
    ]
    const first = await withKilledDecoder(() => send(site, token, records))
    expect(first.of('image')).toMatchObject({ created: 0, failed: 2 })
    expect(first.of('comment')).toMatchObject({ found: 4, created: 3, failed: 1 })
    expect(first.last.isBalanced).toBe(true)
    const { post: edited } = await site.call(posts.show, { id: '2' })
    await site.call(posts.update, { postId: edited.postId, partial: true, contentMarkdown: 'Here, in other words' })
    const { post: before } = await site.call(posts.show, { id: '1' })
    expect(before.contentMarkdown).toBe('Look: a Boom')

    await withKilledDecoder(() => send(site, token, records, { isDry: true }))
    await withKilledDecoder(() => send(site, token, records))
    expect(await site.db.selectFrom('image_uses').selectAll().execute()).toEqual([])

    const again = await send(site, token, records)
    expect(again.of('image')).toMatchObject({ created: 1, failed: 1 })
    expect(again.of('post')).toMatchObject({ existing: 3 })
    expect(again.of('comment')).toMatchObject({ existing: 3, created: 1, failed: 0 })
    expect(again.last.isBalanced).toBe(true)
    const { post } = await site.call(posts.show, { id: '1' })
    expect(post.contentMarkdown).toMatch(/^Look: !\[a\]\(\S+\.webp\) Boom$/)
    // A form that was opened before would take the image out again
    expect(Date.parse(post.updatedAt) - Date.parse(before.updatedAt)).toBe(1)
    await expect(site.call(posts.update, { postId: post.postId, partial: true, contentMarkdown: 'Look', ifUpdatedAt: before.updatedAt })).rejects.toMatchObject({ code: 'CONTENT_CHANGED' }) // prettier-ignore
    expect((await site.call(posts.show, { id: '2' })).post.contentMarkdown).toBe('Here, in other words')
    expect((await site.call(posts.show, { id: '3' })).post.contentMarkdown).toMatch(/^!\[\]\(\S+\.webp\)$/)
    const uses = await site.db.selectFrom('image_uses').select(['postId', 'commentId']).execute()
    expect([uses.length, uses.filter(({ commentId }) => commentId !== null).length]).toEqual([4, 2])
    expect(await site.db.selectFrom('imported_rows').selectAll().where('kind', '=', 'awaiting').execute()).toEqual([])
  })

  it('every import of a text that lacks an image names it, until it is here or the text is changed', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const text = (type: 'post' | 'comment', sourceId: string, more: object) => ({ type, sourceId, text: `Look ${shown('one')} ${shown('two')}`, ...more }) // prettier-ignore
    const post = (sourceId: string) => text('post', sourceId, { title: sourceId })
    const onlyImage = { type: 'comment', sourceId: 'c2', post: 'p1', text: shown('one', '') } // refused until then
    const records = [post('p1'), post('p2'), text('comment', 'c1', { post: 'p1' }), onlyImage]
    const missing = (...of: (readonly [string, string, string])[]) => ({ count: of.length, images: of.map(([type, sourceId, name]) => ({ type, sourceId, name })) }) // prettier-ignore
    const both = (type: string, sourceId: string) => ['one', 'two'].map((name) => [type, sourceId, name] as const)
    await send(site, token, records)
    const all = missing(...both('post', 'p1'), ...both('post', 'p2'), ...both('comment', 'c1'), [
      'comment',
      'c2',
      'one',
    ])
    for (const options of [{ isDry: true }, {}])
      expect((await send(site, token, [...records, post('p1')], options)).last.missingImages).toEqual(all)

    const { post: changed } = await site.call(posts.show, { id: '2' })
    await site.call(posts.update, { postId: changed.postId, partial: true, contentMarkdown: 'Look' })
    const left = missing(['post', 'p1', 'two'], ['comment', 'c1', 'two'])
    for (const options of [{ isDry: true }, {}])
      expect((await send(site, token, [image('one', PNG), ...records], options)).last.missingImages).toEqual(left)
    expect((await send(site, token, [image('two', PNG), ...records])).last.missingImages).toBeUndefined()
    expect((await send(site, token, records)).last.missingImages).toBeUndefined()
  })

  it('an image that somebody took out of a text stays out', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const text = `Hello ${shown('gone', '')} ${shown('night', '')}`
    const records = [
      image('night', PNG),
      { type: 'post', sourceId: 'p1', title: 'Dark mode', text },
      { type: 'comment', sourceId: 'c1', post: 'p1', text },
    ]
    await send(site, token, records)
    const { post } = await site.call(posts.show, { id: '1' })
    const { id } = await site.db.selectFrom('comments').select('id').executeTakeFirstOrThrow()
    await site.call(posts.update, { postId: post.postId, partial: true, contentMarkdown: 'Hello' })
    await site.call(comments.update, { post_id: post.postId, comment_id: id, body: 'Hello' })
    await send(site, token, [image('gone', PNG), ...records])
    expect((await site.call(posts.show, { id: '1' })).post.contentMarkdown).toBe('Hello')
    expect(await site.db.selectFrom('comments').select('body').execute()).toEqual([{ body: 'Hello' }])
  })

  it('neither an address of another image nor more than fifty names show one', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const secret = await storeImage(site.db)
    const many = Array.from({ length: 60 }, (_, n) => shown(`i${n}`)).join(' ')
    const records = [
      { type: 'post', sourceId: 'p1', title: 'Dark mode', text: secret.markdown },
      image('i59', PNG),
      { type: 'post', sourceId: 'p2', title: 'Many', text: many },
      { type: 'post', sourceId: 'p3', title: 'Odd', text: '![a](import-image:%E0%A4%A) ![](import-image:)' },
    ]
    const { of } = await send(site, token, records)
    expect(of('post').created).toBe(3)
    expect(await site.db.selectFrom('image_uses').selectAll().execute()).toEqual([])
    expect((await site.http(`GET /${secret.path}`)).status).toBe(404)
  })
})

it('ten thousand files that are no images are refused one by one, and the posts come', async () => {
  const site = await makeSite('sqlite')
  const token = await site.owner()
  const files = Array.from({ length: 10_000 }, (_, n) => image(`f${n}`, Buffer.from('no image')))
  const { of, last } = await send(site, token, [...files, { type: 'post', sourceId: 'p1', title: 'Dark mode' }])
  expect([of('image').failed, of('post').created, last.failures.length]).toEqual([10_000, 1, 1])
})
