import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request as ask, type Agent } from 'node:http'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ended, folder, start } from './processes.js'
import { SECRET, type Request } from './requests.js'

/** A server under load. */
export interface Server {
  url: string
  pid: number
  stop(this: void): Promise<void>
}

export const PROGRAM = path.resolve(import.meta.dirname, '../../bin/feedbackctl.js')

/** Our server, with its usual log, written to a file. */
export const serve = (databaseUrl: string, flags: string[] = []): Promise<Server> =>
  listening([PROGRAM, 'serve', '--listen', '127.0.0.1:0', '--database-url', databaseUrl, ...flags])

/** A server of `references/`. */
export const reference = (name: 'bare' | 'raw', file: string): Promise<Server> =>
  listening([path.join(import.meta.dirname, 'references', `${name}.js`), file])

/** Bare `node:http` that sends recorded responses of a server: for each kind, the one to its last request. */
export async function bareLike({ url }: Server, requests: readonly Request[]): Promise<Server> {
  const kinds = new Map(requests.map((request) => [request.kind, request]))
  const answers = await Promise.all(
    [...kinds.values()].map(async (request) => {
      const answer = await answerOf(url, request)
      return { kind: request.kind, ...answer, body: answer.body.toString('base64') } // it may be compressed
    }),
  )
  const file = path.join(folder, `answers-${++files}.json`)
  writeFileSync(file, JSON.stringify(answers))
  return reference('bare', file)
}

interface Answer {
  status: number
  headers: Record<string, string>
  body: Buffer
}

/** Headers that node writes into every answer by itself. */
const OWN = new Set(['connection', 'date', 'keep-alive', 'transfer-encoding'])

export function answerOf(
  url: string,
  { method, path: target, headers, body }: Pick<Request, 'method' | 'path' | 'headers' | 'body'>,
  agent?: Agent,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = ask(url + target, { method, headers, ...(agent && { agent }) }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => void chunks.push(chunk))
      answer.on('end', () => {
        const status = answer.statusCode ?? 0
        const bytes = Buffer.concat(chunks)
        // None of ours comes twice
        const kept = Object.entries(answer.headers).filter(([name]) => !OWN.has(name)) as [string, string][]
        if (status >= 400) reject(new Error(`${method} ${target} was answered with ${status}: ${bytes.toString()}`))
        else resolve({ status, headers: Object.fromEntries(kept), body: bytes })
      })
    })
    sent.on('error', reject).end(body)
  })
}

let files = 0

async function listening(args: string[]): Promise<Server> {
  const log = path.join(folder, `server-${++files}.log`)
  const stderr = openSync(log, 'w')
  const child = start(process.execPath, args, {
    stdio: ['ignore', 'ignore', stderr],
    env: { FEEDBACKCTL_SECRET: SECRET },
  })
  closeSync(stderr) // the child has its own
  const { pid = 0 } = child
  for (;;) {
    const text = readFileSync(log, 'utf8')
    const url = /listening on (http:[^"\s]+)/.exec(text)?.[1]
    if (url) return { url, pid, stop: () => stop() }
    if (child.exitCode !== null) throw new Error(`${args.join(' ')} ended with ${child.exitCode}: ${text}`)
    await pause(1)
  }

  async function stop() {
    child.kill()
    await ended(child)
    rmSync(log, { force: true }) // a line for every request
  }
}
