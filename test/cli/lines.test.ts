import { Readable } from 'node:stream'
import { stringify } from 'csv-stringify/sync'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { linesGiven, type Line } from '../../src/cli/lib/flags/lines.js'
import { makeMachine } from '../support/cli.js'
import { assertProperty } from '../support/properties.js'
import { engines } from '../support/site.js'

interface Listed {
  number: number
  title: string
  contentMarkdown: string | null
  'board.url': string | null
}

describe.each(engines)('lines to create on %s', (engine) => {
  async function filled() {
    const machine = await makeMachine(engine)
    const token = await machine.setup()
    const { run } = machine
    await run('boards create Ideas')
    const posts = async (): Promise<Listed[]> =>
      JSON.parse((await run('posts list --all --sort oldest --fields number,title,contentMarkdown,board.url')).stdout)
    return { machine, token, run, posts }
  }

  it('are posts, in their order, with an event and a vote each, here and on a server', async () => {
    const { machine, token, run, posts } = await filled()
    const titles = Array.from({ length: 105 }, (_, index) => `Title ${index + 1}`)
    const here = await run('posts create - --board ideas --body same', { stdin: `\n${titles.join('\r\n')}\n\n` })
    expect([here.code, here.stdout.split('\n').length, here.stderr]).toEqual([
      0,
      106,
      expect.stringMatching(/^(\d+ posts …\n)*Created 105 posts\.\n$/),
    ])
    const listed = await posts()
    expect(listed.map(({ title }) => title)).toEqual(titles)
    expect(listed.map(({ number }) => number)).toEqual(titles.map((_, index) => index + 1))
    expect(listed.every((post) => post.contentMarkdown === 'same' && post['board.url'] === 'ideas')).toBe(true)
    const events = JSON.parse((await run('events list --action post.created --limit 100 --json')).stdout)
    expect(events.events.map(({ subject }: { subject: string }) => subject)).toEqual(titles.toReversed().slice(0, 100))
    expect((await run('posts list --sort votes --limit 1 --fields voters.votesCount')).stdout).toContain(':1}')

    const server = machine.start('serve')
    const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
    const there = { env: { FEEDBACKCTL_SERVER: url, FEEDBACKCTL_TOKEN: token } }
    const remote = await run('posts create - -q', { stdin: 'title,board\nOver there,ideas\n"Two, too",\n', ...there })
    expect(remote).toMatchObject({ code: 0, stdout: expect.stringMatching(/^over-there-\w+\ntwo-too-\w+\n$/) })
    expect((await posts()).slice(105)).toMatchObject([
      { number: 106, title: 'Over there', 'board.url': 'ideas' },
      { number: 107, title: 'Two, too', 'board.url': null },
    ])
  })

  it('that fail are said with their number, and the others are created', async () => {
    const { run, posts } = await filled()
    const csv = 'Title;Body;Board\n"Hello, ""you""";"one\ntwo";ideas\nX;;nope\n;y;\nY;b;Ideas\nZ;b\n'
    const some = await run('posts create - --json', { stdin: csv })
    expect([some.code, JSON.parse(some.stdout).length]).toEqual([7, 2])
    expect(
      some.stderr
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      { line: 4, name: 'X', code: 'VALIDATION_ERROR', errors: [{ code: 'UNKNOWN_BOARD' }] },
      { line: 5, name: '', code: 'USAGE' },
      { line: 7, name: 'Z', code: 'USAGE', message: 'The record has 2 cells, and the header has 3.' },
    ])
    expect(await posts()).toMatchObject([
      { number: 1, title: 'Hello, "you"', contentMarkdown: 'one\ntwo', 'board.url': 'ideas' },
      { number: 2, title: 'Y', contentMarkdown: 'b', 'board.url': 'ideas' },
    ])
    const none = await run('posts create -', { stdin: `${'x'.repeat(101)}\n${'y'.repeat(101)}\n` })
    expect([none.code, none.stdout]).toEqual([2, ''])
    expect(none.stderr).toMatch(
      /✗ line 1, "x+": title must be .*\n✗ line 2, .*\n2 of 2 posts failed\.\n  fix   feedbackctl posts create --help\n$/,
    )
    const tried = await run('posts create - --dry-run', { stdin: 'A\nB\n' })
    expect([tried.code, tried.stderr]).toEqual([0, 'Would create 2 posts.\n'])
    expect(await posts()).toHaveLength(2)
  })

  it('are boards, roadmaps, roles and people too, and none twice with --if-not-exists', async () => {
    const { run } = await filled()
    const boards = await run('boards create - -o csv --fields name,display', {
      stdin: 'name,private,color\nOne,true,#112233\nTwo,false,\n',
    })
    expect(boards).toMatchObject({ code: 0, stdout: 'name,display\nOne,false\nTwo,true\n' })
    expect((await run('boards create - --if-not-exists -q', { stdin: 'ideas\nONE\nThree\n' })).stdout).toBe(
      'ideas\none\nthree\n',
    )
    for (const [command, stdin] of [
      ['roadmaps create - --if-not-exists', 'Planned\nDone\n'],
      ['roles create - --if-not-exists', 'name,permissions\nMods,"post:update,post:destroy"\n'],
      ['users create - --if-not-exists', 'email,name,password\neve@example.org,Eve,correct horse battery\n'],
      ['posts create - --if-not-exists', 'Dark mode\nEmoji\n'],
    ] as const) {
      const first = await run(command, { stdin })
      const second = await run(command, { stdin })
      expect([first.code, second.code, second.stderr]).toEqual([0, 0, expect.stringMatching(/^\d \w+ existed already\.\n$/m)]) // prettier-ignore
      expect(second.stdout).toBe(first.stdout)
      expect(second.stdout).not.toBe('')
    }
    const one = await run('boards create Ideas --if-not-exists --json')
    expect([one.code, JSON.parse(one.stdout).board.url, one.stderr]).toEqual([0, 'ideas', ''])
    expect((await run('boards create Other --url IDEAS --if-not-exists')).stderr).toBe(
      'Board "Ideas" (ideas) exists already. Nothing was changed.\n',
    )
    expect((await run("posts create 'Dark mode' --board ideas --if-not-exists")).stderr).toContain('Created post #3')
    const view = async (name: string) => (await run(`views create ${name} --roadmap none --if-not-exists`)).stderr
    expect([await view('Triage'), await view('TRIAGE')]).toEqual(['Created view "Triage".\n', 'View "Triage" exists already. Nothing was changed.\n']) // prettier-ignore
  })

  it('change nothing where they cannot be read, and nobody is asked to write them', async () => {
    const { run, posts } = await filled()
    const wrong = async (command: string, stdin: string) => {
      const { code, stderr } = await run(command, { stdin })
      return `${code} ${stderr}`
    }
    expect(await wrong('posts create -', 'title,votes\nx,1\n')).toMatch(
      /^2 ✗ Unknown column "votes".*title, body, board/,
    )
    expect(await wrong('posts create -', 'title,title\nx,1\n')).toMatch(/^2 ✗ .*"title" twice/)
    expect(await wrong('posts create - --body-file -', 'x\n')).toMatch(/^2 ✗ The lines come from stdin/)
    expect(await wrong('users create - --generate-password', 'x@example.org\n')).toMatch(/^2 ✗ The lines come from/)
    expect(await wrong('posts create - --as nobody', 'x\ny\n')).toMatch(/^3 ✗ User "nobody" not found.*\n.*\n.*\n$/)
    expect(await wrong('posts create -', '')).toBe('0 No lines were given. Nothing was changed.\n')
    expect(await posts()).toEqual([])
  })
})

