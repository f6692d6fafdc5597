import { readdirSync, readlinkSync, statSync } from 'node:fs'
import { expect, it } from 'vitest'
import { spooled } from '../../src/backup/spool.js'
import { makeGate } from '../support/gate.js'
import { temporaryFolder } from '../support/site.js'

/** Bytes of the files in this folder that have no name any more, and that this process has open. */
const unnamedBytes = (folder: string): number[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const file = readlinkSync(`/proc/self/fd/${fd}`)
      return file.startsWith(folder) ? [statSync(`/proc/self/fd/${fd}`).size] : []
    } catch {
      return [] // closed meanwhile
    }
  })

it('an export that cannot be written takes no room, even if its client never reads on', async () => {
  const folder = temporaryFolder()
  const ready = makeGate()
  async function* pieces() {
    for (let piece = 0; piece < 10; piece++) yield { text: 'x'.repeat(64 * 1024), rows: 1 }
    await ready.opened
    throw new Error('the database is gone')
  }
  const reader = spooled(pieces(), [folder])
  expect((await reader.next()).done).toBe(false)
  await expect.poll(() => unnamedBytes(folder)).toEqual([640 * 1024])
  ready.open()
  await expect.poll(() => unnamedBytes(folder)).toEqual([0])
  await expect(reader.next()).rejects.toThrow('the database is gone')
  expect(unnamedBytes(folder)).toEqual([])
})
