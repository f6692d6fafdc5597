import { onTestFailed } from 'vitest'
import { seededRandom } from '../../src/core/random.js'

const { FEEDBACKCTL_TEST_SEED: given } = process.env

/** The seed of FEEDBACKCTL_TEST_SEED, or a new one. */
export const newSeed = (): number => (given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given))

/** Random numbers from 0 to 1 for one test, whose failure prints their seed. */
export function random(): () => number {
  const seed = newSeed()
  onTestFailed(() => void process.stderr.write(`FEEDBACKCTL_TEST_SEED=${seed} repeats the failure\n`))
  return seededRandom(seed)
}
