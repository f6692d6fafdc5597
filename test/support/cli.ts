import { spawn, type ChildProcess } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { Agent, request, type ClientRequest } from 'node:http'
import path from 'node:path'
import jwt from 'jsonwebtoken'
import pty from '@lydell/node-pty'
import { inject } from 'vitest'
import { makeHost, sharedHost } from './hosts.js'
import { copyTo, remember, type Prepared } from './prepared.js'
import { cleanup, makeDatabase, temporaryFolder, type Engine, type TestSite } from './site.js'

export const PROGRAM = path.resolve(import.meta.dirname, '../../bin/feedbackctl.js')

interface Result {
  code: number | null
  stdout: string
  stderr: string
}

/** An isolated environment for the built program, with home, configuration and data in a temporary folder. */
export interface Machine {
  folder: string
  databaseUrl: string
  env: Record<string, string>
  /**
   * Runs a command in a host: a process that all machines of this worker share, because starting one takes longer than
   * most commands. A second command at the same time is refused.
   */
  run: Run
  /** Runs a command in a process of its own: for tests of processes, locks, exits, and of commands at the same time. */
  process: Run
  /** Starts a host that no other machine uses, and returns a function that runs commands in it. */
  host(): Run
  start(args: string, options?: { env?: Record<string, string> }): Running
  /** Runs the program in a pseudo-terminal, by default with 80 columns. */
  terminal(args: string, options?: { env?: Record<string, string>; columns?: number }): Screen
  /**
   * Sets the site up and returns the owner's token. On SQLite a new machine gets a copy of what the first setup left,
   * so that such sites have the same secret and ids. With `machine.run` or, beside other commands, `machine.process` it
   * gets a setup of its own.
   */
  setup(how?: Run): Promise<string>
}

type Run = (args: string, options?: { stdin?: string; env?: Record<string, string> }) => Promise<Result>

interface Running {
  child: ChildProcess
  output(): Result
  /** Resolves with the first match in stderr. */
  says(pattern: RegExp): Promise<RegExpExecArray>
  stop(signal?: NodeJS.Signals): Promise<Result>
  ended: Promise<Result>
}

/** Starts a server of the machine, and returns a function that sends requests to it. */
export async function serve(machine: Machine, env: Record<string, string> = {}): Promise<TestSite['http']> {
  const server = machine.start('serve', { env })
  const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
  const agent = new Agent({ keepAlive: true })
  cleanup(async () => agent.destroy())
  return requestsTo(url, agent)
}

/** Returns a function that sends requests to a server over the connections of an agent. */
export const requestsTo =
  (url: string, agent: Agent): TestSite['http'] =>
  (line, { body, token, headers = {} } = {}) =>
    new Promise((resolve, reject) => {
      const [method, target = ''] = line.split(' ')
      const payload = body === undefined ? '' : JSON.stringify(body)
      const sent = {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(payload), // which Node leaves out of a DELETE
        }),
        ...headers,
      }
      request(`${url}/api/v1${target}`, { agent, method, headers: sent, timeout: 20_000 }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => (text += part))
        response.on('end', () => {
          const { statusCode: status = 0, headers: received } = response
          const isJson = text !== '' && /\bjson\b/.test(String(received['content-type']))
          resolve({ status, text, headers: received, body: isJson ? JSON.parse(text) : undefined })
        })
      })
        .on('error', reject)
        .on('timeout', function (this: ClientRequest) {
          this.destroy(new Error(`No response within 20 s: ${line}`))
        })
        .end(payload)
    })

/** What a session token would be if it were signed with the secret in this file: who accepts it has read the file. */
export function signedAnew(token: string, secretFile: string): string {
  const { userId, sessionId, iat, exp } = jwt.decode(token) as jwt.JwtPayload
  return jwt.sign({ userId, sessionId, iat, exp }, readFileSync(secretFile, 'utf8').trim(), { algorithm: 'HS256' })
}

interface Screen {
  text(): string
  /** Waits for a match in the output since the last input. */
  sees(pattern: RegExp): Promise<void>
  type(text: string): void
  /** Closes the terminal, as a lost connection does. */
  close(): void
  ended: Promise<{ code: number; text: string }>
}

/** Commands that run until they are stopped. */
const ENDLESS = /^(serve|demo)\b/
/** Variables that a process reads when it starts. */
const OF_PROCESS = /^(NODE_|LD_|LC_|LANG$|TZ$)/

/** What the first setup on SQLite left in this worker. */
let firstSetup: (Prepared & { token: string }) | undefined

interface MachineOptions {
  /** Another file than the built program. All commands of the machine then run in processes of their own. */
  program?: string
  /** Whether there are commands named `notes`, which exercise the command layer. */
  notes?: boolean
}

