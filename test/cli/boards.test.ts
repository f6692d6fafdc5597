import { describe, expect, it, vi } from 'vitest'
import { spawnSync } from 'node:child_process'
import { makeMachine, PROGRAM } from '../support/cli.js'
import { streamAll } from '../../src/cli/lib/output/pages.js'
import type { Terminal } from '../../src/cli/lib/terminal/terminal.js'
import * as boards from '../../src/service/boards.js'
import type { Call } from '../../src/service/lib/operation.js'
import { engines, makeSite } from '../support/site.js'

const ESCAPE = '\u001b'

describe.each(engines)('feedbackctl boards on %s', (engine) => {
  it('creates, shows, updates, finds and deletes a board, locally and through a server, with the same output', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const server = machine.start('serve')
    const [, url] = await server.says(/listening on (http:\S+?)"/)
    const login = await machine.run(`login --server ${url} --email ada@example.org --password-stdin`, {
      stdin: 'correct horse battery',
    })
    expect(login).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`Signed in to ${url} as ada@example.org.`),
      stderr: '',
    })

    for (const [first, second, name] of [
      ['', `--server ${url}`, 'ideas'],
      [`--server ${url}`, '', 'wishes'],
    ] as const) {
      const created = await machine.run(`boards create ${name} --color 1d4ed8 ${first}`)
      expect(created).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(
          `^${name}\t${name}\t1d4ed8\t0\tpublic\t\\d{4}-[^\t]+\tshown\t[0-9a-f-]{36}\t\t\n$`,
        ),
        stderr: `Created board "${name}" (${name}).\n`,
      })
      const shown = await machine.run(`boards show ${name} --json ${second}`)
      expect(JSON.parse(shown.stdout)).toEqual({
        board: expect.objectContaining({ name, color: '1d4ed8', display: true }),
        version: expect.any(String),
      })
      expect(await machine.run(`boards show ${name} --json ${first}`)).toEqual(shown)
      const renamed = await machine.run(`boards update ${name} --name 'Bright ${name}' --display false ${second}`)
      expect(renamed).toMatchObject({ code: 0, stderr: `Updated board "Bright ${name}" (${name}).\n` })
      expect(await machine.run(`boards search BRIGHT -q ${first}`)).toMatchObject({ code: 0, stdout: `${name}\n` })
      expect((await machine.run(`boards list --json ${first}`)).stdout).toBe(
        (await machine.run(`boards list --json ${second}`)).stdout,
      )
      expect(await machine.run(`boards delete ${name} ${second}`)).toMatchObject({
        code: 5,
        stderr: expect.stringContaining('CONFIRMATION_NEEDED'),
      })
      expect(await machine.run(`boards rm ${name} --yes ${second}`)).toMatchObject({
        code: 0,
        stderr: `Deleted board "Bright ${name}" (${name}).\n`,
        stdout: '',
      })
      expect(await machine.run(`boards show ${name} ${first}`)).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('BOARD_NOT_FOUND (exit 3)'),
      })
    }
  })

  it('refuses names that a URL path cannot carry with the same error, locally and through a server', async () => {
    const machine = await makeMachine(engine)
    const server = machine.start('serve')
    const [, url] = await server.says(/listening on (http:\S+?)"/)
    for (const args of ["boards show ''", 'boards show .', 'boards show ..', 'boards show a/b']) {
      const [here, there] = [await machine.run(args), await machine.run(`${args} --server ${url}/api/v1`)]
      expect({ ...there, stderr: there.stderr.replace(` --server ${url}/api/v1`, '') }).toEqual(here)
      expect(here.code).toBe(args.endsWith('b') ? 3 : 2)
    }
  })

  it('updates only the given fields, so that concurrent updates do not overwrite each other', async () => {
    const machine = await makeMachine(engine)
    await machine.run('boards create Ideas')
    const changes = ['--name Bright', '--url bright-ideas', '--color 00ff00', '--display false', '--view-voters false']
    const { stdout } = await machine.run('boards list -o jsonl')
    const { boardId } = JSON.parse(stdout) as { boardId: string }
    const results = await Promise.all(changes.map((change) => machine.process(`boards update ${boardId} ${change}`)))
    expect(results.map((result) => result.code)).toEqual([0, 0, 0, 0, 0])
    expect(JSON.parse((await machine.run(`boards show ${boardId} --json`)).stdout).board).toMatchObject({
      name: 'Bright',
      url: 'bright-ideas',
      color: '00ff00',
      display: false,
      view_voters: false,
    })
  })

  it('shows a board that a command created in the next request to a running server', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const server = machine.start('serve')
    const [, url] = await server.says(/listening on (http:\S+?)"/)
    const names = async () =>
      ((await (await fetch(`${url}/api/v1/boards?limit=100`)).json()) as { boards: { name: string }[] }).boards.map(
        (board) => board.name,
      )
    expect(await names()).toEqual([])
    for (let number = 1; number <= 5; number++) {
      expect((await machine.run(`boards create 'Board ${number}'`)).code).toBe(0)
      // Visitors share one look at the revision for 50 ms
      if (engine === 'postgres') await vi.waitUntil(async () => (await names()).length === number, { timeout: 50_000 })
      expect(await names()).toHaveLength(number)
    }
  })

  it('changes nothing in a dry run, locally and through a server', async () => {
    const machine = await makeMachine(engine)
    const token = await machine.setup()
    const server = machine.start('serve')
    const [, url] = await server.says(/listening on (http:\S+?)"/)
    for (const where of ['', `--server ${url}`]) {
      const env = { FEEDBACKCTL_TOKEN: token }
      expect(await machine.run(`boards create Ideas --dry-run --json ${where}`, { env })).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('"name":"Ideas"'),
      })
      expect((await machine.run('boards list --json')).stdout).toContain('"total_count":0')
      await machine.run('boards create Ideas')
      expect(await machine.run(`boards delete ideas --dry-run ${where}`, { env })).toMatchObject({
        code: 0,
        stderr: 'Would delete board "Ideas" (ideas).\n',
      })
      expect((await machine.run('boards delete ideas --yes')).code).toBe(0)
    }
  })
})

