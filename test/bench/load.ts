import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { ended, folder, start } from './processes.js'
import type { Request } from './requests.js'

/** wrk needs a fifth of the CPU that autocannon needs, and leaves more of a small machine to the server. */
export const GENERATOR = spawnSync('wrk', ['--version']).error ? 'autocannon' : 'wrk'

/** What a load generator reports; times in milliseconds. */
export interface Report {
  requests: number
  seconds: number
  /** Responses with a status of 400 or above. */
  refused: number
  /** Requests without a response. */
  broken: number
  p50: number
  p99: number
}

/** Requests that another process sends in turn. Each `send` continues where the one before stopped. */
export interface Load {
  send(this: void, to: { url: string; connections: number; seconds: number }): Promise<Report>
}

let files = 0

/** `first`: the index of the request to begin with. */
export function loadOf(requests: readonly Request[], first = 0): Load {
  const file = path.join(folder, `requests-${++files}`)
  writeFileSync(file, GENERATOR === 'wrk' ? requests.map(asBytes).join('') : JSON.stringify(requests))
  let at = first
  return {
    async send({ url, connections, seconds }) {
      const line = await output(...commandOf({ url, connections, seconds, file, at }))
      const report = JSON.parse(line) as Report & { at: number } // written by our own script
      at = report.at
      return report
    },
  }
}

interface SendOptions {
  url: string
  connections: number
  seconds: number
  file: string
  at: number
}

function commandOf({ url, connections, seconds, file, at }: SendOptions): [string, string[]] {
  const script = (name: string) => path.join(import.meta.dirname, 'load', name)
  return GENERATOR === 'wrk'
    ? [
        'wrk',
        [
          '-t1',
          `-c${connections}`,
          `-d${seconds}s`,
          '--timeout',
          '10s',
          '-s',
          script('wrk.lua'),
          url,
          '--',
          file,
          String(at),
        ],
      ]
    : [process.execPath, [script('autocannon.js'), url, String(connections), String(seconds), file, String(at)]]
}

/** The bytes of a request, after their number. */
function asBytes({ method, path: target, headers, body }: Request): string {
  const lines = Object.entries({
    host: '127.0.0.1',
    ...headers,
    ...(body && { 'content-length': Buffer.byteLength(body) }),
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  const bytes = `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
  return `${Buffer.byteLength(bytes)}\n${bytes}`
}

/** The last line that a program writes. */
async function output(program: string, args: string[]): Promise<string> {
  const child = start(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const code = await ended(child)
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${text}`)
  return text.trim().split('\n').at(-1) ?? ''
}
