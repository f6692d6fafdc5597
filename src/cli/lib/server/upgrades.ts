import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'

/** Milliseconds between two checks. */
const LOOK_MS = 1000
/** An upgrade removes the folder before it makes it anew. After so many looks nothing comes any more. */
const LOOKS_IF_GONE = 60

/** Says in the log when an upgrade replaces the running program. */
export async function watchUpgrades(
  log: Pick<Logger, 'warn'>,
  { version, installed }: { version: string; installed(this: void): Promise<string | undefined> },
): Promise<void> {
  let known: string | undefined = version
  for (let missing = 0; ; await sleep(LOOK_MS, undefined, { ref: false })) {
    const found = await installed()
    missing = found === undefined ? missing + 1 : 0
    if (found === known || (found === undefined && missing < LOOKS_IF_GONE)) continue
    known = found
    if (found === undefined) log.warn({ version }, 'the files of this program are gone: the server runs until it stops')
    else if (found !== version)
      log.warn({ version, installed: found }, `version ${found} is installed: restart to run it`)
  }
}
