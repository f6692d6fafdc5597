import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/global.ts',
    // Tests of the program wait for processes, leases and locks about a third of their time.
    maxWorkers: availableParallelism() + 1,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    slowTestThreshold: 3000,
    // A skipped or narrowed test nobody sees is a defect.
    allowOnly: false,
  },
})
