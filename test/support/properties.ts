import fc from 'fast-check'
import { onTestFailed } from 'vitest'
import { newSeed } from './random.js'

/**
 * `fc.assert` with the seed of FEEDBACKCTL_TEST_SEED, or one of its own. A failure prints the seed, also where the test
 * ends without a counterexample, because it took too long. The error is in the message, as reports of runs have no cause.
 */
export async function assertProperty<T>(
  property: fc.IAsyncProperty<T>,
  parameters: Omit<fc.Parameters<T>, 'seed'>,
): Promise<void> {
  const seed = newSeed()
  let holds = false
  onTestFailed(() => {
    if (!holds) process.stderr.write(`FEEDBACKCTL_TEST_SEED=${seed} repeats the failure\n`)
  })
  await fc.assert(property, { ...parameters, seed, includeErrorInReport: true })
  holds = true
}
