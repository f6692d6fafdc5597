import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { LongestFirst } from './test/support/sequencer.js'

/** Milliseconds to wait for what must happen: so long that only the time of the test bounds it, but says what failed. */
const PATIENCE = 50_000

/** What holds for the tests of each project, and not for the global setup. */
export const common: TestProjectInlineConfiguration['test'] = {
  setupFiles: 'test/support/setup.ts',
  alias: {
    '@node-rs/argon2': fileURLToPath(new URL('test/support/argon2.ts', import.meta.url)),
    '@node-rs/bcrypt': fileURLToPath(new URL('test/support/bcrypt.ts', import.meta.url)),
    pg: fileURLToPath(new URL('test/support/pg.ts', import.meta.url)),
    './assetfolder.js': fileURLToPath(new URL('test/support/assetfolder.ts', import.meta.url)),
  },
  restoreMocks: true,
  unstubEnvs: true,
  // For tests that hang. Beside a load the slowest takes a minute.
  testTimeout: 240_000,
  hookTimeout: 240_000,
  expect: { poll: { timeout: PATIENCE } },
}

/** What holds for the whole run. */
export const run = {
  globalSetup: 'test/support/global.ts',
  slowTestThreshold: 3000,
  // A skipped or narrowed test nobody sees is a defect.
  allowOnly: false,
}

/** Tests that change what the program reads when it starts, such as its languages. */
const ALONE = ['test/web/pseudo.test.ts']

export default defineConfig({
  test: {
    ...run,
    projects: [
      // One process runs many files, because each would import the whole program anew.
      { test: { ...common, name: 'shared', include: ['test/**/*.test.ts'], exclude: ALONE, isolate: false } },
      { test: { ...common, name: 'alone', include: ALONE } },
    ],
    sequence: { sequencer: LongestFirst },
    // Tests of the program wait for processes, leases and locks about half of their time.
    maxWorkers: availableParallelism() * 2,
  },
})
