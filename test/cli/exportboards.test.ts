import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { miscounts } from '../../src/db/recount.js'
import { filled } from '../support/backups.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { PNG } from '../support/images.js'
import { engines, type Engine } from '../support/site.js'

type Line = Record<string, unknown> & { type: string }

const linesOf = (text: string): Line[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

async function done(machine: Machine, ...commands: string[]): Promise<string> {
  let last = ''
  for (const command of commands) {
    const { code, stdout, stderr } = await machine.run(command)
    expect([command, code, stderr]).toEqual([command, 0, stderr])
    last = stdout
  }
  return last
}

/**
 * Posts 1, 4 and 8 are on Ideas, 2 on Secret, 5, 6, 7 and 9 on Bugs, 10 on none. Of each of Ideas and Bugs a post is merged
 * into one of the other, and one of Ideas by way of Bugs into one of Ideas. Bob has two votes on what is one post now.
 */
async function site(engine: Engine): Promise<Machine> {
  const machine = await filled(engine)
  const people = ['eve', 'bob', 'cy', 'dan'].map((name) => `users create ${name}@example.org --name ${name}`)
  await done(
    machine,
    ...people,
    'boards create Bugs',
    "posts create 'Of ideas, merged away' --board ideas --as eve@example.org",
    "posts create 'It jumps' --board bugs --as bob@example.org",
    "posts create 'It is bright' --board bugs --as cy@example.org",
    "posts create 'Nobody knows me' --board bugs --as dan@example.org",
    "posts create 'There and back' --board ideas --as eve@example.org",
    "posts create 'Halfway' --board bugs --as cy@example.org",
    "posts create 'On no board'",
    'votes add 6 --as bob@example.org',
    'votes add 1 --as bob@example.org',
    "comments create 6 --body 'said on the other' --as cy@example.org",
    'posts update 5 --roadmap planned',
    'roadmaps create Elsewhere',
    'posts update 7 --roadmap elsewhere',
    'posts merge 4 --into 5',
    'posts merge 6 --into 1',
    'posts merge 8 --into 9',
    'posts merge 9 --into 1',
  )
  return machine
}

const rows = (text: string): string[] => text.split('\n').filter((line) => !/^\{"type":"(header|end)"/.test(line))

describe.each(engines)('an export of boards on %s', (engine) => {
  it('has them and what belongs to them, says what it leaves out, and an empty site imports it', async () => {
    const machine = await site(engine)
    const { code, stdout: text, stderr } = await machine.run('export --board ideas')
    expect([code, stderr]).toEqual([0, 'Left out 2 boards, 7 posts (1 of them merged into a post of another board) and 1 user, and events, notifications, views and invitations.\n']) // prettier-ignore
    const lines = linesOf(text)
    expect(lines[0]).toMatchObject({ type: 'header', boards: ['ideas'], leftOut: { boards: 2, posts: 7, mergedPosts: 1, people: 1 } }) // prettier-ignore
    const having = (type: string) => lines.filter((line) => line.type === type)
    const of = (type: string, field: string) => having(type).map((line) => String(line[field])).toSorted() // prettier-ignore
    expect(of('board', 'name')).toEqual(['Ideas'])
    expect(of('post', 'title')).toEqual(['Dark mode', 'There and back'])
    expect(of('roadmap', 'name')).toEqual(['Planned'])
    expect(of('tag', 'name')).toEqual(['Mobile', 'Secret-Tag'])
    expect(of('user', 'name')).toEqual(['Ada', 'bob', 'cy', 'eve'])
    expect(of('comment', 'body')).toContain('said on the other')
    const [merge] = having('merge')
    expect([having('merge').length, merge?.['intoId']]).toEqual([1, merge?.['rootId']])
    expect(of('event', 'action')).toEqual(['site.set_up'])
    expect(['event_seal', 'view', 'notification', 'invitation'].filter((type) => having(type).length > 0)).toEqual([]) // prettier-ignore

    const other = await makeMachine(engine === 'sqlite' ? 'postgres' : 'sqlite')
    await other.setup()
    writeFileSync(path.join(other.folder, 'boards.jsonl'), text)
    await done(other, 'import feedbackctl boards.jsonl --yes')
    expect(rows(await done(other, 'export'))).toEqual(rows(text))
    const db = await connect(other.databaseUrl)
    expect(await miscounts(db)).toEqual([])
    await db.destroy()
    expect((await done(other, 'import feedbackctl boards.jsonl --yes')).length).toBeGreaterThan(0)
    expect(await done(other, 'posts show 1 --json')).toContain('"votesCount":4')
    await done(other, 'audit verify', 'posts unmerge 8', "posts create 'One more' --board ideas", 'doctor --offline')
    const after = await connect(other.databaseUrl)
    expect(await miscounts(after)).toEqual([])
    await after.destroy()
  })

  it.each(['', ' --board ideas'])('keeps which texts still lack an image: export%s', async (flags) => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const file = (at: Machine, name: string, lines: readonly object[]) => writeFileSync(path.join(at.folder, name), lines.map((line) => `${JSON.stringify(line)}\n`).join('')) // prettier-ignore
    const image = (sourceId: string) => ({ type: 'image', sourceId, data: PNG.toString('base64') })
    const text = 'Look ![](import-image:one) ![](import-image:two)'
    const records = [
      { type: 'board', sourceId: 'b', name: 'Ideas', url: 'ideas' },
      { type: 'post', sourceId: 'p1', title: 'Dark mode', board: 'b', text },
      { type: 'post', sourceId: 'p2', title: 'Changed', board: 'b', text },
      { type: 'comment', sourceId: 'c1', post: 'p1', text },
    ]
    file(machine, 'first.jsonl', [image('one'), ...records])
    await done(machine, 'import records first.jsonl --yes')
    const { posts } = JSON.parse(await done(machine, 'posts list --json'))
    const [before] = posts.filter(({ title }: { title: string }) => title === 'Changed')
    const without = String(before.contentMarkdown).replace(/ !.*$/, '')
    await done(
      machine,
      `posts update ${before.number} --body Else`,
      `posts update ${before.number} --body '${without}'`,
    )

    const other = await makeMachine(engine)
    await other.setup()
    writeFileSync(path.join(other.folder, 'site.jsonl'), await done(machine, `export${flags}`))
    file(other, 'second.jsonl', [image('one'), image('two'), ...records])
    await done(other, 'import feedbackctl site.jsonl --yes')
    const { balance } = JSON.parse(await done(other, 'import records second.jsonl --yes --json'))
    expect(balance[1]).toMatchObject({ type: 'image', found: 2, created: 1, existing: 1 })
    const texts = [...JSON.parse(await done(other, 'posts list --json')).posts].map(({ title, contentMarkdown }) => [title, contentMarkdown.match(/!\[/g)?.length ?? 0]) // prettier-ignore
    expect(Object.fromEntries(texts)).toEqual({ Changed: 0, 'Dark mode': 2 })
    const db = await connect(other.databaseUrl)
    const comment = await db.selectFrom('comments').select('body').executeTakeFirstOrThrow()
    expect(comment.body.match(/!\[/g)).toHaveLength(2)
    expect(await db.selectFrom('imported_rows').selectAll().where('kind', '=', 'awaiting').execute()).toEqual([])
    await db.destroy()
  })

  it('takes boards by name, url and the start of an id, each once, and refuses others', async () => {
    const machine = await site(engine)
    const { stdout } = await machine.run('boards list --json')
    const { boards } = JSON.parse(stdout) as { boards: { boardId: string; url: string }[] }
    const { boardId = '' } = boards.find(({ url }) => url === 'bugs') ?? {}
    await done(machine, `export --board IDEAS --board ideas --board ${boardId} --out both.jsonl`)
    const text = readFileSync(path.join(machine.folder, 'both.jsonl'), 'utf8')
    const lines = linesOf(text)
    expect(lines[0]).toMatchObject({ boards: ['bugs', 'ideas'], leftOut: { boards: 1, posts: 2, mergedPosts: 0, people: 0 } }) // prettier-ignore
    expect(lines.filter(({ type }) => type === 'merge')).toHaveLength(4)
    expect(lines.at(-1)).toEqual({ type: 'end', lines: lines.length - 1 })
    for (const [args, code, said] of [
      ['--board none --out x.jsonl', 3, 'There is no board "none".'],
      ["--board '' --out x.jsonl", 3, 'There is no board "".'],
      ["--board 'no such one' --out x.jsonl", 3, 'There is no board "no such one".'],
      ['--board ideas --csv x', 2, '--csv and --board contradict each other'],
      ['--board ideas --static x', 2, '--static and --board contradict each other'],
    ] as const) {
      const refused = await machine.run(`export ${args}`)
      expect([args, refused.code, refused.stdout, refused.stderr]).toEqual([args, code, '', expect.stringContaining(said)]) // prettier-ignore
    }
    expect(['x', 'x.jsonl'].filter((name) => existsSync(path.join(machine.folder, name)))).toEqual([])

    const [, url = ''] = await machine.start('serve').says(/listening on (http:\S+?)"/)
    const at = `--server ${url}`
    const { code: signedIn } = await machine.run(`login ${at} --email ada@example.org --password-stdin`, { stdin: 'correct horse battery' }) // prettier-ignore
    expect(signedIn).toBe(0)
    const own = (given: string) => rows(given).filter((line) => !line.startsWith('{"type":"user_use"'))
    const there = await machine.run(`export --board Bugs --board ideas ${at}`)
    expect([there.code, own(there.stdout)]).toEqual([0, own(text)])
    expect(there.stderr).toMatch(/^Left out 1 board, 2 posts and 0 users, and events/)
    const refused = await machine.run(`export --board none --out x.jsonl ${at}`)
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('There is no board "none".')])
    expect(existsSync(path.join(machine.folder, 'x.jsonl'))).toBe(false)
    const signIn = await fetch(`${url}/api/v1/auth/login`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ email: 'ada@example.org', password: 'correct horse battery' }) }) // prettier-ignore
    const { user } = (await signIn.json()) as { user: { authToken: string } }
    const get = (query: string) => fetch(`${url}/api/v1/export?${query}`, { headers: { authorization: `Bearer ${user.authToken}` } }) // prettier-ignore
    const csv = await get('format=csv&board=ideas')
    expect([csv.status, await csv.text()]).toEqual([400, expect.stringContaining('board works with the format lines only')]) // prettier-ignore
    const sent = await get('board=bugs,ideas')
    expect(sent.headers.get('content-disposition')).toMatch(/filename="boards-\d{4}-\d\d-\d\d\.jsonl"/)
    expect(own(await sent.text())).toEqual(own(text))
  })
})
