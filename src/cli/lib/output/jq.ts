import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { AppError } from '../../../core/errors.js'
import { printable, printableLines } from '../../../core/text.js'
import { write, type Terminal } from '../terminal/terminal.js'

/** Prints what the program jq makes of a response, with texts as they are. On a terminal, nothing in them controls it. */
export async function throughJq(terminal: Terminal, expression: string, body: unknown): Promise<void> {
  // The space: it is no option of jq
  const jq = spawn('jq', ['-r', ` ${expression}`], { env: terminal.env, stdio: ['pipe', 'pipe', 'pipe'] })
  jq.stdin.on('error', () => {}) // it may end before it has read everything, as `empty` does
  jq.stdin.end(JSON.stringify(body))
  const results = Promise.all([text(jq.stdout), text(jq.stderr), once(jq, 'close')])
  const [found, problem, [code]] = await results.catch(() => {
    throw new AppError('USAGE', '--jq needs the program jq, which is not here. Install it, or give --fields to choose fields.') // prettier-ignore
  })
  if (code !== 0) throw new AppError('USAGE', `jq refuses this: ${printable(problem.trim().slice(0, 300))}`)
  await write(terminal, terminal.stdout.isTTY ? printableLines(found) : found)
}
