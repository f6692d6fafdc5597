import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/global.ts',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A skipped or narrowed test nobody sees is a defect.
    allowOnly: false,
  },
})