describe('output', () => {
  it('truncates long names before it drops columns, and drops neither the url, or the id, nor who sees the board', async () => {
    const machine = await makeMachine('sqlite')
    const name = 'long '.repeat(9).trim()
    const created = await machine.run(`boards create '${name}' --display false --json`)
    const id = JSON.parse(created.stdout).board.boardId as string
    for (const columns of [20, 40, 80, 100, 120]) {
      const { text } = await machine.terminal('boards list --no-color', { columns }).ended
      const plain = text.replaceAll('\r\n', '\n')
      for (const line of plain.split('\n').slice(0, 2)) expect(line.length).toBeLessThanOrEqual(Math.max(columns, 38))
      const handle = columns >= 80 ? ['URL', name.replaceAll(' ', '-')] : ['ID', id.slice(0, 18)]
      expect(plain.replaceAll('\n', '')).toMatch(new RegExp(`NAME +${handle[0]}.*ACCESS`))
      expect(plain).toContain(` ${handle[1]}  `)
      expect(plain).toContain('private')
      expect(text.includes('CREATED')).toBe(columns >= 100)
    }
  })

  it('answers whether a url or a name is free, with the exit code that "create" would have', async () => {
    const machine = await makeMachine('sqlite')
    await machine.run('boards create Ideas')
    const { text, code } = await machine.terminal('boards check-slug ideas').ended
    expect([code, text]).toEqual([5, expect.stringMatching(/AVAILABLE.*no\r\nThe url "ideas" is taken\.\r\n$/)])
    for (const [args, exit, stdout, stderr] of [
      ['boards check-slug bugs', 0, 'yes\n', 'The url "bugs" is free.\n'],
      ['boards check-name Ideas', 5, 'no\n', 'The name "Ideas" is taken.\n'],
      ['boards check-name Bugs -q', 0, 'yes\n', ''],
      ['boards check-slug ideas --json', 5, '{"available":false}\n', ''],
    ] as const)
      expect([args, await machine.run(args)]).toEqual([args, { code: exit, stdout, stderr }])
  })

  it('draws a table for 80 columns where a terminal says that it has 0', async () => {
    const machine = await makeMachine('sqlite')
    await machine.run(`boards create '${'long '.repeat(9).trim()}'`)
    const at = async (columns: number) => (await machine.terminal('boards list --no-color', { columns }).ended).text
    expect(await at(0)).toBe(await at(80))
  })

  const withBoards = async () => {
    const machine = await makeMachine('sqlite')
    for (const name of ["'💡 Ideas'", "'日本語のご意見'", "'Comma, here'"])
      await machine.run(`boards create ${name} --color 1d4ed8`)
    return machine
  }

  it('supports every format', async () => {
    const machine = await withBoards()
    const out = async (args: string) => (await machine.run(`boards list ${args}`)).stdout
    expect((await out('')).split('\n')).toHaveLength(4)
    expect(await out('-o tsv --header')).toMatch(
      /^name\turl\tcolor\tpost_count\taccess\tcreatedAt\tvoters\tboardId\tmarks\tdescription\nComma, here\t/,
    )
    expect(await out('-o csv')).toMatch(
      /^name,url,color,post_count,access,createdAt,voters,boardId,marks,description\n"Comma, here",comma-here,1d4ed8,0,public,/,
    )
    expect(await out('-o csv --no-header')).not.toContain('name,url')
    expect(
      (await out('-o jsonl'))
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { url: string }).url),
    ).toEqual(['comma-here', '日本語のご意見', 'ideas'])
    expect(await out('-o yaml')).toMatch(/^boards:\n {2}- boardId: /)
    expect(await out('-q')).toBe('comma-here\n日本語のご意見\nideas\n')
    expect(JSON.parse(await out('--json'))).toHaveProperty('page_info')
    expect(await out('-o table')).toMatch(/NAME +URL +COLOR +POSTS/)
    expect(await machine.run('boards list --json -o csv')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('contradict'),
    })
  })

  it('is a table on a terminal: 80 columns, emoji and Chinese aligned, a footer with the next command', async () => {
    const machine = await withBoards()
    const { code, text } = await machine.terminal('boards list --limit 2').ended
    expect(code).toBe(0)
    const plain = text.replaceAll(new RegExp(`${ESCAPE}\\[[0-9;]*m`, 'g'), '').replaceAll('\r', '')
    expect(plain).toContain('NAME')
    expect(plain).toMatch(/Page 1 of 2 · 2 of 3 · next: feedbackctl boards list --limit 2 --page 2/)
  })

  it('has as many colors as the terminal', async () => {
    const machine = await withBoards()
    const square = async (env: Record<string, string>) =>
      /\S*■/.exec((await machine.terminal('boards list', { env }).ended).text)?.[0]
    expect(await square({ COLORTERM: 'truecolor' })).toBe(`${ESCAPE}[38;2;29;78;216m■`)
    expect(await square({ TERM: 'xterm-256color' })).toBe(`${ESCAPE}[38;5;68m■`)
    expect(await square({ TERM: 'linux' })).toMatch(new RegExp(`^${ESCAPE}\\[[39]\\dm■$`))
    expect(await square({ TERM: 'dumb' })).toBe('■')
  })

  it('has color as --color says, which wins over the environment; a board keeps its own --color', async () => {
    const machine = await makeMachine('sqlite')
    expect((await machine.run('boards create Ideas --color 1d4ed8')).code).toBe(0)
    const escapes = new RegExp(`${ESCAPE}\\[`)
    const list = async (flags: string, env: Record<string, string> = {}) =>
      (await machine.run(`boards list -o table ${flags}`, { env })).stdout
    expect(await list('--color always', { NO_COLOR: '1', TERM: 'dumb' })).toMatch(escapes)
    expect(await list('--color=always')).toMatch(escapes)
    expect(await list('--color never', { FORCE_COLOR: '1' })).not.toMatch(escapes)
    expect(await list('--color auto', { FORCE_COLOR: '1' })).toMatch(escapes)
    expect(await list('--color auto')).not.toMatch(escapes)
    const updated = await machine.run('boards update ideas --color 15803d --color always -o table')
    expect(updated).toMatchObject({ code: 0, stdout: expect.stringMatching(/15803d/) })
    expect(updated.stdout).toMatch(escapes)
    expect(await machine.run('boards list --color red')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--color must be auto, always or never.'),
    })
  })

  it('has color only where it should', async () => {
    const machine = await withBoards()
    const escapes = new RegExp(`${ESCAPE}\\[`)
    expect((await machine.terminal('boards list --no-color').ended).text).not.toMatch(escapes)
    expect((await machine.terminal('boards list', { env: { NO_COLOR: '1' } }).ended).text).not.toMatch(escapes)
    expect((await machine.terminal('boards list', { env: { TERM: 'dumb' } }).ended).text).not.toMatch(escapes)
    expect((await machine.terminal('boards list').ended).text).toMatch(escapes)
    expect((await machine.run('boards list -o table')).stdout).not.toMatch(escapes)
    expect((await machine.run('boards list -o table', { env: { FORCE_COLOR: '1' } })).stdout).toMatch(escapes)
    expect((await machine.run('boards list -o table --no-color', { env: { FORCE_COLOR: '1' } })).stdout).not.toMatch(
      escapes,
    )
  })

  it('never lets a name control the terminal', async () => {
    const machine = await makeMachine('sqlite')
    await machine.run(`boards create 'evil\u202egnp'`)
    expect((await machine.terminal('boards list --no-color').ended).text).not.toMatch(/\u202e/)
  })

  it('reports a page past the end on stderr only, and exits with 0', async () => {
    const machine = await withBoards()
    expect(await machine.run('boards list --page 9')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'Page 9 is past the end. The list has 1 page, 3 rows.\n',
    })
    expect(JSON.parse((await machine.run('boards list --page 9 --json')).stdout).boards).toEqual([])
  })

  it('streams every page with --all, as one JSON body too', async () => {
    const machine = await makeMachine('sqlite')
    await machine.run('migrate')
    const { connect } = await import('../../src/db/connect.js')
    const db = await connect(machine.databaseUrl)
    const board = (number: number) => ({
      boardId: `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`,
      name: `Board ${number} ${'x'.repeat(30)}`,
      nameFolded: `${number}`,
      url: `b${number}`,
      color: 'aaaaaa',
      display: 1,
      view_voters: 1,
      createdAt: new Date(number * 1000).toISOString(),
      updatedAt: '',
    })
    for (let start = 0; start < 27_000; start += 500)
      await db
        .insertInto('boards')
        .values(Array.from({ length: 500 }, (_, index) => board(start + index)))
        .execute()
    await db.destroy()
    const { code, stdout } = await machine.run('boards list --all --json')
    expect(code).toBe(0)
    expect(stdout.length).toBeGreaterThan(5_000_000) // a pipe does not truncate it
    const body = JSON.parse(stdout) as { boards: { boardId: string }[]; total_count: number }
    expect(new Set(body.boards.map(({ boardId }) => boardId)).size).toBe(27_000)
    expect(body.total_count).toBe(27_000)
    expect((await machine.run('boards list --all --created asc -q')).stdout.split('\n').slice(0, 2)).toEqual([
      'b0',
      'b1',
    ])
  })

  it('exits quietly when the reader of a pipe stops early', async () => {
    const machine = await withBoards()
    const running = machine.start('boards list --all --json')
    running.child.stdout?.destroy()
    expect(await running.ended).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('--all', () => {
  it('prints one CSV header, and refuses --limit, --page and --after', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    for (let number = 0; number < 3; number++) await machine.run(`boards create 'Board ${number}'`)
    expect((await machine.run('boards list --all -o csv')).stdout.match(/name,url/g)).toHaveLength(1)
    expect((await machine.run('boards list --all -o csv --no-header')).stdout).not.toContain('name,url')
    for (const flag of ['--limit 1', '--page 1', '--after x'])
      expect(await machine.run(`boards list --all ${flag}`)).toMatchObject({ code: 2, stdout: '' })
  })

  it('continues when the board of its cursor is deleted', async () => {
    const site = await makeSite('sqlite')
    for (let number = 0; number < 250; number++)
      await site.call(boards.create, { name: `Board ${number}`, url: `b${number}` })
    const written: string[] = []
    const stream = { write: (text: string) => written.push(text) > 0, isTTY: false } as unknown as NodeJS.WriteStream
    let pages = 0
    const call: Call = async (op, input) => {
      // The last two of the first page
      if (++pages === 2) for (const url of ['b150', 'b151']) await site.call(boards.remove, { boardId: url })
      return site.call(op, input)
    }
    const output = { rows: (answer: { boards: boards.Board[] }) => answer.boards, columns: [], id: () => '' } as never
    await streamAll(
      { stdout: stream } as Terminal,
      { json: true },
      { read: (page) => call(boards.list, page), output, list: 'boards' },
    )
    const body = JSON.parse(written.join('')) as { boards: { url: string }[] }
    expect(body.boards.map((board) => board.url)).toEqual(Array.from({ length: 250 }, (_, index) => `b${249 - index}`))
  })
})

describe('errors', () => {
  it('are four lines on stderr: message, reason, fix and code', async () => {
    const machine = await makeMachine('sqlite')
    const { stdout } = await machine.run('boards create Ideas --json')
    const { createdAt } = (JSON.parse(stdout) as { board: { createdAt: string } }).board
    expect(await machine.run('boards create Ideas --url ideas')).toEqual({
      code: 5,
      stdout: '',
      stderr: `✗ The url "ideas" is taken. Choose another.\n  why   board "Ideas" has had it since ${createdAt.slice(0, 10)}\n  fix   feedbackctl boards create Ideas --url ideas-2\n  code  BOARD_URL_EXISTS (exit 5)\n`,
    })
  })

  it('are one JSON object on stderr with -o json', async () => {
    const machine = await makeMachine('sqlite')
    const { code, stdout, stderr } = await machine.run('boards create --color zz Ideas -o json')
    expect([code, stdout]).toEqual([2, ''])
    expect(JSON.parse(stderr)).toMatchObject({
      code: 'VALIDATION_ERROR',
      exit: 2,
      errors: [{ code: 'BOARD_COLOR_HEX_LENGTH' }],
    })
  })

  it.each([
    ['boards lst', 2],
    ['bords list', 2],
    ['boards list --pgae 2', 2],
    ['boards list --page zero', 2],
    ['boards list --page 0', 2],
    ['boards list extra', 2],
    ['boards show', 2],
    ['boards', 2],
    ['boards list -o xml', 2],
    ['boards show none', 3],
    ['boards list --server http://127.0.0.1:1', 6],
    ['boards list --database-url postgres://u:hidden@127.0.0.1:1/x', 6],
    ['boards list --database-url mysql://u:hidden@h/x', 2],
    ['boards list --config nowhere.toml', 2],
    ['help nothing', 2],
  ])('%s exits with its code, prints an error to stderr, and nothing to stdout', async (args, code) => {
    const machine = await makeMachine('sqlite')
    await machine.run('migrate')
    const result = await machine.run(args)
    expect(result).toMatchObject({ code, stdout: '' })
    const error = result.stderr.replace(/^Warning: .* in "ps"\..*\n/, '') // of a password in an argument
    expect(error).toMatch(new RegExp(`^✗ [-A-Za-z"][^]*\\(exit ${code}\\)\n$`))
    expect(result.stderr).not.toMatch(/hidden|\n {4}at /)
  })

  it('name an unknown command, and the closest known one', async () => {
    const machine = await makeMachine('sqlite')
    expect((await machine.run('bords list')).stderr).toBe(
      '✗ Unknown command "bords". Did you mean "boards"?\n  fix   feedbackctl boards list\n  code  USAGE (exit 2)\n',
    )
    expect((await machine.run('-o json boards lst')).stderr).toContain('"fix":"feedbackctl -o json boards list"')
  })

  it('are dropped when stderr is closed, and the command still succeeds', async () => {
    const machine = await makeMachine('sqlite')
    const running = machine.start('setup --email a@example.org --generate-password --mail-url smtp://127.0.0.1:1')
    running.child.stderr?.destroy()
    expect(await running.ended).toMatchObject({ code: 0 })
    expect((await machine.run('setup --if-needed')).code).toBe(0)
  })

  it('report output that could not be written', async () => {
    const machine = await makeMachine('sqlite')
    await machine.run('boards create Ideas')
    const { status, stderr } = spawnSync('sh', ['-c', `${process.execPath} ${PROGRAM} boards list >/dev/full`], {
      env: machine.env,
      encoding: 'utf8',
    })
    expect([status, stderr]).toEqual([
      1,
      '✗ Cannot write the output: ENOSPC.\n  fix   Free some space, or write to another file.\n  code  OUTPUT_FAILED (exit 1)\n',
    ])
  })

  it('hide secrets in the suggested command', async () => {
    const machine = await makeMachine('sqlite')
    await machine.run('boards create Ideas')
    const { stderr } = await machine.run('boards delete ideas --mail-url smtp://me:hidden@host')
    expect(stderr).toContain('boards delete ideas')
    expect(stderr).toContain('--yes')
    expect(stderr).not.toContain('me:hidden')
  })
})
