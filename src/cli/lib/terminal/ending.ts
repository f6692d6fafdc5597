import type { Terminal } from './terminal.js'

let isStopping = false

/** From now on a shutdown ends the process, and says with which code. */
export const beginStopping = (): void => void (isStopping = true)

/**
 * Ends the process after a failure. What the command left open, such as a port or a timer, would keep it running. Waits
 * until the output is written, as process.exit() truncates it in a pipe.
 */
export async function endAfterFailure({ stdout, stderr }: Pick<Terminal, 'stdout' | 'stderr'>): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve)) // the log writes its lines at the end of a turn
  await Promise.all([stdout, stderr].map(written))
  if (process.exitCode && !isStopping) process.exit()
}

/** Resolves also if the stream fails. */
const written = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => void (stream.writableLength === 0 ? resolve() : stream.write('', () => resolve())))
