import { mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import { importFiles } from '../../src/cli/lib/server/importfiles.js'
import { cleanup } from '../support/site.js'

function filesIn() {
  const folder = mkdtempSync(path.join(tmpdir(), 'importfiles-'))
  cleanup(() => rmSync(folder, { recursive: true, force: true }))
  const files = importFiles(folder)
  async function kept(text: string): Promise<string> {
    async function* bytes() {
      yield await Promise.resolve(Buffer.from(text))
    }
    for await (const told of files.receive(bytes(), { untilRemoved: true })) if ('id' in told) return told.id
    throw new Error('nothing was kept')
  }
  return { files, kept, folder, left: () => readdirSync(folder) }
}

const map = new Map<string, string>()

it('a file of JSON is read without holding up what else the server does', async () => {
  const { files, kept } = filesIn()
  const posts = Array.from({ length: 20_000 }, (_, at) => ({ id: `p${at}`, title: `Post ${at}`, details: 'A few **words** '.repeat(30), board: { id: 'b', name: 'Ideas' } })) // prettier-ignore
  const id = await kept(JSON.stringify({ posts }))
  let [turns, isOver] = [0, false]
  const turn = () => {
    turns += 1
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  const { product, records } = await files.open(id, { product: undefined, map })
  expect(product).toBe('canny')
  expect(turns).toBeGreaterThan(100) // reading it here is one turn of the event loop
  turns = 0
  const reading = records(() => {})[Symbol.asyncIterator]()
  expect(JSON.parse((await reading.next()).value)).toEqual({ type: 'board', sourceId: 'b', name: 'Ideas' })
  expect(turns).toBeGreaterThan(100)
  isOver = true
  expect(JSON.parse((await reading.next()).value)).toMatchObject({ type: 'post', sourceId: 'p0', text: expect.stringContaining('**words**') }) // prettier-ignore
  await reading.return?.()
})

it('what is wrong with a file is said without its path, also where it is found late', async () => {
  const { files, kept } = filesIn()
  const open = async (text: string, product?: string) => files.open(await kept(text), { product, map })
  await expect(open('[{"number":1,"title":"x"},')).rejects.toMatchObject({ code: 'BAD_REQUEST', message: 'Line 1 of the file is not JSON.' }) // prettier-ignore
  const late = await open(`{"type":"tag","sourceId":"1","name":"x"}\n${'x'.repeat(7_000_000)}`, 'records')
  const reading = late.records(() => {})[Symbol.asyncIterator]()
  await expect(reading.next()).rejects.toMatchObject({
    code: 'BAD_REQUEST',
    message: 'Line 2 of the file is too long.',
  })
  await expect(open('x', 'astuto')).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  const notes: string[] = []
  const noted = await open(JSON.stringify({ posts: [{ id: '1', title: 'x', imageURLs: ['https://canny.io/1.png'] }], entries: [{ id: '1' }] })) // prettier-ignore
  for await (const _ of noted.records((sentence) => void notes.push(sentence))) continue
  expect(notes).toEqual(['Entries of the changelog are not imported.'])
})

it('no other process removes a file while it is read, unless its reader was killed', async () => {
  const { files, folder } = filesIn()
  vi.resetModules() // another worker has modules of its own
  const other = (await import('../../src/cli/lib/server/importfiles.js')).importFiles(folder)
  async function* bytes() {
    yield await Promise.resolve(Buffer.from('title\nOne\n'))
  }
  const sent = async (to: typeof files) => {
    for await (const told of to.receive(bytes(), { forPerson: 'ada' })) if ('id' in told) return told.id
    throw new Error('nothing was kept')
  }
  const first = await sent(files)
  const release = await files.hold(first)
  const second = await sent(other)
  expect((await other.ids()).toSorted()).toEqual([first, second].toSorted())
  const { product } = await other.open(first, { product: undefined, map })
  expect(product).toBe('csv')
  release()
  const third = await sent(other)
  expect(await files.ids()).toEqual([third])

  await files.hold(third) // and is killed
  const [name = ''] = readdirSync(folder)
  const reader = readdirSync(path.join(folder, name)).find((each) => each.startsWith('reader-')) ?? ''
  const old = new Date(Date.now() - 700_000)
  utimesSync(path.join(folder, name, reader), old, old)
  const last = await sent(other)
  expect(await files.ids()).toEqual([last])
})
