import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'csv-parse/sync'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { clear } from '../../src/db/load.js'
import { filled } from '../support/backups.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { engines, type Engine } from '../support/site.js'

type Row = Record<string, string>

const rowsIn = (machine: Machine, file: string): Row[] =>
  parse(readFileSync(path.join(machine.folder, file)), { columns: true, bom: true })

const filesIn = (machine: Machine, folder: string): Record<string, string> =>
  Object.fromEntries(readdirSync(path.join(machine.folder, folder)).map((name) => [name, readFileSync(path.join(machine.folder, folder, name), 'utf8')])) // prettier-ignore

const ODD = ' =HYPERLINK("x")\t;|\u001b[31m\u202e "\\\r\n@a'

/** A site with private posts and texts that a spreadsheet or a terminal may run. */
async function site(engine: Engine): Promise<Machine> {
  const machine = await filled(engine)
  const db = await connect(machine.databaseUrl)
  await db.updateTable('posts').set({ contentMarkdown: ODD }).where('number', '=', 1).execute()
  await db.updateTable('posts').set({ title: '-1' }).where('number', '=', 2).execute()
  await db.updateTable('comments').set({ body: '＝1' }).execute()
  await db.updateTable('users').set({ name: '+Ada', notes: '@sum' }).execute()
  await db.destroy()
  return machine
}

describe.each(engines)('export --csv on %s', (engine) => {
  it('writes a table for each noun, with names in place of ids', async () => {
    const machine = await site(engine)
    const { code, stdout, stderr } = await machine.run('export --csv sheets')
    expect([code, stdout, stderr]).toEqual([0, '', expect.stringMatching(/^Wrote \d+ rows in \d+ files to sheets\.\n$/)]) // prettier-ignore
    const folder = path.join(machine.folder, 'sheets')
    const names = readdirSync(folder)
    expect(names).toEqual(expect.arrayContaining(['boards', 'comments', 'events', 'posts', 'roadmaps', 'roles', 'tags', 'users', 'views', 'votes'].map((name) => `${name}.csv`))) // prettier-ignore
    expect(names.filter((name) => (statSync(path.join(folder, name)).mode & 0o777) !== 0o600)).toEqual([])
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    const rows = names.reduce((sum, name) => sum + rowsIn(machine, `sheets/${name}`).length, 0)
    expect(stderr).toContain(`${rows} rows in ${names.length} files`)
    const [ada] = rowsIn(machine, 'sheets/users.csv')
    expect(ada).toMatchObject({ email: 'ada@example.org', isOwner: '1', post_count: '2', tags: 'beta tester, VIP' })
    const by = { 'author.username': ada?.['username'] }
    expect(rowsIn(machine, 'sheets/posts.csv')).toMatchObject([
      { number: '1', title: 'Dark mode', 'board.url': 'ideas', 'roadmap.url': 'planned', tags: 'Mobile, Secret-Tag', votesCount: '1', commentsCount: '1', ...by }, // prettier-ignore
      { number: '2', 'board.url': 'secret', 'roadmap.url': '', tags: '', ...by },
    ])
    expect(rowsIn(machine, 'sheets/votes.csv')).toMatchObject([{ 'post.number': '1', 'voter.username': ada?.['username'] }, { 'post.number': '2' }]) // prettier-ignore
    expect(rowsIn(machine, 'sheets/boards.csv')).toMatchObject([{ name: 'Ideas', display: '1', post_count: '1' }, { name: 'Secret', display: '0' }]) // prettier-ignore
    expect(rowsIn(machine, 'sheets/roadmaps.csv')).toMatchObject([{ name: 'Planned', post_count: '1' }])
    expect(rowsIn(machine, 'sheets/comments.csv')).toMatchObject([{ 'post.title': 'Dark mode' }])
  })

  it('has no formula, no secret, and addresses in the table of people only', async () => {
    const machine = await site(engine)
    await machine.run('keys create Robot --as ada@example.org')
    await machine.run('export --csv sheets')
    const files = filesIn(machine, 'sheets')
    const cells = Object.values(files).flatMap((text) => parse(text)).flat() // prettier-ignore
    expect(cells.filter((cell) => /^\s*[=+@-]/.test(cell))).toEqual([])
    expect(cells).toEqual(expect.arrayContaining(["'-1", "'＝1", "'+Ada", "'@sum", expect.stringMatching(/^' =HYPER/)]))
    const all = Object.values(files).join('')
    expect(['\u001b', '\u202e', '\r', '$argon2'].filter((each) => all.includes(each))).toEqual([])
    expect(Object.keys(files).filter((name) => files[name]?.includes('@example.org'))).toEqual(['users.csv'])
  })

  it('refuses a folder with files, and what no folder can be', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const inFolder = (name: string) => path.join(machine.folder, name)
    for (const name of ['full', 'empty', 'aim']) mkdirSync(inFolder(name))
    writeFileSync(inFolder('full/x'), '')
    symlinkSync('aim', inFolder('link'))
    const said = async (args: string, exit = 2) => {
      const before = readdirSync(machine.folder, { recursive: true })
      const { code, stdout, stderr } = await machine.run(`export --csv ${args}`)
      expect([args, code, stdout]).toEqual([args, exit, ''])
      expect(readdirSync(machine.folder, { recursive: true })).toEqual(before)
      return stderr.split('\n')[0]
    }
    expect(await said('full')).toContain('full is not empty')
    expect(await said('full/x')).toContain('a part of its path is a file')
    expect(await said('full/x/y')).toContain('a part of its path is a file')
    expect(await said('.')).toContain('not empty')
    expect(await said('x'.repeat(300))).toContain('its name is too long')
    expect(await said('new --out x.jsonl')).toContain('--csv and --out contradict each other')
    expect(await said('new --with-passwords')).toContain('--csv and --with-passwords contradict')
    expect(await said('new --server http://127.0.0.1:1', 6)).toContain('Cannot reach')
    for (const name of ['empty', 'link', 'a/new/one']) expect(await machine.run(`export --csv ${name}`)).toMatchObject({ code: 0 }) // prettier-ignore
    expect(filesIn(machine, 'aim')).toEqual(filesIn(machine, 'a/new/one'))
    expect(filesIn(machine, 'empty')).toEqual(filesIn(machine, 'aim'))
    await machine.run('export --csv marked --bom')
    expect(filesIn(machine, 'marked')['posts.csv']).toBe(`\ufeff${filesIn(machine, 'aim')['posts.csv']}`)
  })
})

it('the tables of equal data are equal, whatever the engine', async () => {
  const machine = await site('sqlite')
  const other = await makeMachine('postgres')
  const db = await connect(other.databaseUrl)
  await clear(db)
  await db.destroy()
  expect((await machine.run(`db copy ${machine.databaseUrl} ${other.databaseUrl}`)).code).toBe(0)
  for (const each of [machine, other]) await each.run('export --csv sheets')
  expect(filesIn(other, 'sheets')).toEqual(filesIn(machine, 'sheets'))
})
