import { afterEach, expect, it, vi } from 'vitest'
import { counter } from '../../src/cli/lib/terminal/progress.js'
import type { Terminal } from '../../src/cli/lib/terminal/terminal.js'

afterEach(() => void vi.useRealTimers())

it.each([
  { isTTY: true, hasLines: false, shown: true },
  { isTTY: true, hasLines: true, shown: true },
  { isTTY: false, hasLines: true, shown: true },
  { isTTY: false, hasLines: false, shown: false },
])(
  'long work shows how much is done, but not among lines of JSON ($isTTY, $hasLines)',
  ({ isTTY, hasLines, shown }) => {
    vi.useFakeTimers({ toFake: ['performance'] })
    let written = ''
    const stderr = { isTTY, write: (text: string) => void (written += text) }
    const { report, end } = counter({ stderr } as unknown as Terminal, hasLines)
    vi.advanceTimersByTime(60_000)
    report('100 posts')
    end()
    expect(written.includes('100 posts …')).toBe(shown)
  },
)
