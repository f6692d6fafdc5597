import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { claimRun, insertRun } from '../../src/db/importruns.js'
import { miscounts } from '../../src/db/recount.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { PNG } from '../support/images.js'
import { cleanup, engines } from '../support/site.js'

const CSV = [
  'ID,Subject,Details,Forum,State,Votes,Author,Author Email,Labels,Created,URL,Extra',
  '1,Dark mode,"<p>My <b>eyes</b></p><script>alert(1)</script>",Ideas,planned,"1,128",Ann,ann@example.org,"ui, theme",2024-01-02 03:04:05,https://x.example/ideas/p/dark-mode,',
  '2,"=cmd|\u001b[31m ""quoted""","Two',
  'lines",Ideas,open,7,Bob,,,2024-02-02,,x',
  '3,,No title,Ideas,done,1,,,,,,',
].join('\n')

const BALANCE = {
  balance: [
    { type: 'board', found: 1, created: 1, matched: 0, existing: 0, failed: 0 },
    { type: 'status', found: 1, created: 1, matched: 0, existing: 0, failed: 0 },
    { type: 'tag', found: 2, created: 2, matched: 0, existing: 0, failed: 0 },
    { type: 'person', found: 2, created: 2, matched: 0, existing: 0, failed: 0 },
    { type: 'post', found: 3, created: 2, matched: 0, existing: 0, failed: 1 },
  ],
  byBoard: [
    {
      boardId: undefined as unknown,
      board: 'Ideas',
      posts: { found: 3, created: 2, skipped: 1 },
      votes: { found: 1136, created: 1135, skipped: 1 },
      comments: { found: 0, created: 0, skipped: 0 },
    },
  ],
  failures: [{ type: 'post', code: expect.any(String), count: 1, first: expect.stringContaining('title is missing'), rows: [{ row: 4 }] }], // prettier-ignore
  places: [
    { type: 'board', name: 'Ideas' },
    { type: 'status', name: 'planned' },
    { type: 'tag', name: 'ui' },
    { type: 'tag', name: 'theme' },
  ],
}

