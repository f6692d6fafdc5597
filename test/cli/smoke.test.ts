import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

// `npm run test:node` runs the same script on the other versions of Node.
it('runs the smoke test on this version of Node', async () => {
  const script = path.resolve(import.meta.dirname, '../support/smoke.js')
  const { stdout } = await promisify(execFile)(process.execPath, [script])
  expect(stdout).toMatch(/^Node \S+: \d+ commands and the demo work$/m)
})
