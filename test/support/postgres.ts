import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { connect } from '../../src/db/connect.js'
import { migrate } from '../../src/db/schema.js'

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: string // URL of a server where databases may be made
    template: string // name of a migrated database to copy
  }
}

/** Starts a real PostgreSQL for the whole run, or uses the one that FEEDBACKCTL_TEST_POSTGRES names. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.FEEDBACKCTL_TEST_POSTGRES
  const { url, stop } = given ? { url: given, stop: async () => {} } : await start()
  const template = `feedbackctl_template_${process.pid}`
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  await admin.query(`create database ${template}`)
  const db = await connect(withDatabase(url, template))
  await migrate(db)
  await db.destroy()
  project.provide('postgres', url)
  project.provide('template', template)
  return async () => {
    await admin.query(`drop database ${template}`)
    await admin.end()
    await stop()
  }
}

export function withDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}

async function start() {
  const server = spawn(process.execPath, [path.join(import.meta.dirname, 'postgres-server.js')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(server, 'exit')
  const [line] = (await Promise.race([
    once(server.stdout, 'data'),
    ended.then(() => Promise.reject(new Error('PostgreSQL did not start'))),
  ])) as [Buffer]
  return {
    url: line.toString().trim(),
    stop: async () => {
      server.stdin.end()
      await ended
    },
  }
}

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer()
    probe.on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })
