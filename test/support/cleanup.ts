type Work = () => unknown

const afterTest: Work[] = []
const afterFile: Work[] = []

/** Registers work to run after the test, even if it fails. The last registered runs first. */
export const cleanup = (work: Work): void => void afterTest.push(work)

/** Lets work that nobody waits for end before the file does. */
export const finishLater = (work: Promise<unknown>): void => void afterFile.push(() => work)

/** Makes what several tests of a file share: what it registers is cleaned up after the last of them. */
export async function untilEndOfFile<T>(make: () => Promise<T>): Promise<T> {
  const before = afterTest.length
  const made = await make()
  afterFile.push(...afterTest.splice(before))
  return made
}

export const cleanUpAfterTest = (): Promise<void> => runAll(afterTest)

export const cleanUpAfterFile = async (): Promise<void> => {
  while (afterFile.length > 0) await runAll(afterFile) // work may register more
}

/** Runs all work, and then fails with what failed, so that one failure leaves nothing else behind. */
async function runAll(works: Work[]): Promise<void> {
  const failures: unknown[] = []
  for (const work of works.splice(0).toReversed()) {
    try {
      await work()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length === 1) throw failures[0]
  if (failures.length > 1) throw new AggregateError(failures, failures.join('\n'))
}
