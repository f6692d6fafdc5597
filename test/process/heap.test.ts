import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it('the young generation stays at its size, also after a thread has started, until the limit ends', async () => {
  const program = path.join(import.meta.dirname, '../support/youngheap.ts')
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', program])
  const { before, held, after } = JSON.parse(stdout) as Record<'before' | 'held' | 'after', number>
  expect(before).toBeGreaterThan(0)
  expect(held).toBeLessThan(2 * before)
  expect(after).toBeGreaterThan(2 * before)
})