it.each(engines)(
  'CSV of another product becomes posts, once, and what is refused can be mended, on %s',
  async (engine) => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const file = (name: string, text: string) => {
      writeFileSync(path.join(machine.folder, name), text)
      return name
    }
    file('ideas.csv', `\ufeff${CSV}`)
    const dry = await machine.run('import csv ideas.csv --dry-run --json')
    expect([dry.code, JSON.parse(dry.stdout)]).toEqual([
      7,
      { preview: expect.anything(), ...BALANCE, boards: [], passwords: { kept: 0, leftOut: 0 }, dry_run: true },
    ])
    expect(dry.stderr).toContain('Columns that are not imported: Extra.')
    expect(dry.stderr).toContain('title is missing')
    expect((await machine.run('posts list -o name')).stdout).toBe('')
    const { stderr } = await machine.run('import csv ideas.csv --dry-run')
    expect(stderr).toMatch(
      /BOARD +POSTS +CREATED +SKIPPED +VOTES +CREATED +SKIPPED +HERE .*\nIdeas +3 +2 +1 +1136 +1135 +1 +0 /,
    )
    expect(stderr).toMatch(/Refused 1 post: .*title is missing.*: row 4$/m)
    expect(stderr).toMatch(/post in row 4 ""/)
    expect(stderr).toMatch(
      /Would create boards: "Ideas"\n.*Would create statuses: "planned"\n.*Would create tags: "ui", "theme"/,
    )

    const unsure = await machine.run('import csv ideas.csv')
    expect([unsure.code, unsure.stderr]).toEqual([5, expect.stringContaining('--yes')])
    const done = await machine.run('import csv ideas.csv --yes --rejects rejects.jsonl --json')
    const { boardId } = JSON.parse(done.stdout).boards[0]
    expect([done.code, JSON.parse(done.stdout)]).toEqual([7, { ...BALANCE, byBoard: [{ ...BALANCE.byBoard[0], boardId }], boards: [{ boardId, board: 'Ideas', posts: 2, votes: 1135 }], passwords: { kept: 0, leftOut: 0 }, dry_run: false }]) // prettier-ignore
    const { posts } = JSON.parse((await machine.run('posts list --json')).stdout)
    expect(posts).toMatchObject([
      { title: '=cmd|[31m "quoted"', contentMarkdown: 'Two\nlines', voters: { votesCount: 7, importedVotes: 7 } }, // prettier-ignore
      { title: 'Dark mode', contentMarkdown: 'My **eyes**', roadmap: { name: 'planned' }, board: { name: 'Ideas' }, createdAt: '2024-01-02T03:04:05.000Z', voters: { votesCount: 1128, importedVotes: 1128 } }, // prettier-ignore
    ])
    const again = JSON.parse((await machine.run('import csv ideas.csv --yes --json')).stdout)
    expect(again.balance.map(({ type, existing }: { type: string; existing: number }) => [type, existing])).toEqual([['board', 1], ['status', 1], ['tag', 2], ['person', 2], ['post', 2]]) // prettier-ignore

    const rejects = readFileSync(path.join(machine.folder, 'rejects.jsonl'), 'utf8')
    file('mended.jsonl', rejects.replace('"title":""', '"title":"Mended"'))
    expect((await machine.run('roadmaps list -o name')).stdout, 'a refused row makes no status').toBe('planned\n')
    const bad = JSON.parse((await machine.run('import records rejects.jsonl --source csv --yes --json')).stdout)
    expect(bad.balance).toEqual([{ type: 'post', found: 1, created: 0, matched: 0, existing: 0, failed: 1 }])
    const mended = await machine.run('import records mended.jsonl --source csv --yes --json')
    const one = { found: 1, created: 1, matched: 0, existing: 0, failed: 0 }
    expect([mended.code, JSON.parse(mended.stdout).balance]).toEqual([0, [{ type: 'status', ...one }, { type: 'post', ...one }]]) // prettier-ignore
    expect(JSON.parse((await machine.run('posts list --roadmap done --json')).stdout).posts).toMatchObject([{ title: 'Mended' }]) // prettier-ignore
    file('cases.csv', 'title,board,votes\nA,Ideas,3\nB,ideas,4\nC,IDEAS,5\n')
    const cases = await machine.run('import csv cases.csv --source other --yes')
    expect([cases.code, cases.stderr.match(/^ideas +.*$/gim)]).toEqual([0, [expect.stringMatching(/^Ideas +3 +3 +0 +12 +12 +0 +12 +0 /)]]) // prettier-ignore
    const doctor = await machine.run('doctor --json')
    expect(doctor.code).toBe(0)
  },
)

it.each(engines)(
  'a refused row creates nothing, whatever is wrong with it, and has its own number, on %s',
  async (engine) => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const file = (name: string, text: string) => writeFileSync(path.join(machine.folder, name), text)
    const places = async () => [
      (await machine.run('boards list -o name')).stdout,
      (await machine.run('roadmaps list -o name')).stdout,
      (await machine.run('tags list -o name')).stdout,
    ]
    const row = 'Hello,Ghost board,Ghost status,Ghost tag,not an@address'
    file('ghosts.csv', `title,board,status,category,email\n\n${row}\n\n\nNamed,,,,\n,Ghost board,,,\n`)
    const done = await machine.run('import csv ghosts.csv --yes --rejects rejects.jsonl --json')
    expect([done.code, JSON.parse(done.stdout)]).toMatchObject([7, {
    balance: [{ type: 'post', found: 3, created: 1, failed: 2 }],
    failures: [{ code: 'EMAIL_INVALID', rows: [{ row: 3, title: 'Hello' }] }, { code: 'VALIDATION_ERROR', rows: [{ row: 7 }] }],
  }]) // prettier-ignore
    expect(await places()).toEqual(['', '', ''])

    const columns = 'ideaId,ideaTitle,forumName,publicStatusName,categoryName,ideaCreatorEmailAddress'
    file('voice.csv', `${columns}\n1,Hello,Ghost board,Ghost status,Ghost tag,not an@address\n2,,Ghost board,,,\n`)
    const other = await machine.run('import uservoice voice.csv --yes --json')
    expect(JSON.parse(other.stdout).balance).toMatchObject([{ type: 'post', found: 2, failed: 2 }])
    const [ghost, user] = [
      { id: 'g', name: 'Ghost' },
      { id: 'u', name: 'Ann', email: 'not an@address' },
    ]
    file('canny.json', JSON.stringify({ posts: [{ id: 'p', title: 'Hello', board: ghost, status: 'planned', tags: [ghost], author: user }], hasMore: false })) // prettier-ignore
    file('issues.json', JSON.stringify([{ number: 1, title: ' ', state: 'closed', user: null, labels: [ghost] }]))
    const wish = { id: 1, title: 'Hello', board: { ...ghost, id: 1, slug: 'ghost' }, post_status: { ...ghost, id: 1 }, user: { ...user, id: 1 } } // prettier-ignore
    file('astuto.json', JSON.stringify([{ ...wish, approval_status: 'approved' }]))
    for (const given of ['canny canny.json', 'github issues.json', 'astuto astuto.json']) {
      const { stdout } = await machine.run(`import ${given} --yes --json`)
      expect(JSON.parse(stdout).balance).toMatchObject([{ type: 'post', found: 1, failed: 1 }])
    }
    expect(await places()).toEqual(['', '', ''])

    const rejects = readFileSync(path.join(machine.folder, 'rejects.jsonl'), 'utf8')
    file('mended.jsonl', rejects.replace('"email":"not an@address"', '"email":"ann@example.org"'))
    await machine.run('import records mended.jsonl --source csv --yes --json')
    expect(await places()).toEqual(['ghost-board\n', 'ghost-status\n', expect.stringMatching(/^\S+\n$/)])
  },
)

