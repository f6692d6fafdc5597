import { defineConfig } from 'vitest/config'
import base from '../../vitest.config.js'

/** The long versions of the tests of faults, one at a time: `npm run test:faults`. */
export default defineConfig({
  test: {
    ...base.test,
    include: ['test/faults/**/*.test.ts'],
    env: { FEEDBACKCTL_FAULTS: 'full' },
    reporters: ['default', './test/support/figures.ts'],
    maxWorkers: 1,
    testTimeout: 40 * 60_000,
  },
})
