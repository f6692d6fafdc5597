import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'
import { engines, type Engine } from '../support/site.js'
import { zipOf } from '../support/zip.js'

async function makeWorld(engine: Engine, files: Readonly<Record<string, string | Buffer>>) {
  const machine = await makeMachine(engine)
  await machine.setup()
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(machine.folder, name)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, content)
  }
  return machine
}

const POST = JSON.stringify({ id: 'p1', title: 'Dark mode', board: { id: 'b1', name: 'Ideas' }, status: 'open' })
const ISSUE = JSON.stringify([[{ number: 1, title: 'Dark mode', state: 'open', user: null }]], undefined, 2)
const DISCUSSION = JSON.stringify({ data: { repository: { discussions: { nodes: [{ number: 1, title: 'Dark mode', url: 'https://github.com/o/r/discussions/1' }] } } } }) // prettier-ignore

/** Names say nothing about the content. */
const FILES = {
  'a.dat': `${JSON.stringify({ type: 'post', sourceId: '1', title: 'Dark mode' })}\n`,
  'b.dat': '\ufeffSubject;Votes\nDark mode;3\n',
  'c.dat': 'ideaId,ideaTitle,userEmailAddress\n1,Dark mode,ann@example.org\n',
  'd.csv':
    'number,title,description,created_at,created_by,votes_count,comments_count,status\n1,Dark mode,,,,3,0,open\n',
  'e.dat': zipOf({ 'posts.json': '[{"id":1,"number":1,"title":"Dark mode","status":0}]' }),
  'f.dat': zipOf({ 'w/posts.csv': 'id,title,content,status\n1,Dark mode,,Open\n' }),
  'g.dat': zipOf({ 'posts.csv': 'ideaId,authorUserId,title\n1,,Dark mode\n' }),
  'h.dat': ISSUE,
  'i/x.json': ISSUE,
  'l.dat': `${DISCUSSION}{"data":{"repository":{"discussions":{"nodes":[]}}}}`,
  'j/x.json': `{"posts":[${POST}],"hasMore":false}`,
  'm/x.json': JSON.stringify([{ id: 7, number: 1, title: 'Dark mode', votesCount: 0, status: 'open' }]),
  'n.dat': JSON.stringify([{ id: 7, title: 'Dark mode', approval_status: 'approved', post_status: null }]),
  'k.dat': `{"posts":[${POST}],"hasMore":false}\n{"posts":[]}\n`,
}
const WORDS = { 'a.dat': 'records', 'b.dat': 'csv', 'c.dat': 'uservoice', 'd.csv': 'fider', 'e.dat': 'fider', 'f.dat': 'quackback', 'g.dat': 'clearflask', 'h.dat': 'github', i: 'github', 'l.dat': 'github', j: 'canny', 'k.dat': 'canny', m: 'fider', 'n.dat': 'astuto' } // prettier-ignore

