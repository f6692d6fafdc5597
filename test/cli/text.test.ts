import { once } from 'node:events'
import { copyFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { connect } from '../../src/db/connect.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { cleanup } from '../support/site.js'

/** What controls a terminal: C0, DEL, C1 (CSI as one character), direction marks, and separators of lines. */
const HOSTILE = 'a\u001b[31mb\u007fc\u009b31md\u202ee\u2066f\u061cg\u200fh\u2028i\u0085j\rk\u0007l'
// eslint-disable-next-line no-control-regex -- it looks for them
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/

interface Hostile {
  machine: Machine
  slug: string
}

/** A site whose rows were written by whatever did not check them. */
async function hostileSite(text: string): Promise<Hostile> {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  await machine.run('boards create Ideas')
  const { slug, postId } = JSON.parse((await machine.run('posts create Dark --board ideas --json')).stdout).post
  await machine.run(`comments create ${slug} --body x`)
  const db = await connect(machine.databaseUrl)
  cleanup(() => db.destroy())
  await db.updateTable('comments').set({ body: text }).where('post_id', '=', postId).execute()
  await db.updateTable('users').set({ name: text, notes: text }).execute()
  await db
    .updateTable('posts')
    .set({ title: text, contentMarkdown: `${text}\nsecond line` })
    .execute()
  await db.updateTable('boards').set({ name: text }).execute()
  return { machine, slug }
}

const COMMANDS = ({ slug }: Hostile) => [
  `comments list ${slug}`,
  'posts list',
  `posts show ${slug}`,
  'users list',
  'boards list',
]

describe('what people wrote', () => {
  it('controls no terminal in any format, in a pipe too', async () => {
    const site = await hostileSite(HOSTILE)
    for (const command of COMMANDS(site))
      for (const format of ['table', 'wide', 'json', 'jsonl', 'yaml', 'csv', 'tsv', 'name']) {
        const { stdout, stderr, code } = await site.machine.run(`${command} -o ${format}`)
        expect([code, CONTROLS.exec(stdout), CONTROLS.exec(stderr)], `${command} -o ${format}`).toEqual([0, null, null])
      }
    expect((await site.machine.run('posts list --all --json')).stdout).not.toMatch(CONTROLS)
    const changed = await site.machine.run(`boards update ideas --color 112233`)
    expect([changed.code, CONTROLS.exec(changed.stderr)]).toEqual([0, null])
  })

  it('is the same data in JSON, JSON lines and YAML', async () => {
    const { machine, slug } = await hostileSite(HOSTILE)
    const show = async (format: string) => (await machine.run(`posts show ${slug} -o ${format}`)).stdout
    const [json, raw] = [await show('json'), await show('json --raw')]
    expect(JSON.parse(json)).toEqual(JSON.parse(raw))
    expect(JSON.parse(json).post.title).toBe(HOSTILE)
    expect(JSON.parse(await show('jsonl')).title).toBe(HOSTILE)
    expect(parse(await show('yaml'))).toEqual(JSON.parse(json))
    expect(json).toContain(String.raw`\u009b31md\u202ee`)
  })

  it('is escaped in tab-separated values, and printed as it is with --raw', async () => {
    const { machine, slug } = await hostileSite(HOSTILE)
    const list = async (flags: string) => (await machine.run(`comments list ${slug} -o ${flags}`)).stdout
    expect(await list('tsv')).toContain(String.raw`a\u001b[31mb\u007fc\u009b31md\u202e`)
    for (const format of ['json', 'jsonl', 'yaml', 'csv', 'tsv'])
      expect(await list(`${format} --raw`), `${format} --raw`).toContain('d\u202ee\u2066f')
    expect(await list('tsv --raw')).toContain('a\u001b[31mb\u007fc\u009b31m')
    expect(await machine.run(`comments list ${slug} -o table --raw`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--raw'),
    })
  })

  it('controls no terminal in an error', async () => {
    const machine = await makeMachine('sqlite')
    for (const format of ['json', 'table'])
      for (const argument of [`boards show '${HOSTILE}'`, `boards create x --color '${HOSTILE}'`, `'${HOSTILE}'`]) {
        const { code, stderr } = await machine.run(`${argument} -o ${format} --debug`)
        expect(code).not.toBe(0)
        expect(CONTROLS.exec(stderr), `${argument} ${format}: ${JSON.stringify(stderr)}`).toBeNull()
      }
  })
})

describe('a formula', () => {
  it('in a text starts with an apostrophe in CSV, and not with --raw', async () => {
    const { machine, slug } = await hostileSite('x')
    const formulas = [
      '=HYPERLINK("http://x")',
      '+1',
      '-1',
      '@A1',
      '\t=1',
      '\r=1',
      '\n=1',
      ' =1',
      '\u00a0=1',
      '＝1',
      '＋1',
    ]
    const db = await connect(machine.databaseUrl)
    cleanup(() => db.destroy())
    for (const formula of formulas) {
      await db.updateTable('comments').set({ body: formula }).execute()
      const list = async (flags = '') =>
        (await machine.run(`comments list ${slug} -o csv --no-header ${flags}`)).stdout.replace(/^"/, '')
      expect(await list()).toMatch(/^'/)
      expect((await list('--raw')).slice(0, formula.length)).toBe(formula.replace('("', '(""').slice(0, formula.length))
    }
  })

  it('cannot begin a cell of its own at another separator', async () => {
    const { machine, slug } = await hostileSite('x;=1+1')
    expect((await machine.run(`comments list ${slug} -o csv`)).stdout).toContain('"x;=1+1"')
  })
})

describe('what a server or a folder says', () => {
  it('controls no terminal either', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    await machine.run('backup create plain.backup')
    copyFileSync(path.join(machine.folder, 'plain.backup'), path.join(machine.folder, `${HOSTILE}.backup`))
    const overview = JSON.parse((await machine.run('status --json')).stdout)
    const at = new Date().toISOString()
    const server = { url: HOSTILE, host: HOSTILE, pid: 1, version: HOSTILE, startedAt: at, seenAt: at }
    const backups = { madeAt: null, failedAt: at, error: HOSTILE }
    const lying = createServer(({ url }, response) => {
      if (url?.endsWith('/setup')) return response.end('{"is_setup":true}')
      return response.end(JSON.stringify({ ...overview, title: HOSTILE, schema: HOSTILE, servers: [server], backups }))
    }).listen(0, '127.0.0.1')
    cleanup(() => void lying.close())
    await once(lying, 'listening')
    const address = `http://127.0.0.1:${(lying.address() as AddressInfo).port}`
    for (const command of [`status --server ${address}`, 'backup list .'])
      for (const format of ['table', 'wide', 'tsv', 'csv', 'json', 'jsonl', 'yaml', 'name']) {
        const { stdout, stderr } = await machine.run(`${command} -o ${format}`)
        expect([command, format, stdout]).toEqual([command, format, expect.not.stringMatching(CONTROLS)])
        expect([command, format, stderr]).toEqual([command, format, expect.not.stringMatching(CONTROLS)])
        expect(stdout).toMatch(command.startsWith('status') && format === 'name' ? /127/ : /31md/)
      }
  })
})