/** Several transactions. */
function* manyRecords() {
  for (let n = 0; n < 500; n++) yield { type: 'person', sourceId: `u${n}`, name: `Person ${n}` }
  for (let n = 0; n < 3000; n++) {
    yield { type: 'post', sourceId: `p${n}`, title: `Post ${n}`, author: `u${n % 500}`, createdAt: '2024-01-02T03:04:05Z', paths: [`/old/${n}`] } // prettier-ignore
    for (const person of [n % 500, (n + 1) % 500]) yield { type: 'vote', post: `p${n}`, person: `u${person}`, createdAt: '2024-01-02T03:04:05Z' } // prettier-ignore
    yield { type: 'comment', sourceId: `c${n}`, post: `p${n}`, author: `u${n % 500}`, text: `Comment ${n}`, createdAt: '2024-01-02T03:04:05Z' } // prettier-ignore
  }
}

it.each(engines)(
  'an import that is killed again and again and then ends is the same as one that ran once, on %s',
  async (engine) => {
    const text = [...manyRecords()].map((record) => `${JSON.stringify(record)}\n`).join('')
    const state = async (machine: Machine) => {
      const db = await connect(machine.databaseUrl)
      cleanup(() => db.destroy())
      const all = await Promise.all([
        db.selectFrom('posts').leftJoin('users', 'users.userId', 'posts.userId').select(['title', 'posts.createdAt', 'votesCount', 'commentsCount', 'users.name']).orderBy('title').execute(), // prettier-ignore
        db.selectFrom('users').select(['name', 'post_count', 'vote_count']).orderBy('name').execute(),
        db.selectFrom('imported_rows').select(['kind', 'sourceId']).orderBy('kind').orderBy('sourceId').execute(),
        db.selectFrom('former_paths').select('path').orderBy('path').execute(),
        db.selectFrom('comments').select(['body', 'created_at']).orderBy('body').execute(),
      ])
      expect(await miscounts(db)).toEqual([])
      return all
    }
    const [once, often] = [await makeMachine(engine), await makeMachine(engine)]
    for (const machine of [once, often]) {
      await machine.setup()
      writeFileSync(path.join(machine.folder, 'many.jsonl'), text)
    }
    const command = 'import records many.jsonl --source canny --yes --json'
    expect((await once.run(command)).code).toBe(0)
    const db = await connect(often.databaseUrl)
    cleanup(() => db.destroy())
    const count = async () => (await db.selectFrom('imported_rows').select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()).count // prettier-ignore
    for (let before = 0, kills = 0; kills < 2; kills++) {
      const running = often.start(command)
      await expect.poll(count).toBeGreaterThan(before)
      running.child.kill('SIGKILL')
      await running.ended
      before = await count()
    }
    const left = await often.run(command)
    const { balance } = JSON.parse(left.stdout) as { balance: Record<'found' | 'created' | 'existing' | 'failed', number>[] } // prettier-ignore
    expect([left.code, balance.filter(({ found, created, existing }) => found !== created + existing)]).toEqual([0, []])
    expect(
      balance.some(({ created }) => created > 0),
      'it was killed before its end',
    ).toBe(true)
    expect(await state(often)).toEqual(await state(once))
  },
)