describe.each(engines)('import without a word of the source on %s', (engine) => {
  it('recognises a file by what is in it, and imports it as with the word', async () => {
    const machine = await makeWorld(engine, FILES)
    for (const [file, word] of Object.entries(WORDS)) {
      const alone = await machine.run(`import ${file} --dry-run`)
      const named = await machine.run(`import ${word} ${file} --dry-run`)
      expect([file, alone.code, alone.stdout]).toEqual([file, 0, named.stdout])
      expect(named.stdout).toMatch(/^post\t1\t1\t0\t0\t0$/m)
      expect(alone.stderr).toBe(`${/^.*$/m.exec(alone.stderr)?.[0]}\n${named.stderr}`)
      expect(alone.stderr).toContain(`this is "import ${word}".`)
    }
    expect((await machine.run('import b.dat --yes')).code).toBe(0)
    // The same source, so nothing comes twice
    expect((await machine.run('import csv b.dat --yes')).stdout).toContain('post\t1\t0\t0\t1\t0')
  })

  it('says which new posts look like posts that are here, also before anything is written', async () => {
    const machine = await makeWorld(engine, { 'posts.csv': 'Subject,Votes\nA dark mode,3\nZebras,1\nDARK MODE,2\n' })
    expect((await machine.run('import csv posts.csv --dry-run')).stderr).not.toContain('looks like')
    await machine.run("posts create 'Dark mode'")
    for (const flag of ['--dry-run', '--yes']) {
      const { code, stderr } = await machine.run(`import csv posts.csv ${flag}`)
      expect([code, stderr.match(/".*" looks like .*/g)]).toEqual([0, ['"A dark mode" looks like #1 "Dark mode"', '"DARK MODE" looks like #1 "Dark mode"']]) // prettier-ignore
      expect(stderr).toContain('2 of the first 3 new posts look like')
      expect(stderr).toContain('feedbackctl posts duplicates --plan plan.txt')
    }
    expect((await machine.run('import csv posts.csv --yes')).stderr).not.toContain('looks like')
    const { stdout } = await machine.run('import csv posts.csv --source other --dry-run --json')
    expect(JSON.parse(stdout)).toMatchObject({
      similar: { looked: 3, count: 3, posts: [{ title: 'A dark mode' }, {}, {}] },
    })
  })

  it('recognises an export of feedbackctl', async () => {
    const machine = await makeWorld(engine, {})
    await machine.run('export --out site.dat')
    const { code, stderr } = await machine.run('import site.dat --yes')
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^site.dat is an export of feedbackctl: this is "import feedbackctl".\nThe site already equals site.dat/)]) // prettier-ignore
    expect((await machine.run('import - --yes', { stdin: (await machine.run('export')).stdout })).code).toBe(0)
    expect(await machine.run('import site.dat --board ideas')).toMatchObject({ code: 2, stderr: expect.stringContaining('--board is not for') }) // prettier-ignore
  })

  it('says why it recognises nothing, and what else to do', async () => {
    const machine = await makeWorld(engine, {
      'empty.csv': '\n',
      'noise.dat': Buffer.from([0xff, 0, 1, 2]),
      'text.txt': 'Dear \u001b[31mteam\nthank you\u001b[31m.\n',
      'site.html': '<!doctype html>\n<title>x</title>\n',
      'other.json': '{"a":1}',
      'bad.json': '{"a":1',
      'odd.zip': zipOf({ 'readme.txt': 'x' }),
      'no.zip': 'PK nothing',
      'folder/x.txt': '',
      'latin1.csv': Buffer.from('title,f\xfcr\n', 'latin1'),
      'site.dump': 'PGDMP\u0001',
      'site.jsonl.gz': gzipSync('{}'),
      csv: 'title\nx\n',
    })
    const site = await makeWorld('sqlite', {})
    await site.run('backup create mine.backup')
    copyFileSync(path.join(site.folder, 'mine.backup'), path.join(machine.folder, 'mine.backup'))
    const data = path.join(site.folder, 'data/feedbackctl')
    const database = readdirSync(data).find((name) => name.endsWith('.db')) ?? ''
    copyFileSync(path.join(data, database), path.join(machine.folder, 'site.db'))
    const said = async (args: string) => {
      const { code, stdout, stderr } = await machine.run(`import ${args} --yes`)
      expect([args, code, stdout]).toEqual([args, 2, ''])
      expect(stderr).not.toContain('\u001b')
      return stderr
    }
    expect(await said('empty.csv')).toContain('it is empty')
    expect(await said('noise.dat')).toContain('neither text nor a ZIP archive')
    expect(await said('text.txt')).toContain('it has only the column "Dear')
    expect(await said('site.html')).toContain('"import csv FILE"')
    expect(await said('other.json')).toContain('no issues or discussions of GitHub, and no answers')
    expect(await said('bad.json')).toContain('is not JSON')
    expect(await said('odd.zip')).toContain('the archive has neither posts.json')
    expect(await said('no.zip')).toContain('ZIP archive')
    expect(await said('folder')).toContain('no JSON files')
    expect(await said('latin1.csv')).toContain('not UTF-8')
    expect(await said('site.dump')).toContain('a dump of PostgreSQL')
    expect(await said('site.jsonl.gz')).toContain('Unpack it first')
    expect(await said('mine.backup')).toContain('Use "feedbackctl restore"')
    expect(await said('site.db')).toContain('feedbackctl export')
    expect(await said('none.csv')).toContain('none.csv does not exist.')
    expect(await said('csv')).toContain('feedbackctl import csv FILE')
    expect(await said('cvs b.csv')).toContain('feedbackctl import csv b.csv')
  })
})

it('says that a database is one of feedbackctl', async () => {
  const machine = await makeWorld('postgres', {})
  const { code, stderr } = await machine.run(`import ${machine.databaseUrl} --yes`)
  expect([code, stderr]).toEqual([2, expect.stringContaining('The database is one of feedbackctl')])
})

const CSV = ['Nr,Subject,Details,Votes,Extra', ...Array.from({ length: 12 }, (_, at) => `${at},Post ${at}\u001b[31m,"${'long '.repeat(100)}\nlines",${at},x`)].join('\n') // prettier-ignore

describe.each(engines)('a preview of CSV on %s', (engine) => {
  it('is the first ten rows by the columns as they are mapped', async () => {
    const machine = await makeWorld(engine, { 'ideas.csv': CSV, 'none.csv': 'Title,Votes\n' })
    const dry = await machine.run('import csv ideas.csv --dry-run --map id=nr')
    expect(dry.stderr).toContain('Columns of ideas.csv: id=Nr, title=Subject, text=Details, votes=Votes\n')
    expect(dry.stderr).toMatch(/^TITLE +TEXT +VOTES +ID$|^ID +TITLE +TEXT +VOTES$/m)
    expect(dry.stderr.match(/Post \d+/g)).toEqual(Array.from({ length: 10 }, (_, at) => `Post ${at}`))
    expect(dry.stderr).not.toContain('\u001b')
    expect(Math.max(...dry.stderr.split('\n').filter((line) => line.includes('Post ')).map((line) => line.length))).toBeLessThanOrEqual(80) // prettier-ignore
    expect(dry.stdout).not.toContain('Subject')
    const { preview } = JSON.parse((await machine.run('import ideas.csv --dry-run --json --map id=nr')).stdout)
    expect(preview.columns).toEqual([{ column: 'id', header: 'Nr' }, { column: 'title', header: 'Subject' }, { column: 'text', header: 'Details' }, { column: 'votes', header: 'Votes' }]) // prettier-ignore
    expect(preview.rows).toHaveLength(10)
    expect(preview.rows[3]).toMatchObject({ id: '3', votes: '3' })
    expect((await machine.run('import none.csv --dry-run')).stderr).toContain('It has no rows.')
    expect((await machine.run('import ideas.csv --yes')).stderr).not.toContain('Columns of ideas.csv')
  })
})

it('a preview comes before the question on a terminal', async () => {
  const machine = await makeWorld('sqlite', { 'ideas.csv': CSV })
  const screen = machine.terminal('import csv ideas.csv')
  await screen.sees(/Import this from ideas.csv/)
  expect(screen.text()).toMatch(/title=Subject[^]*Post 9[^]*Would create[^]*Import this from ideas.csv/)
  screen.type('n\r')
  expect(await screen.ended).toMatchObject({ code: 5 })
})
