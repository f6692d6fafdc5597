import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { inject } from 'vitest'
import { cleanup } from './cleanup.js'

/** A command for a host, which takes it as a line of JSON. See host.ts. */
export interface Command {
  args: string[]
  stdin: string
  cwd: string
  env: Record<string, string>
  notes: boolean
}

interface Outcome {
  code: number
  stdout: string
  stderr: string
}

export type Host = (command: Command) => Promise<Outcome>

interface Process {
  run: Host
  isBusy(): boolean
  end(): Promise<void>
}

let shared: Process | undefined

/** Runs a command in the host of this worker, which goes on with the next test unless a command still runs in it. */
export const sharedHost: Host = (command) => {
  const host = (shared ??= start())
  cleanup(async () => {
    if (!host.isBusy() || host !== shared) return
    shared = undefined
    await host.end()
  })
  return host.run(command)
}

/** Starts a host for this test. */
export function makeHost(): Host {
  const host = start()
  cleanup(host.end)
  return host.run
}

function start(): Process {
  const child = spawn(process.execPath, [inject('hostProgram')], { stdio: ['pipe', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const outcomes = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let running: string | undefined
  return {
    isBusy: () => running !== undefined,
    async run(command) {
      const line = command.args.join(' ')
      if (running !== undefined)
        throw new Error(`"${line}" would wait for "${running}". For commands at the same time, use machine.process.`)
      running = line
      child.stdin.write(`${JSON.stringify(command)}\n`)
      const { value, done } = await outcomes.next()
      if (done) {
        shared = undefined
        await ended
        throw new Error(`The host ended: ${errors}`)
      }
      running = undefined
      return JSON.parse(value) as Outcome
    },
    async end() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
