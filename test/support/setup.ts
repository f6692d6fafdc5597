import { afterAll, afterEach, vi } from 'vitest'
import { finishAll, runCleanups } from './cleanup.js'

// Many files share a process, so these hooks are here: vitest runs this file again for each of them, but not what it
// imports.
afterEach(runCleanups)
afterEach(() => void vi.useRealTimers())
afterAll(finishAll)
