import type { Step, OnStep } from '../../../backup/steps.js'
import { interruptible } from './interruptible.js'
import { progressBar } from './progress.js'
import type { Terminal } from './terminal.js'

const NAMES: Record<Exclude<Step, 'wait'>, string> = {
  check: 'Checking',
  restore: 'Restoring',
  index: 'Indexing',
  compare: 'Comparing',
}

/** Shows how far a restore is, and ends it after Ctrl-C with `message`. `end` removes both. */
export function steps(terminal: Terminal, message: string): { report: OnStep; end(this: void): void } {
  const bar = progressBar(terminal)
  const { check, undo } = interruptible(message)
  return {
    report(step, ...rest) {
      check()
      if (step !== 'wait') bar.report(NAMES[step], ...rest)
    },
    end() {
      bar.end()
      undo()
    },
  }
}
