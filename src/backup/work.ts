import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { environmentOf, type Config } from '../config.js'
import { durationOf } from '../core/durations.js'
import { AppError } from '../core/errors.js'
import { yieldToRequests } from './priority.js'
import { listBackups, type Listed } from './verify.js'

type Environment = Readonly<Record<string, string | undefined>>

/** The backups of this machine, for the operations and the job of a server. */
export function backupWork(config: Config, env: Environment) {
  const folder = path.resolve(config.get('backup.dir') ?? '')
  const list = async (): Promise<Listed[]> =>
    (await listBackups(config)).map((each) => ({ ...each, file: path.basename(each.file) }))
  return {
    every: durationOf(config.get('backup.every') ?? 'off') || null,
    list,
    names: async () => (await list()).map(({ file }) => file),
    /** In a process of its own, as the same command at the terminal: a rehearsal would hold up requests for seconds. */
    async run({ kind, file }: { kind: 'create' | 'rehearse'; file: string | null }, signal: AbortSignal) {
      const args = ['backup', kind, ...(file === null ? [] : [path.join(folder, file)]), '--json']
      const made = JSON.parse(
        await outputOf(args, { ...env, ...environmentOf(config), FEEDBACKCTL_WORKER: undefined }, signal),
      ) as { file: string }
      return path.basename(made.file)
    },
  }
}

async function outputOf(args: readonly string[], env: Environment, signal: AbortSignal): Promise<string> {
  const [, program = ''] = process.argv
  const child = spawn(process.execPath, [program, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  })
  const ended = once(child, 'close') as Promise<[code: number | null]>
  const said = Promise.all([text(child.stdout), text(child.stderr), ended])
  if (child.pid !== undefined) yieldToRequests(child.pid)
  const [output, errors, [code]] = await said
  if (code === 0) return output
  throw failureOf(errors)
}

/** The last line that the command wrote to stderr is its error, as JSON. */
function failureOf(errors: string): AppError {
  const line = errors.trim().split('\n').at(-1) ?? ''
  let message: unknown
  try {
    message = (JSON.parse(line) as { message?: unknown }).message
  } catch {
    message = line
  }
  return new AppError('BACKUP_FAILED', typeof message === 'string' && message !== '' ? message : 'The process was ended before it was done.') // prettier-ignore
}