it('lines that are no JSON objects come back as they were', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  const none = ['[1,  2.50]', '"text"', 'null', '{"type":"tag", "name":', '\u001b[31m\0']
  const tag = '{"type":"tag","sourceId":"1","name":"UI"}'
  writeFileSync(path.join(machine.folder, 'lines.jsonl'), [...none, tag, ''].join('\n'))
  const { code, stderr } = await machine.run('import records lines.jsonl --yes --rejects rejects.jsonl')
  expect([code, stderr]).toEqual([7, expect.stringContaining('Refused 5 lines: The line is not a JSON object.')])
  expect(stderr).not.toContain('\u001b[31m')
  expect(readFileSync(path.join(machine.folder, 'rejects.jsonl'), 'utf8')).toBe(`${none.join('\n')}\n`)
})

it('a command without a server waits for no import that a killed server left open', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  const db = await connect(machine.databaseUrl)
  cleanup(() => db.destroy())
  const at = new Date().toISOString()
  const { userId } = await db.selectFrom('users').select('userId').executeTakeFirstOrThrow()
  await insertRun(db, { runId: 'left', userId, name: '', file: 'gone', options: '{}', isCheck: 0, askedAt: at, progress: null }) // prettier-ignore
  await claimRun(db, 'left', at)
  writeFileSync(path.join(machine.folder, 'tag.jsonl'), '{"type":"tag","sourceId":"1","name":"UI"}\n')
  expect((await machine.run('import records tag.jsonl --yes')).code).toBe(0)
  expect((await machine.run('tags list -o name')).stdout).not.toBe('')
})

it('records have images as large as those that people upload', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  const data = Buffer.concat([PNG, Buffer.alloc(4_999_999 - PNG.length)]).toString('base64')
  writeFileSync(path.join(machine.folder, 'image.jsonl'), JSON.stringify({ type: 'image', sourceId: 'a', data }))
  const { code, stdout } = await machine.run('import records image.jsonl --yes --json')
  expect([code, JSON.parse(stdout).balance]).toEqual([0, [expect.objectContaining({ type: 'image', created: 1 })]])
})

it('what cannot be imported is refused with what to do, and changes nothing', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  const file = (name: string, text: string | Buffer) => writeFileSync(path.join(machine.folder, name), text)
  file('none.csv', 'Foo,Bar\n1,2\n')
  file('open.csv', 'title\n"never closed\n'.padEnd(600_000, 'x'))
  file('empty.csv', '')
  file('latin1.csv', Buffer.from('title\nf\xfcr\n', 'latin1'))
  file('bad.jsonl', '{"type":"post"\n')
  const refused = async (command: string) => {
    const { code, stderr } = await machine.run(`import ${command} --yes`)
    return [code, stderr]
  }
  expect(await refused('csv none.csv')).toEqual([2, expect.stringContaining('--map title=')])
  expect(await refused('csv none.csv --map subject=Foo')).toEqual([2, expect.stringContaining('The columns are: id, title')]) // prettier-ignore
  expect(await refused('csv none.csv --map title=Baz')).toEqual([2, expect.stringContaining('It has: Foo, Bar')])
  expect(await refused('csv none.csv --map title')).toEqual([2, expect.stringContaining('column=header')])
  expect(await refused('csv none.csv --map title=Foo --board nope')).toEqual([3, expect.stringContaining('nope')])
  expect(await refused('csv open.csv')).toEqual([2, expect.stringContaining('The CSV cannot be read')])
  expect(await refused('csv empty.csv')).toEqual([2, expect.stringContaining('empty')])
  expect(await refused('csv latin1.csv')).toEqual([2, expect.stringContaining('UTF-8')])
  expect(await refused('csv missing.csv')).toEqual([2, expect.stringContaining('does not exist')])
  expect(await refused('records bad.jsonl')).toEqual([2, expect.stringContaining('The line is not a JSON object')])
  expect(await refused('acrobat none.csv')).toEqual([2, expect.stringContaining('csv')])
  expect((await machine.run('posts list -o name')).stdout).toBe('')
  expect(existsSync(path.join(machine.folder, 'rejects.jsonl'))).toBe(false)
})