export async function makeMachine(engine: Engine, options: MachineOptions = {}): Promise<Machine> {
  const { notes = false, program = notes ? inject('notesProgram') : PROGRAM } = options
  const folder = temporaryFolder()
  const databaseUrl =
    engine === 'postgres'
      ? await makeDatabase(engine, folder)
      : `sqlite:${path.join(folder, 'data/feedbackctl/feedback.db')}`
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    XDG_CONFIG_HOME: path.join(folder, 'config'),
    XDG_DATA_HOME: path.join(folder, 'data'),
    FEEDBACKCTL_LISTEN: '127.0.0.1:0',
    ...(engine === 'postgres' && { FEEDBACKCTL_DATABASE_URL: databaseUrl }),
  }
  const unchanged = JSON.stringify(env)
  const start: Machine['start'] = (args, { env: more } = {}) =>
    running([program, ...words(args)], { cwd: folder, env: { ...env, ...more } })
  const inProcess: Run = async (args, { stdin = '', ...more } = {}) => {
    const { child, ended } = start(args, more)
    child.stdin?.end(stdin)
    return ended
  }
  const hosted =
    (host = sharedHost): Run =>
    (args, { stdin = '', env: more } = {}) =>
      host({ args: words(args), stdin, cwd: folder, env: { ...env, ...more }, notes })
  const run: Run = (args, more) => {
    const isOwn = ENDLESS.test(args) || Object.keys(more?.env ?? {}).some((name) => OF_PROCESS.test(name))
    return options.program !== undefined || isOwn ? inProcess(args, more) : hosted()(args, more)
  }
  return {
    folder,
    databaseUrl,
    env,
    run,
    process: inProcess,
    start,
    host: () => hosted(makeHost()),
    terminal: (args, { env: more, columns = 80 } = {}) =>
      screen([program, ...words(args)], { cwd: folder, env: { TERM: 'xterm-256color', ...env, ...more }, columns }),
    async setup(how) {
      const isCopy =
        engine === 'sqlite' &&
        how === undefined &&
        options.program === undefined &&
        JSON.stringify(env) === unchanged &&
        readdirSync(folder).length === 0
      if (isCopy && firstSetup) {
        copyTo(folder, firstSetup)
        return firstSetup.token
      }
      const { stdout, stderr, code } = await (how ?? run)(
        'setup --email ada@example.org --password-stdin --name Ada --mail-url folder:mail --json',
        { stdin: 'correct horse battery\n' },
      )
      if (code !== 0) throw new Error(stderr)
      const token = (JSON.parse(stdout) as { user: { authToken: string } }).user.authToken
      if (isCopy) firstSetup = { ...remember(folder), token }
      return token
    },
  }
}

/** Splits a command line. Single quotes group words. */
const words = (args: string): string[] =>
  [...args.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')

/** Starts Node with these arguments. The process is killed after the test. */
function running(args: string[], { cwd, env }: { cwd: string; env: Record<string, string> }): Running {
  const child = spawn(process.execPath, args, { cwd, env })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text))
  const ended = new Promise<Result>((resolve) => child.on('close', (code) => resolve({ code, ...output })))
  cleanup(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    child,
    output: () => ({ code: child.exitCode, ...output }),
    ended,
    async says(pattern) {
      const found = await until(() => pattern.exec(output.stderr), child)
      if (!found) throw new Error(`The process never printed ${pattern}: ${output.stderr}${output.stdout}`)
      return found
    },
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
  }
}

async function until<T>(find: () => T | null, child?: ChildProcess): Promise<T | null> {
  for (const end = Date.now() + 50_000; Date.now() < end;) {
    const found = find()
    if (found !== null) return found
    if (child && child.exitCode !== null) return find()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return null
}

function screen(
  args: string[],
  { cwd, env, columns }: { cwd: string; env: Record<string, string>; columns: number },
): Screen {
  const terminal = pty.spawn(process.execPath, args, { cwd, env, cols: columns, rows: 40 })
  let text = ''
  let inputAt = 0 // length of the output at the last input
  const changed = new EventEmitter()
  terminal.onData((data) => {
    text += data
    changed.emit('data')
  })
  const ended = new Promise<{ code: number; text: string }>((resolve) =>
    terminal.onExit(({ exitCode }) => resolve({ code: exitCode, text })),
  )
  cleanup(async () => {
    try {
      terminal.kill('SIGKILL')
    } catch {
      // already ended
    }
  })
  return {
    text: () => text,
    ended,
    type(input) {
      inputAt = text.length
      terminal.write(input)
    },
    close: () => (terminal as unknown as { destroy(): void }).destroy(),
    // Returns as soon as the text is there, so that what is typed next can come before the program is ready for it.
    async sees(pattern) {
      const signal = AbortSignal.timeout(25_000)
      while (!pattern.test(text.slice(inputAt)))
        await once(changed, 'data', { signal }).catch(() => {
          throw new Error(`The screen never showed ${pattern}: ${text}`)
        })
    },
  }
}
