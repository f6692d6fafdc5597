import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { clear } from '../../src/db/load.js'
import { filled } from '../support/backups.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { engines } from '../support/site.js'

type Line = Record<string, unknown> & { type: string }

const linesOf = (text: string): Line[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

async function exported(machine: Machine, flags = ''): Promise<string> {
  const { code, stdout, stderr } = await machine.run(`export ${flags}`)
  expect([code, stderr]).toEqual([0, ''])
  return stdout
}

async function changed(machine: Machine, ...statements: string[]): Promise<void> {
  const db = await connect(machine.databaseUrl)
  for (const each of statements) await sql.raw(each).execute(db)
  await db.destroy()
}

/** A text that a terminal, a shell, a spreadsheet and a reader of lines may take for something else. */
const ODD = '=1+1 "\\\u2028\r\n\u001b[31m\u202e\u{1f4a9} <b>'

// Each test starts some twenty processes
describe.each(engines)('an export of %s', (engine) => {
  it('has every row of the site once, between a header and their number', async () => {
    const machine = await filled(engine)
    const text = await exported(machine)
    const lines = linesOf(text)
    expect(lines[0]).toEqual({ type: 'header', format: 'feedbackctl', version: 1, schema: expect.any(String), passwords: false }) // prettier-ignore
    expect(lines.at(-1)).toEqual({ type: 'end', lines: lines.length - 1 })
    const having = (type: string) => lines.filter((line) => line.type === type)
    expect(having('board')).toMatchObject([{ name: 'Ideas' }, { name: 'Secret', display: 0 }].toSorted((one, other) => (idOf(lines, one.name) < idOf(lines, other.name) ? -1 : 1))) // prettier-ignore
    expect(having('post')).toHaveLength(2)
    expect(having('comment')).toMatchObject([{ body: 'first' }])
    expect(having('vote')).toHaveLength(2)
    expect(having('counter')).toEqual([{ type: 'counter', name: 'post_numbers', value: 3 }]) // one post is deleted
    expect(having('event').map(({ action }) => action)).toContain('post.deleted')
    expect(await exported(machine)).toBe(text)
  })

  it('has no secret, and hashes of passwords only on request', async () => {
    const machine = await filled(engine)
    await machine.run('keys create Robot --as ada@example.org')
    const db = await connect(machine.databaseUrl)
    const user = await db.selectFrom('users').select(['userId', 'password']).executeTakeFirstOrThrow()
    const { password } = user
    const { secretFingerprint } = await db.selectFrom('settings').select('secretFingerprint').executeTakeFirstOrThrow()
    const sessions = await db.selectFrom('sessions').select('sessionId').execute()
    await db.insertInto('identities').values({ identityId: 'i-1', userId: user.userId, provider: 'x', subject: 'the-subject', email: null, createdAt: '2026-01-01T00:00:00.000Z', usedAt: null }).execute() // prettier-ignore
    await db.insertInto('totp').values({ userId: user.userId, secret: 'the-totp-secret', enabledAt: null }).execute()
    await db.insertInto('one_time_tokens').values({ tokenHash: 'the-token', purpose: 'verify', userId: user.userId, createdAt: '2026-01-01T00:00:00.000Z', expiresAt: '2026-01-02T00:00:00.000Z' }).execute() // prettier-ignore
    await db.insertInto('recovery_codes').values({ codeHash: 'the-code', userId: user.userId }).execute()
    await db.insertInto('notification_settings').values({ userId: user.userId, mailKey: 'the-mail-key' }).execute()
    await db.destroy()
    expect(password).toMatch(/^\$argon2/)
    const secrets = [
      'the-subject',
      'the-totp-secret',
      'the-token',
      'the-code',
      'the-mail-key',
      '$argon2',
      ...sessions.map(({ sessionId }) => sessionId),
      ...(secretFingerprint === null ? [] : [secretFingerprint]),
    ]
    const text = await exported(machine)
    expect(secrets.filter((each) => text.includes(each))).toEqual([])
    const withPasswords = await exported(machine, '--with-passwords')
    expect(secrets.filter((each) => withPasswords.includes(each))).toEqual(['$argon2'])
    expect(linesOf(withPasswords)[0]).toMatchObject({ passwords: true })
    expect(linesOf(withPasswords).find(({ type }) => type === 'user')).toMatchObject({ password })
  })

  it('keeps odd text as it is, a row on each line, in more batches than one', async () => {
    const machine = await filled(engine)
    const db = await connect(machine.databaseUrl)
    const { boardId } = await db.selectFrom('boards').select('boardId').executeTakeFirstOrThrow()
    const time = '2026-01-01T00:00:00.000Z'
    const many = Array.from({ length: 1200 }, (_, at) => ({ postId: `odd-${at}`, title: `${ODD}${at}`, slug: `odd-${at}`, slugId: `${at}`, contentMarkdown: ODD, userId: null, boardId, roadmap_id: null, createdAt: time, updatedAt: time })) // prettier-ignore
    for (let at = 0; at < many.length; at += 100) await db.insertInto('posts').values(many.slice(at, at + 100)).execute() // prettier-ignore
    await db.destroy()
    const out = path.join(machine.folder, 'site.jsonl')
    const { code, stdout, stderr } = await machine.run('export --out site.jsonl')
    expect([code, stdout, stderr]).toEqual([0, '', 'Wrote the site to site.jsonl.\n'])
    expect(statSync(out).mode & 0o777).toBe(0o600)
    const odd = linesOf(readFileSync(out, 'utf8')).filter((line) => String(line['postId']).startsWith('odd-') && line.type === 'post') // prettier-ignore
    expect(odd).toHaveLength(1200)
    expect(odd.filter(({ contentMarkdown }) => contentMarkdown !== ODD)).toEqual([])
    expect(linesOf(await exported(machine))).toEqual(linesOf(readFileSync(out, 'utf8')))
    expect(await machine.run('export --out site.jsonl')).toMatchObject({ code: 2, stderr: expect.stringContaining('exists already') }) // prettier-ignore
  })

  it('says why a file cannot be written, as every command that writes one', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    writeFileSync(path.join(machine.folder, 'file'), '')
    const names = ['x'.repeat(300), 'file/below', '.']
    const lines: string[] = []
    for (const command of [
      'export --out',
      'account export --as ada@example.org',
      'backup create',
      'doctor --offline --report',
      'config set backup.every 1d --config',
    ])
      for (const name of names) {
        const { stderr } = await machine.run(`${command} ${name}`)
        lines.push(stderr)
      }
    const plain = /its name is too long|a part of its path is a file, not a folder/
    expect(lines.filter((line) => plain.test(line))).toHaveLength(10)
    expect(lines.filter((line) => /Internal error|\bE[A-Z]{4,}\b/.test(line))).toEqual([])
  })

  it('is refused where there is no site, no server, and for another schema', async () => {
    const machine = await makeMachine(engine)
    const refused = async (args: string) => {
      const { code, stdout, stderr } = await machine.run(args)
      return [code, stdout, /^ +code +(\w+)/m.exec(stderr)?.[1]]
    }
    if (engine === 'postgres') {
      const db = await connect(machine.databaseUrl)
      await clear(db)
      await db.destroy()
    }
    expect(await refused('export')).toEqual([3, '', 'SITE_NOT_FOUND'])
    expect(await refused('export --server http://127.0.0.1:1')).toEqual([6, '', 'SERVER_UNREACHABLE'])
    await machine.run('migrate')
    await changed(machine, `delete from kysely_migration where name > '0050'`)
    expect(await refused('export')).toEqual([5, '', 'DATABASE_OUTDATED'])
    expect(await refused('export --out x.jsonl')).toEqual([5, '', 'DATABASE_OUTDATED'])
    expect(existsSync(path.join(machine.folder, 'x.jsonl'))).toBe(false)
    await changed(machine, `insert into kysely_migration (name, timestamp) values ('9999_later', 'x')`)
    expect(await refused('export')).toEqual([5, '', 'DATABASE_NEWER'])
  })
})

