import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import path from 'node:path'
import { sql } from 'kysely'
import { generate } from 'otplib'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { miscounts } from '../../src/db/recount.js'
import { filled } from '../support/backups.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { engines } from '../support/site.js'

const PASSWORD = 'correct horse battery'

async function exported(machine: Machine): Promise<string> {
  const { code, stdout, stderr } = await machine.run('export')
  expect([code, stderr]).toEqual([0, ''])
  return stdout
}

const leftIn = (machine: Machine) =>
  readdirSync(path.join(machine.folder, 'data/feedbackctl')).filter((name) => name.startsWith('feedbackctl-import-'))

async function served(machine: Machine): Promise<string> {
  const [, url = ''] = await machine.start('serve').says(/listening on (http:\S+?)"/)
  return url
}

const titlesAt = async (url: string): Promise<string[]> => {
  const answer = await fetch(`${url}/api/v1/posts/get`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }) // prettier-ignore
  return ((await answer.json()) as { posts: { title: string }[] }).posts.map(({ title }) => title)
}

describe.each(engines)('import --server on %s', (engine) => {
  it('makes an empty site the same as the export while two servers run, or changes nothing', async () => {
    const text = await exported(await filled(engine === 'sqlite' ? 'postgres' : 'sqlite'))
    const machine = await makeMachine(engine)
    await machine.setup()
    const file = (name: string, content: string) => writeFileSync(path.join(machine.folder, name), content)
    file('site.jsonl', text)
    const [url, other] = [await served(machine), await served(machine)]
    const at = `--server ${url}`
    const login = (email: string) => machine.run(`login ${at} --email ${email} --password-stdin`, { stdin: PASSWORD })
    expect((await machine.run(`import site.jsonl --yes ${at}`)).code).toBe(4)
    expect((await login('ada@example.org')).code).toBe(0)
    const before = await exported(machine)

    // What is refused changes nothing
    const lines = text.split('\n').slice(0, -1)
    const post = lines.findIndex((line) => line.startsWith('{"type":"post"'))
    for (const [content, said] of [
      ['x\n', 'Line 1 of the export is not a JSON object'],
      [lines.slice(0, -1).join('\n'), 'its last line is missing'],
      [lines.map((line, n) => (n === post ? line.replace(/"boardId":"[^"]*"/, '"boardId":"none"') : line)).join('\n'), 'contradict each other'], // prettier-ignore
    ] as const) {
      file('bad.jsonl', content)
      const { code, stderr } = await machine.run(`import feedbackctl bad.jsonl --yes ${at}`)
      expect([said, code, stderr]).toEqual([said, 2, expect.stringContaining(said)])
    }
    await cut(url, await tokenOf(url), text.slice(0, text.length / 2))
    await expect.poll(() => leftIn(machine)).toEqual([])
    const dry = await machine.run(`import feedbackctl site.jsonl --dry-run ${at}`)
    expect([dry.code, dry.stdout, dry.stderr]).toEqual([0, expect.stringMatching(/^post\t2$/m), expect.stringContaining('Nothing was changed')]) // prettier-ignore
    const mine = (all: string) => all.split('\n').filter((line) => !/^\{"type":"(event|event_seal|user_use|end)"/.test(line)) // prettier-ignore
    expect(mine(await exported(machine))).toEqual(mine(before))

    expect([await titlesAt(url), await titlesAt(other)]).toEqual([[], []]) // both have it in their caches now
    const done = await machine.run(`import feedbackctl site.jsonl --yes ${at}`)
    expect([done.code, done.stderr]).toEqual([0, expect.stringContaining('Imported site.jsonl.\nYou are signed out. The owner is ada@example.org.')]) // prettier-ignore
    const seals = (all: string) => all.split('\n').filter((line) => !/^\{"type":"(event_seal|end)"/.test(line))
    expect(seals(await exported(machine))).toEqual(seals(text))
    expect([await titlesAt(url), await titlesAt(other)]).toEqual([['Dark mode'], ['Dark mode']])
    const db = await connect(machine.databaseUrl)
    expect(await miscounts(db)).toEqual([])
    await db.destroy()

    // The servers go on with it
    expect((await machine.run(`posts list ${at}`)).stderr).toContain('no longer exists')
    expect((await login('ada@example.org')).code).toBe(0)
    const created = await machine.run(`posts create 'One more' --board ideas --json ${at}`)
    expect([created.code, JSON.parse(created.stdout).post.number]).toEqual([0, 4])
    expect((await machine.run(`posts list --query dark -o name --server ${other}`)).stdout).not.toBe('')
    const again = await machine.run(`import feedbackctl site.jsonl --yes ${at}`)
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('The site is not empty')])
    expect((await machine.run('audit verify')).code).toBe(0)
    expect(leftIn(machine)).toEqual([])
  })

  it('leaves its owner the second factor, which no export has', async () => {
    const text = await exported(await filled(engine))
    const machine = await makeMachine(engine)
    const token = await machine.setup(machine.run) // with another id than the owner of the export
    const url = await served(machine)
    const post = async (at: string, body: object | string = {}) => {
      const type = typeof body === 'string' ? 'application/jsonl' : 'application/json'
      const answer = await fetch(`${url}/api/v1${at}`, { method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': type }, body: typeof body === 'string' ? body : JSON.stringify(body) }) // prettier-ignore
      return { status: answer.status, text: await answer.text() }
    }
    const { secret } = JSON.parse((await post('/totp')).text) as { secret: string }
    const { recoveryCodes } = JSON.parse((await post('/totp/enable', { code: await generate({ secret }) })).text) as { recoveryCodes: string[] } // prettier-ignore
    expect((await post('/import/site', text)).text).toContain('"result":"complete"')
    const password = { email: 'ada@example.org', password: PASSWORD.trim() }
    expect((await post('/auth/login', password)).text).toContain('TOTP_REQUIRED')
    const next = await generate({ secret, epoch: Date.now() / 1000 + 30 }) // the code before is used
    expect((await post('/auth/login', { ...password, code: next })).status).toBe(200)
    expect((await post('/auth/login', { ...password, code: recoveryCodes[0] })).status).toBe(200)
  })

  it('takes files of other products, with the same balance, for the owner alone', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    writeFileSync(path.join(machine.folder, 'ideas.csv'), 'id,title,board,votes\n1,Dark mode,Ideas,7\n2,,Ideas,1\n')
    const url = await served(machine)
    const at = `--server ${url}`
    expect((await machine.run(`import csv ideas.csv --dry-run ${at}`)).code).toBe(4)
    await machine.run(`login ${at} --email ada@example.org --password-stdin`, { stdin: PASSWORD })
    const dry = await machine.run(`import csv ideas.csv --dry-run --json ${at}`)
    expect([dry.code, await titlesAt(url)]).toEqual([7, []])
    const done = await machine.run(`import csv ideas.csv --yes --json --rejects rejects.jsonl ${at}`)
    expect([done.code, JSON.parse(done.stdout).balance]).toEqual([7, JSON.parse(dry.stdout).balance])
    expect(await titlesAt(url)).toEqual(['Dark mode'])
    expect(readFileSync(path.join(machine.folder, 'rejects.jsonl'), 'utf8')).toMatch(/^\{"type":"post".*\}\n$/)
  })
})

/** Sends a whole export, and reads the answer as far as the server does this step. */
async function untilStep(url: string, text: string, wanted: RegExp): Promise<void> {
  const headers = { authorization: await tokenOf(url), 'content-type': 'application/jsonl' }
  const { body } = await fetch(`${url}/api/v1/import/site`, { method: 'POST', headers, body: text })
  const decoder = new TextDecoder()
  let answer = ''
  for await (const chunk of body ?? []) {
    answer += decoder.decode(chunk, { stream: true })
    if (wanted.test(answer)) return
  }
  throw new Error(`The server never said ${wanted}: ${answer.slice(-500)}`)
}

it.each(engines)(
  'a server that is killed while it imports leaves the empty site, and the next import makes it whole, on %s',
  async (engine) => {
    const source = await filled('sqlite')
    const db = await connect(source.databaseUrl)
    const { boardId } = await db.selectFrom('boards').select('boardId').executeTakeFirstOrThrow()
    await sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
      insert into posts ("postId", title, slug, "slugId", "contentMarkdown", "boardId", "createdAt", "updatedAt")
      select 'many-' || i, 'Post ' || i, 'many-' || i, 'many-' || i, 'text', ${boardId}, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z' from n`.execute(
      db,
    )
    await db.destroy()
    const text = await exported(source)
    const machine = await makeMachine(engine)
    await machine.setup()
    writeFileSync(path.join(machine.folder, 'site.jsonl'), text)
    const start = async () => {
      const server = machine.start('serve')
      const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
      return { server, url }
    }
    // Signing in is an event
    const site = (all: string) => all.split('\n').filter((line) => !/^\{"type":"(event|event_seal|user_use|end)"/.test(line)) // prettier-ignore
    const before = site(await exported(machine))
    for (const wanted of [/"table":"posts"/, /"table":"posts","rows":15\d{3}/]) {
      const { server, url } = await start()
      await untilStep(url, text, wanted)
      await server.stop('SIGKILL')
      expect([wanted, site(await exported(machine))]).toEqual([wanted, before])
    }
    expect(leftIn(machine), 'doctor finds them').toHaveLength(2)
    const { server, url } = await start()
    await machine.run(`login --server ${url} --email ada@example.org --password-stdin`, { stdin: PASSWORD })
    const { code, stderr } = await machine.run(`import feedbackctl site.jsonl --yes --server ${url}`)
    expect([code, stderr]).toEqual([0, expect.stringContaining('Imported site.jsonl.')])
    await server.stop()
    const seals = (all: string) => all.split('\n').filter((line) => !/^\{"type":"(event_seal|end)"/.test(line))
    expect(seals(await exported(machine))).toEqual(seals(text))
    const imported = await connect(machine.databaseUrl)
    expect(await miscounts(imported)).toEqual([])
    await imported.destroy()
    expect((await machine.run('audit verify')).code).toBe(0)
  },
)

async function tokenOf(url: string): Promise<string> {
  const answer = await fetch(`${url}/api/v1/auth/login`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ email: 'ada@example.org', password: PASSWORD }) }) // prettier-ignore
  const { user } = (await answer.json()) as { user: { authToken: string } }
  return `Bearer ${user.authToken}`
}

/** Sends a part of a body, and cuts the connection when the server has begun to answer. */
function cut(url: string, authorization: string, part: string): Promise<void> {
  const sent = request(`${url}/api/v1/import/site`, { method: 'POST', headers: { authorization, 'content-type': 'application/jsonl' } }) // prettier-ignore
  sent.on('error', () => {})
  return new Promise((resolve) => {
    sent.on('response', (response) => {
      expect(response.statusCode).toBe(200)
      sent.destroy()
      resolve()
    })
    sent.write(part)
  })
}
