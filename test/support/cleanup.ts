type Work = () => unknown

const afterTest: Work[] = []
const afterFile: Promise<unknown>[] = []

/** Registers work to run after the test, even if it fails. The last registered runs first. */
export const cleanup = (work: Work): void => void afterTest.push(work)

/** Lets work that nobody waits for end before the file does. */
export const finishLater = (work: Promise<unknown>): void => void afterFile.push(work)

/** Runs all work, and then fails with what failed, so that one failure leaves nothing else behind. */
export async function runCleanups(): Promise<void> {
  const failures: unknown[] = []
  for (const work of afterTest.splice(0).toReversed()) {
    try {
      await work()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length === 1) throw failures[0]
  if (failures.length > 1) throw new AggregateError(failures, failures.join('\n'))
}

export const finishAll = (): Promise<unknown> => Promise.all(afterFile.splice(0))