it('needs no more memory for a longer site', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  await changed(
    machine,
    `insert into posts ("postId", title, slug, "slugId", "contentMarkdown", "createdAt", "updatedAt")
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 8000)
      select 'p' || i, 'Post', 'p' || i, 'p' || i, hex(zeroblob(5000)), '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z' from n`,
  )
  const env = { NODE_OPTIONS: '--max-old-space-size=64' } // the posts have 80 MB
  for (const args of ['export --out site.jsonl', 'export --csv sheets']) {
    const { code, stderr } = await machine.process(args, { env })
    expect([args, code, stderr.slice(0, 300)]).toEqual([args, 0, expect.stringContaining('Wrote')])
  }
})

it('exports of equal data are equal byte for byte, whatever the engine', async () => {
  const machine = await filled('sqlite')
  const other = await makeMachine('postgres')
  const db = await connect(other.databaseUrl)
  await clear(db)
  await db.destroy()
  expect((await machine.run(`db copy ${machine.databaseUrl} ${other.databaseUrl}`)).code).toBe(0)
  expect(await exported(other, '--with-passwords')).toBe(await exported(machine, '--with-passwords'))
})

const idOf = (lines: readonly Line[], name: string): string =>
  String(lines.find((line) => line.type === 'board' && line['name'] === name)?.['boardId'])
