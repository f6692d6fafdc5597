import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { miscounts } from '../../src/db/recount.js'
import { filled } from '../support/backups.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { cleanup, engines, type Engine } from '../support/site.js'

async function exported(machine: Machine, flags = '--with-passwords'): Promise<string> {
  const { code, stdout, stderr } = await machine.run(`export ${flags}`)
  expect([code, stderr]).toEqual([0, ''])
  return stdout
}

/** An empty machine with a file of an export. */
async function machineWith(engine: Engine, text: string | Buffer, { isSetUp = true } = {}): Promise<Machine> {
  const machine = await makeMachine(engine)
  if (isSetUp) await machine.setup()
  writeFileSync(path.join(machine.folder, 'site.jsonl'), text)
  return machine
}

const ODD = '=1+1 "\\\u2028\r\n\u001b[31m\u202e\u{1f4a9} <b>'

/** A site with odd texts, replies, votes and events of many kinds. */
async function site(engine: Engine): Promise<Machine> {
  const machine = await filled(engine)
  const db = await connect(machine.databaseUrl)
  await db.updateTable('posts').set({ contentMarkdown: ODD }).where('number', '=', 1).execute()
  await db.updateTable('comments').set({ body: ODD }).execute()
  await db.destroy()
  return machine
}

describe.each(engines)('an export of %s, imported', (engine) => {
  it.each(engines)('makes an empty site on %s the same, byte for byte, once', async (target) => {
    const text = await exported(await site(engine))
    const machine = await machineWith(target, text)
    const dry = await machine.run('import feedbackctl site.jsonl --dry-run')
    expect([dry.code, dry.stdout]).toEqual([0, expect.stringMatching(/^post\t2$/m)])
    const done = await machine.run('import feedbackctl site.jsonl --yes')
    expect([done.code, done.stderr]).toEqual([0, expect.stringContaining('Imported site.jsonl.')])
    expect(await exported(machine)).toBe(text)
    const db = await connect(machine.databaseUrl)
    expect(await miscounts(db)).toEqual([])
    await db.destroy()
    const again = await machine.run('import feedbackctl site.jsonl --yes')
    expect([again.code, again.stderr]).toEqual([
      0,
      expect.stringContaining('already equals site.jsonl. Nothing was changed.'),
    ])
    expect((await machine.run('audit verify')).code).toBe(0)
    // It goes on as the site did: numbers, names, counts and the index of words
    const { stdout } = await machine.run("posts create 'One more' --board ideas --json")
    expect(JSON.parse(stdout).post.number).toBe(4)
    expect((await machine.run('posts list --query dark -o name')).stdout).not.toBe('')
  })

  it('is read from the version before merges of held posts', async () => {
    const former = await site(engine)
    expect(await former.run('posts create Darkness --board ideas')).toMatchObject({ code: 0 })
    expect(await former.run('posts merge 4 --into 1')).toMatchObject({ code: 0 })
    const text = await exported(former)
    const older = text.replace(/"schema":"[^"]*"/, '"schema":"0079_notes_index"').replaceAll(',"wasHeld":0', '')
    expect(older.length).toBeLessThan(text.length - 10)
    const machine = await machineWith(engine, older)
    expect(await machine.run('import feedbackctl site.jsonl --yes')).toMatchObject({ code: 0 })
    expect(await exported(machine)).toBe(text)
    expect((await machine.run('import feedbackctl site.jsonl --yes')).stderr).toContain('already equals')
    writeFileSync(path.join(machine.folder, 'site.jsonl'), text.replaceAll(',"wasHeld":0', ''))
    expect((await machine.run('import feedbackctl site.jsonl --yes')).stderr).toContain(
      'does not have the fields of a merge',
    )
  })

  it('makes a site where there was none, without passwords, from stdin', async () => {
    const text = await exported(await site(engine), '')
    const machine = await machineWith(engine, text, { isSetUp: false })
    const done = await machine.run('import feedbackctl - --yes', { stdin: text })
    expect([done.code, done.stderr]).toEqual([0, expect.stringContaining('by a link that the site mails')])
    expect(await exported(machine, '')).toBe(text)
  })

  it('is refused where the site has other content, which is named', async () => {
    const text = await exported(await site(engine))
    const machine = await machineWith(engine, text)
    await machine.run('boards create Mine')
    const before = await exported(machine)
    const { code, stderr } = await machine.run('import feedbackctl site.jsonl --yes')
    expect([code, stderr]).toEqual([2, expect.stringContaining('it has 1 board. Import')])
    expect(await exported(machine)).toBe(before)
  })

  it('changes nothing where the file is not what an export writes', async () => {
    const text = await exported(await site(engine))
    const machine = await machineWith(engine, text)
    const before = await exported(machine)
    const lines = text.split('\n').slice(0, -1)
    const at = (type: string) => lines.findIndex((line) => line.startsWith(`{"type":"${type}"`))
    const changed = (type: string, change: (line: string) => string) => lines.map((line, n) => (n === at(type) ? change(line) : line)).join('\n') // prettier-ignore
    const onLine = (type: string) => `Line ${at(type) + 1} of site.jsonl `
    const cases: [string, string | Buffer, string][] = [
      ['empty', '', 'not complete'],
      ['cut', lines.slice(0, -1).join('\n'), 'not complete'],
      ['a line less', lines.filter((_, n) => n !== at('post')).join('\n'), `says that ${lines.length - 1} lines`],
      ['no header', lines.slice(1).join('\n'), 'not a header'],
      ['another table', changed('board', () => '{"type":"session","sessionId":"x"}'), `${onLine('board')}has the unknown type "session"`], // prettier-ignore
      ['another column', changed('board', (line) => line.replace('"color"', '"colour"')), `${onLine('board')}does not have the fields`], // prettier-ignore
      ['SQL for a column', changed('board', (line) => line.replace('"color"', '"color) --"')), `${onLine('board')}does not have the fields`], // prettier-ignore
      ['a prototype', changed('board', (line) => line.replace('"color"', '"__proto__"')), `${onLine('board')}does not have the fields`], // prettier-ignore
      ['an object', changed('board', (line) => line.replace(/"name":"[^"]*"/, '"name":{"a":1}')), `${onLine('board')}has a value in name`], // prettier-ignore
      ['no flag', changed('board', (line) => line.replace(/"display":\d/, '"display":7')), `${onLine('board')}has a value in display that is not 0 or 1`], // prettier-ignore
      ['a number for a text', changed('board', (line) => line.replace(/"name":"[^"]*"/, '"name":5')), 'Nothing was changed'], // prettier-ignore
      ['a NUL', changed('board', (line) => line.replace(/"name":"/, '"name":"\\u0000')), `${onLine('board')}has a value in name`], // prettier-ignore
      ['half a character', changed('board', (line) => line.replace(/"name":"/, '"name":"\\ud800')), `${onLine('board')}has a value in name`], // prettier-ignore
      ['no time', changed('board', (line) => line.replace(/"createdAt":"[^"]*"/, '"createdAt":"soon"')), 'that is not a time'], // prettier-ignore
      ['no JSON', changed('board', () => '{'), `${onLine('board')}is not a JSON object`],
      ['another order', [...lines.slice(0, 1), lines[at('post')], ...lines.slice(1)].join('\n'), 'comes before each post'], // prettier-ignore
      ['a row twice', `${[...lines.slice(0, at('board')), lines[at('board')], ...lines.slice(at('board'), -1)].join('\n')}\n{"type":"end","lines":${lines.length}}`, 'contradict each other'], // prettier-ignore
      ['a missing row', changed('post', (line) => line.replace(/"boardId":"[^"]*"/, '"boardId":"none"')), 'contradict each other'], // prettier-ignore
      ['more after the end', `${text}${lines[at('post')]}\n`, 'comes after the end'],
      ['a long line', changed('board', (line) => line.replace('"name":"', `"name":"${'x'.repeat(4 * 2 ** 20)}`)), 'is longer than 4 MB'], // prettier-ignore
      ['a newer version', text.replace('"version":1', '"version":2'), 'newer feedbackctl'],
      ['an older schema', text.replace(/"schema":"[^"]*"/, '"schema":"0050_merges"'), 'another version of feedbackctl'],
      ['no UTF-8', Buffer.concat([Buffer.from(text.slice(0, 400)), Buffer.from([0xff]), Buffer.from(text.slice(400))]), 'not valid UTF-8'], // prettier-ignore
    ]
    for (const [name, content, said] of cases) {
      writeFileSync(path.join(machine.folder, 'site.jsonl'), content)
      const { code, stderr } = await machine.run('import feedbackctl site.jsonl --yes')
      expect([name, code, stderr]).toEqual([name, 2, expect.stringContaining(said)])
    }
    expect(await exported(machine)).toBe(before)
    expect((await machine.run('import feedbackctl . --yes')).stderr).toContain('is not a file')
    expect((await machine.run('import feedbackctl none --yes')).stderr).toContain('does not exist')
    expect((await machine.run('import feedbackctl site.jsonl --yes --board x')).code).toBe(2)
  })
})

const writersTo = (database: string) =>
  sql`select 1 from pg_stat_activity where datname = ${database} and backend_xid is not null`
const leftIn = (folder: string) =>
  existsSync(folder) ? readdirSync(folder).filter((name) => name.includes('.restoring-')) : []

it.each(engines)(
  'an import that is killed leaves the empty site, and the next one makes it whole, on %s',
  async (engine) => {
    const source = await site('sqlite')
    const db = await connect(source.databaseUrl)
    const { boardId } = await db.selectFrom('boards').select('boardId').executeTakeFirstOrThrow()
    await sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
    insert into posts ("postId", title, slug, "slugId", "contentMarkdown", "boardId", "createdAt", "updatedAt")
    select 'many-' || i, 'Post ' || i, 'many-' || i, 'many-' || i, 'text', ${boardId}, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z' from n`.execute(
      db,
    )
    await db.destroy()
    const text = await exported(source)
    const machine = await machineWith(engine, text)
    const before = await exported(machine)
    // An import refuses a database to which somebody else is connected
    const { pathname } = new URL(machine.databaseUrl)
    const other = engine === 'postgres' ? await connect(machine.databaseUrl.replace(pathname, '/postgres')) : undefined
    cleanup(() => other?.destroy())
    const folder = path.join(machine.folder, 'data/feedbackctl')
    const running = machine.start('import feedbackctl site.jsonl --yes')
    // It has written something that no other sees yet
    const hasBegun = async () =>
      !other ? leftIn(folder).length > 0 : (await writersTo(pathname.slice(1)).execute(other)).rows.length > 0
    await expect.poll(hasBegun).toBe(true)
    running.child.kill('SIGKILL')
    await running.ended
    expect(await exported(machine)).toBe(before)
    expect((await machine.run('import feedbackctl site.jsonl --yes')).code).toBe(0)
    expect(await exported(machine)).toBe(text)
    expect(leftIn(folder)).toEqual([])
    expect(readFileSync(path.join(machine.folder, 'site.jsonl'), 'utf8')).toBe(text)
  },
)
