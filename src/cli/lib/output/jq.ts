import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { AppError } from '../../../core/errors.js'
import { printable, printableLines } from '../../../core/text.js'
import { write, type Terminal } from '../terminal/terminal.js'

/**
 * Prints the texts that the program jq makes of a response, each as soon as it comes: what was printed before a failure
 * stays. On a terminal, nothing in them controls it.
 */
export async function throughJq(terminal: Terminal, expression: string, body: unknown): Promise<void> {
  const jq = start(terminal, expression)
  const release = endWithUs(jq)
  try {
    const ended = once(jq, 'close') as Promise<[number | null, NodeJS.Signals | null]>
    jq.stdin.on('error', () => {}) // it may end before it has read everything, as `empty` does
    jq.stdin.end(JSON.stringify(body))
    const [problem, [code, signal]] = await Promise.all([
      text(jq.stderr),
      ended.catch((error: unknown) => Promise.reject(notStarted(error))),
      print(terminal, jq.stdout.setEncoding('utf8')),
    ])
    if (signal !== null) throw new AppError('USAGE', `jq was ended by ${signal}.`)
    if (code !== 0) throw new AppError('USAGE', `jq refuses this: ${printable(problem.trim().slice(0, 300))}`)
  } finally {
    release()
  }
}

function start({ env }: Terminal, expression: string) {
  try {
    // The space: it is no option of jq
    return spawn('jq', ['-r', ` ${expression}`], { env, stdio: ['pipe', 'pipe', 'pipe'] })
  } catch (error) {
    throw notStarted(error) // an expression that is too long, for one
  }
}

async function print(terminal: Terminal, found: AsyncIterable<string>): Promise<void> {
  for await (const part of found) await write(terminal, terminal.stdout.isTTY ? printableLines(part) : part)
}

function notStarted(error: unknown): AppError {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT')
    return new AppError('USAGE', '--jq needs the program jq, which is not here. Install it, or give --fields to choose fields.') // prettier-ignore
  return new AppError('USAGE', `jq cannot be started (${code ?? printable(message)}).`)
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** An expression may have no end: jq does not outlive this process. Returns what to call when jq has ended. */
function endWithUs(jq: ChildProcess): () => void {
  const kill = () => void jq.kill('SIGKILL')
  const stop = (signal: NodeJS.Signals) => {
    release()
    process.kill(process.pid, signal) // ends this process, as nobody else listens
  }
  const release = () => {
    kill() // no effect if jq has exited
    process.off('exit', kill)
    for (const signal of SIGNALS) process.off(signal, stop)
  }
  process.on('exit', kill)
  for (const signal of SIGNALS) process.on(signal, stop)
  return release
}
