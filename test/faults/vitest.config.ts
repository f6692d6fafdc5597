import { defineConfig } from 'vitest/config'
import { common, run } from '../../vitest.config.js'

const INCLUDED = [
  'test/faults/**/*.test.ts',
  'test/cli/freshness.test.ts',
  'test/cli/fuzz.test.ts',
  'test/http/property.test.ts',
]

/** The long versions of tests whose length is a number of repetitions, one at a time: `npm run test:faults`. */
export default defineConfig({
  test: {
    ...run,
    // Of a project, because the global setup must not see its aliases
    projects: [
      {
        test: {
          ...common,
          name: 'faults',
          include: INCLUDED,
          env: { FEEDBACKCTL_FAULTS: 'full' },
          testTimeout: 40 * 60_000,
        },
      },
    ],
    reporters: ['default', './test/support/figures.ts'],
    maxWorkers: 1,
  },
})
