import { availableParallelism } from 'node:os'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { LongestFirst } from './test/support/sequencer.js'

const project = (name: string, options: TestProjectInlineConfiguration['test']): TestProjectInlineConfiguration => ({
  test: {
    name,
    setupFiles: 'test/support/setup.ts',
    alias: { '@node-rs/argon2': new URL('test/support/argon2.ts', import.meta.url).pathname },
    restoreMocks: true,
    unstubEnvs: true,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    ...options,
  },
})

/** Tests that change what the program reads when it starts, such as its languages. */
const ALONE = ['test/web/pseudo.test.ts']

export default defineConfig({
  test: {
    projects: [
      // One process runs many files: each would import the whole program anew.
      project('shared', { include: ['test/**/*.test.ts'], exclude: ALONE, isolate: false }),
      project('alone', { include: ALONE }),
    ],
    globalSetup: 'test/support/global.ts',
    sequence: { sequencer: LongestFirst },
    // Tests of the program wait for processes, leases and locks about half of their time.
    maxWorkers: availableParallelism() * 2,
    slowTestThreshold: 3000,
    // A skipped or narrowed test nobody sees is a defect.
    allowOnly: false,
  },
})
