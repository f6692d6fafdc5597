import { randomBytes } from 'node:crypto'
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { connect as dial, type Socket } from 'node:net'
import path from 'node:path'
import { once } from 'node:events'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { openSqlite } from '../../src/db/sqlite/binding.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { cleanup, engines } from '../support/site.js'

/** More than the buffers of a connection hold. */
const [POSTS, LETTERS] = [400, 60_000]

/** Whether a snapshot of the database is open: on SQLite, whether the WAL cannot be emptied. */
async function isHeld({ databaseUrl }: Machine): Promise<boolean> {
  if (databaseUrl.startsWith('sqlite:')) {
    const database = openSqlite(databaseUrl.slice('sqlite:'.length))
    try {
      database.pragma('busy_timeout = 0')
      return (database.pragma('wal_checkpoint(truncate)') as { busy: number }[])[0]?.busy !== 0
    } finally {
      database.close()
    }
  }
  const db = await connect(databaseUrl)
  const { rows } = await sql`select 1 from pg_stat_activity where application_name = 'feedbackctl backup' and datname = current_database()`.execute(db) // prettier-ignore
  await db.destroy()
  return rows.length > 0
}

/** Files that the process has open, and that have no name any more. */
const unnamed = (pid: number): string[] =>
  readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      const file = readlinkSync(`/proc/${pid}/fd/${fd}`)
      return /feedbackctl-import-.*\(deleted\)$/.test(file) ? [file] : []
    } catch {
      return [] // closed meanwhile
    }
  })

describe.each(engines)('an export over HTTP on %s', (engine) => {
  it('holds no transaction while its client does not read, and leaves nothing where it goes away', async () => {
    const machine = await makeMachine(engine)
    if (engine === 'postgres') await machine.run('migrate')
    await machine.setup()
    const long = Array.from({ length: POSTS }, (_, n) => JSON.stringify({ type: 'post', sourceId: `p${n}`, title: `Post ${n}`, text: randomBytes(LETTERS / 2).toString('hex') })) // prettier-ignore
    writeFileSync(path.join(machine.folder, 'long.jsonl'), long.join('\n'))
    expect(await machine.run('import records long.jsonl --yes')).toMatchObject({ code: 0 })
    const server = machine.start('serve')
    const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
    const signIn = await fetch(`${url}/api/v1/auth/login`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ email: 'ada@example.org', password: 'correct horse battery' }) }) // prettier-ignore
    const { user } = (await signIn.json()) as { user: { authToken: string } }
    const { hostname, port } = new URL(url)
    const ask = async (format: string): Promise<{ socket: Socket; parts: Buffer[] }> => {
      const socket = dial(Number(port), hostname)
      cleanup(() => void socket.destroy())
      socket.on('error', () => {})
      const parts: Buffer[] = []
      socket.on('data', (part) => void parts.push(part))
      socket.write(`GET /api/v1/export?format=${format} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${user.authToken}\r\n\r\n`) // prettier-ignore
      await once(socket, 'data')
      socket.pause()
      return { socket, parts }
    }
    const [lines, sheets] = [await ask('lines'), await ask('csv')]
    expect(await machine.run('boards create Later')).toMatchObject({ code: 0 }) // something that the WAL has to keep
    await expect.poll(() => isHeld(machine)).toBe(false)
    expect(unnamed(server.child.pid ?? 0)).toHaveLength(2)
    expect(readdirSync(machine.folder, { recursive: true }).filter((name) => /feedbackctl-import/.test(String(name)))).toEqual([]) // prettier-ignore

    lines.socket.resume()
    await once(lines.socket, 'close')
    const text = Buffer.concat(lines.parts).toString()
    expect(text).toMatch(/^HTTP\/1.1 200 [^]*"type":"header"[^]*\{"type":"end","lines":\d+\}\n\r\n0\r\n\r\n$/)
    expect(text).not.toContain('"Later"') // it is of the moment when it began
    sheets.socket.destroy()
    await expect.poll(() => unnamed(server.child.pid ?? 0)).toEqual([])
  })
})
