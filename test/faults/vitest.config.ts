import { defineConfig } from 'vitest/config'
import { common, run } from '../../vitest.config.js'

/** The long versions of tests whose length is a number of repetitions, one at a time: `npm run test:faults`. */
export default defineConfig({
  test: {
    ...common,
    ...run,
    include: [
      'test/faults/**/*.test.ts',
      'test/cli/freshness.test.ts',
      'test/cli/fuzz.test.ts',
      'test/http/property.test.ts',
    ],
    env: { FEEDBACKCTL_FAULTS: 'full' },
    reporters: ['default', './test/support/figures.ts'],
    maxWorkers: 1,
    testTimeout: 40 * 60_000,
  },
})
