import type { Logger } from 'pino'
import type { Log } from '../../../serve.js'
import type { Ending } from './shutdown.js'
import { harmless, hasColor, type ColorFlag, type Terminal } from '../terminal/terminal.js'

/** Opens the log on stderr: readable lines on a terminal, JSON lines otherwise. */
export async function openLog(
  terminal: Terminal,
  { level, color, single }: ColorFlag & { level: string; single: boolean },
): Promise<Log> {
  if (!terminal.stderr.isTTY) {
    const write = batchWrites((lines) => void terminal.stderr.write(lines), single ? BATCH_LENGTH : WORKER_BATCH_LENGTH)
    return { level, stream: { write } }
  }
  const { default: pinoPretty } = await import('pino-pretty')
  const options = {
    colorize: hasColor(terminal, terminal.stderr, { color }),
    ignore: 'pid,hostname',
    translateTime: 'SYS:HH:MM:ss',
  }
  const pretty = pinoPretty.prettyFactory({ ...options, singleLine: true })
  const prettyRequest = pinoPretty.prettyFactory({
    ...options,
    hideObject: true,
    messageFormat: '{method} {url} {status} {ms} ms {remoteAddress} {reqId}',
  })
  // A terminal that is gone fails every write, which `run` ignores.
  const write = (line: string) =>
    void terminal.stderr.write(harmless((line.endsWith('"msg":"request"}\n') ? prettyRequest : pretty)(line)))
  return { level, stream: { write } }
}

const BATCH_LENGTH = 64_000
/** Below PIPE_BUF (4096 on Linux), so that writes to a pipe are atomic and lines of several processes do not mix. */
const WORKER_BATCH_LENGTH = 4000

/** Writes all lines of one turn of the event loop at once. A write per line takes as long as a cached response. */
function batchWrites(write: (lines: string) => void, maxLength: number): (line: string) => void {
  let lines = ''
  const flush = () => {
    if (lines !== '') write(lines)
    lines = ''
  }
  process.once('exit', flush)
  return (line) => {
    if (lines === '') setImmediate(flush)
    else if (lines.length + line.length > maxLength) {
      write(lines)
      lines = ''
    }
    lines += line
  }
}

/** For lines that are not about a request. */
export const loggerOf = async ({ level, stream }: Log): Promise<Logger> =>
  (await import('pino')).default({ level }, stream)

export function logEnding(log: Logger, ending: Ending): void {
  if ('signal' in ending) log.info({ reason: ending.signal }, 'stopping')
  else if ('err' in ending) log.fatal(ending, 'stopping after an unexpected error')
  else log.error(ending, 'the shutdown took too long and was abandoned')
}
