import { execFile, spawnSync } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { PROGRAM } from '../support/cli.js'
import { temporaryFolder } from '../support/site.js'

interface Found {
  before: unknown[]
  command: { code: number; stderr: string }
  full: number
  writes: string[]
  page: number
  exported: string
  backup: { code: number; stderr: string; left: string[] }
  after: unknown[]
}

/** Whether somebody may mount a disk that nobody else sees. Ubuntu and most containers refuse it to all but root. */
const mayMount = () => {
  const mounted = spawnSync('unshare', ['--map-root-user', '--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/tmp'])
  return !/permi|ENOENT/.test(String(mounted.error ?? mounted.stderr))
}

// `npm run test:faults` insists on it
it.runIf(process.env.FEEDBACKCTL_FAULTS === 'full' || mayMount())(
  'a full disk is said by /readyz, commands and forms, and everything goes on when there is room (needs a mount)',
  async () => {
    const script = path.resolve(import.meta.dirname, '../support/fulldisk.js')
    const args = ['--map-root-user', '--mount', process.execPath, script, PROGRAM, temporaryFolder()]
    const { stdout } = await promisify(execFile)('unshare', args)
    const { before, command, full, writes, page, exported, backup, after } = JSON.parse(stdout) as Found
    expect(before).toEqual(['201', 200])
    expect(command).toMatchObject({ code: 6, stderr: expect.stringMatching(/no space left[^]*STORAGE_FULL/) })
    expect(full).toBe(503)
    expect(writes).toEqual(['503 STORAGE_FULL', '503 STORAGE_FULL'])
    expect(page).toBe(200)
    expect(exported).toBe('503 STORAGE_FULL')
    expect(backup).toMatchObject({ code: 6, stderr: expect.stringMatching(/no backup[^]*STORAGE_FULL/), left: [] })
    expect(after).toEqual([200, '201', 0, 0])
  },
)