it('CSV is read as it is written', async () => {
  const columns = ['title', 'body'].map((field) => ({ names: [field], field, valueOf: (text: string) => text }))
  const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', ';', '\n', 'é', '💡', "'") })
  const read = async (chunks: Buffer[]): Promise<Line[]> => {
    const lines: Line[] = []
    for await (const line of linesGiven({ stdin: Readable.from(chunks) as NodeJS.ReadStream }, columns, 'title'))
      lines.push(line)
    return lines
  }
  const property = fc.asyncProperty(
    fc.array(fc.tuple(cell, cell)),
    fc.constantFrom(',', ';'),
    fc.integer({ min: 1, max: 9 }),
    async (rows, delimiter, size) => {
      const bytes = Buffer.from(stringify([['title', 'body'], ...rows], { delimiter, bom: true }))
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size)) // prettier-ignore
      const full = rows.map(([title, body]) => (title.trim() ? { title, ...(body.trim() && { body }) } : 'no title'))
      const found = (await read(chunks)).map(({ values }) => (values instanceof Error ? 'no title' : values))
      expect(found).toEqual(full)
    },
  )
  await assertProperty(property, { numRuns: 200 })
  expect(await read([Buffer.from('title\n"a\nb\n')])).toMatchObject([{ number: 2, values: { code: 'USAGE' } }])
  expect(await read([Buffer.from('title\na"b\nc"d\ne\n')])).toMatchObject([
    { number: 2, values: { code: 'USAGE' } },
    { number: 4, values: { title: 'e' } },
  ])
})
