import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { checkHash, readHeader, writeContainer } from '../../src/backup/container.js'
import { readRecords } from '../../src/backup/records.js'
import { temporaryFolder } from '../support/site.js'

const HEADER = { version: '1', schema: '0001_initial', engine: 'sqlite', createdAt: '2026-03-02T10:00:00.000Z', redacted: false } as const // prettier-ignore

/** Writes a backup of one table, and returns how many rows and characters it gives at a time. */
async function batchesOf(rows: readonly string[], secret: string | null = null): Promise<[number, number][]> {
  const file = path.join(temporaryFolder(), 'some.backup')
  const lines = rows.map((text) => `${JSON.stringify([text])}\n`)
  const sha256 = createHash('sha256').update(lines.join('')).digest('hex')
  const manifest = { tables: { posts: { rows: rows.length, sha256 } }, sequences: {} }
  const stream = createWriteStream(file)
  const all = async function* () {
    yield `${JSON.stringify({ site: { secret } })}\n${JSON.stringify({ table: 'posts', columns: ['slug'] })}\n`
    yield* lines
    yield `${JSON.stringify({ manifest })}\n`
  }
  await writeContainer(stream, HEADER, { lines: all(), passphrase: undefined })
  await new Promise<void>((resolve) => stream.end(resolve))
  const opened = await readHeader(file)
  await checkHash(file, opened)
  const batches: [number, number][] = []
  for await (const { rows: some } of readRecords(file, opened, { passphrase: undefined, envelope: {} }))
    batches.push([some.length, some.flat().join('').length])
  return batches
}

it('rows of a backup are read as many at a time as memory holds, however long they are', async () => {
  // 500 of the longest lines have 2 GB, and no string is as long
  const batches = await batchesOf(Array.from({ length: 40 }, () => 'x'.repeat(2 ** 20)))
  expect(batches.reduce((sum, [rows]) => sum + rows, 0)).toBe(40)
  expect(Math.max(...batches.map(([, length]) => length))).toBeLessThan(8 * 2 ** 20)
  expect((await batchesOf(Array.from({ length: 1200 }, () => 'x'))).map(([rows]) => rows)).toEqual([500, 500, 200])
})

it('a secret that no file holds as it is is none of a backup', async () => {
  await expect(batchesOf([], '\ud800')).rejects.toThrow('A line of it is none of a backup')
  await expect(batchesOf([], 'a\0b')).rejects.toThrow('A line of it is none of a backup')
  expect(await batchesOf([], 'a secret of the tests, long enough')).toEqual([])
})
