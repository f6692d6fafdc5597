import { afterAll, afterEach, vi } from 'vitest'
import { cleanUpAfterFile, cleanUpAfterTest } from './cleanup.js'

// Many files share a process, so these hooks are here: vitest runs this file again for each of them, but not what it
// imports.
afterEach(cleanUpAfterTest)
afterEach(() => void vi.useRealTimers())
afterAll(cleanUpAfterFile)
