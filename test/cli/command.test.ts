import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { AppError, type ErrorCode, type Reason } from '../../src/core/errors.js'
import { streamAll } from '../../src/cli/lib/output/pages.js'
import { report } from '../../src/cli/lib/errors/report.js'
import type { Terminal } from '../../src/cli/lib/terminal/terminal.js'
import type { Call, Operation } from '../../src/service/lib/operation.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { cleanup } from '../support/site.js'

const PASSWORD = 'correct horse battery'
const notes = async () => {
  const machine = await makeMachine('sqlite', { notes: true })
  await machine.run('migrate')
  return machine
}

/** An editor that records the file it opens, then runs the shell script `work`, in which the file is "$file". */
function editor(machine: Machine, work: string): { env: Record<string, string>; seen(name: string): string } {
  const script = path.join(machine.folder, 'my editor')
  writeFileSync(
    script,
    `#!/bin/sh
     [ "$1" = --wait ] || exit 9
     file=$2
     { stat -c %a "$file"; stat -c %a "$(dirname "$file")"; } >"$HOME/modes"
     cp "$file" "$HOME/seen"
     ${work}\n`,
  )
  chmodSync(script, 0o755)
  const temporary = path.join(machine.folder, 'tmp')
  mkdirSync(temporary)
  return {
    env: { EDITOR: `'${script}' --wait`, TMPDIR: temporary },
    seen: (name) => readFileSync(path.join(machine.folder, name), 'utf8'),
  }
}

const leftIn = (machine: Machine) =>
  readdirSync(path.join(machine.folder, 'tmp')).filter((name) => name.startsWith('feedbackctl'))

describe('a flag that is not named like its field', () => {
  it('sets the field, and errors name the flag; in JSON they name the field', async () => {
    const machine = await notes()
    expect(await machine.run(`notes create Hello --body Text --board ideas`)).toMatchObject({
      code: 0,
      stdout: 'Hello\tText\tn1\n',
    })
    const refused = await machine.run(`notes create Hello --body Text --board boardId-long`)
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('✗ --board must be text of 0 to 5 characters; "boardId-long" is not.\n'),
    })
    const { stderr } = await machine.run(`notes create Hello --body Text --board boardId-long --json`)
    expect(JSON.parse(stderr)).toMatchObject({
      message: expect.stringMatching(/^boardId must/),
      errors: [{ field: 'boardId' }],
    })
    expect((await machine.run('notes create Hello --board-id x')).stderr).toContain("Unknown option '--board-id'")
  })

  it('is named in errors about several fields', async () => {
    const machine = await makeMachine('sqlite')
    const { stderr } = await machine.run(
      `settings update --title ${'x'.repeat(256)} --google-analytics-id ${'x'.repeat(256)}`,
    )
    expect(stderr).toMatch(/✗ --title must be text of .* --google-analytics-id must be text of /)
  })

  it('of a boolean refuses other values, even where the operation ignores them', async () => {
    const machine = await makeMachine('sqlite')
    for (const [flag, args] of [
      ['--vote-on-behalf', 'labs update --vote-on-behalf maybe'],
      ['--vote-on-behalf', 'labs update --vote-on-behalf=maybe'],
      ['--view-voters', 'boards create Ideas --view-voters=maybe'],
    ] as const)
      expect(await machine.run(args)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining(`✗ ${flag} must be true or false; "maybe" is not.\n`),
      })
    expect((await machine.run('boards list -q')).stdout).toBe('')
  })

  it('takes a list in one flag or in several', async () => {
    const machine = await notes()
    expect((await machine.run('notes create x --body y --tags a --tags b,c')).stdout).toBe('x a b c\ty\tn1\n')
    expect((await machine.run('notes create x --body y --tags a, --tags=q')).stderr).toContain('tags must be a list')
    await machine.run('roles create helpers --permissions post:update')
    expect(JSON.parse((await machine.run(`roles update helpers --permissions '' --json`)).stdout)).toMatchObject({
      permissions: [],
    })
    await machine.run('boards create Open')
    await machine.run('boards create Closed --display false')
    expect((await machine.run('boards list -q --visibility private --visibility public')).stdout).toBe('closed\nopen\n')
    expect((await machine.run('boards list -q --visibility private')).stdout).toBe('closed\n')
  })

  it('of a boolean is a switch, with its opposite, and takes true and false too', async () => {
    const machine = await makeMachine('sqlite')
    const isPrivate = async (args: string) => {
      const { stdout, stderr } = await machine.run(`${args} --json`)
      expect(stderr).not.toContain('✗')
      return !(JSON.parse(stdout) as { board: { display: boolean } }).board.display
    }
    expect(await isPrivate('boards create --private Ideas')).toBe(true) // it swallows no argument
    for (const [flags, is] of [
      ['--no-private', false],
      ['--private', true],
      ['--private false', false],
      ['--private=true', true],
      ['--private true --no-private', false],
      ['--display false', true],
      ['--display', false],
      ['--no-display', true],
    ] as const)
      expect([flags, await isPrivate(`boards update ideas ${flags}`)]).toEqual([flags, is])
    expect((await machine.run('settings update --no-signup -o csv --no-header')).stdout).toContain(',no,')
    expect((await machine.run('settings update --allow-signup true -o csv --no-header')).stdout).toContain(',yes,')
  })
})

describe('a long text', () => {
  it('comes from a flag, a file or stdin, without the final line break', async () => {
    const machine = await notes()
    writeFileSync(path.join(machine.folder, 'text.md'), '\ufeffÄ first\n\nand last\n')
    const body = async (args: string, stdin = '') => {
      const { stdout } = await machine.run(`notes create Hello --json ${args}`, { stdin })
      return (JSON.parse(stdout) as { note: { body: string } }).note.body
    }
    expect(await body(`--body 'as typed '`)).toBe('as typed ')
    expect(await body('--body-file text.md')).toBe('Ä first\n\nand last')
    expect(await body('--body-file -', 'piped\n\n')).toBe('piped\n')
  })

  it.each([
    ['--body-file nowhere.md', 'Cannot read nowhere.md, named by --body-file: it does not exist.'],
    ['--body-file .', 'Cannot read ., named by --body-file: it is a folder.'],
    ['--body-file latin1.md', 'latin1.md, named by --body-file, is not UTF-8 text.'],
    ['--body-file large.md', 'large.md, named by --body-file, has more than 262.1 kB.'],
    ['--body-file /dev/zero', '/dev/zero, named by --body-file, has more than 262.1 kB.'],
    ['--body-file -', 'stdin is empty.'],
    ['--body x --body-file y', '--body and --body-file set the same value.'],
    [`--body ${'x'.repeat(201)}`, '--body must be text of 0 to 200 characters'],
    [
      '',
      'Missing required option: --body. Nothing was changed.\n  why   it cannot be asked for: stdin is not a terminal\n',
    ],
  ])('is refused as %.30s', async (flags, message) => {
    const machine = await notes()
    writeFileSync(path.join(machine.folder, 'latin1.md'), Buffer.from('caf\u00e9', 'latin1'))
    writeFileSync(path.join(machine.folder, 'large.md'), 'x'.repeat(262_145))
    expect(await machine.run(`notes create Hello ${flags}`)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(message),
    })
  })

  it('is written in the editor, which starts with the current text, in a private file that is removed afterwards', async () => {
    const machine = await notes()
    const { env, seen } = editor(
      machine,
      `printf 'Anew,\\nin two lines\\n' >"$file"; test -t 0 && test -t 1 && test -t 2 && : >"$HOME/on-terminal"`,
    )
    const { code, text } = await machine.terminal('notes update n7 --json', { env }).ended
    expect([code, text]).toEqual([0, expect.stringContaining(String.raw`"body":"Anew,\nin two lines"`)])
    expect([seen('seen'), seen('modes'), existsSync(path.join(machine.folder, 'on-terminal'))]).toEqual([
      'As it was\n',
      '600\n700\n',
      true,
    ])
    expect(leftIn(machine)).toEqual([])
    expect(
      await machine.terminal('notes create Hello --json', {
        env: { ...env, VISUAL: env.EDITOR ?? '', EDITOR: 'false' },
      }).ended,
    ).toMatchObject({ code: 0 })
    expect(seen('seen')).toBe('')
  })

  it.each([
    ['exit 0', 0, 'No changes.'],
    [': >"$file"', 5, 'Cancelled: the text is empty. Nothing was changed.'],
    [`printf '  \\n' >"$file"`, 5, 'Cancelled: the text is empty. Nothing was changed.'],
  ] as const)('changes nothing when the editor leaves nothing new: %s', async (work, exit, said) => {
    const machine = await notes()
    const { env } = editor(machine, work)
    const { code, text } = await machine.terminal('notes update n7', { env }).ended
    expect([code, text]).toEqual([exit, expect.stringContaining(said)])
    expect(text).not.toContain('Changed')
    expect(leftIn(machine)).toEqual([])
  })

  it('is not taken from an editor that fails, is killed, or saves invalid text', async () => {
    const machine = await notes()
    const { env } = editor(
      machine,
      `case "$(cat "$HOME/do")" in fail) exit 3;; die) kill -9 $$;; binary) printf '\\377' >"$file";; large) head -c 262145 /dev/zero >"$file";; esac`,
    )
    for (const [how, message] of [
      ['fail', /The editor ".*my editor' --wait" failed \(3\)/],
      ['die', /failed \((SIGKILL|137)\)/],
      ['binary', /is not UTF-8 text/],
      ['large', /more than 262.1 kB/],
    ] as const) {
      writeFileSync(path.join(machine.folder, 'do'), how)
      const { code, text } = await machine.terminal('notes update n7', { env, columns: 300 }).ended
      expect([code, text]).toEqual([2, expect.stringMatching(message)])
    }
    const missing = await machine.terminal('notes update n7', {
      env: { ...env, EDITOR: 'no-such-editor' },
      columns: 300,
    }).ended
    expect(missing).toMatchObject({ code: 2, text: expect.stringMatching(/failed \(127\)[^]*--body-file <file>/) })
    expect(leftIn(machine)).toEqual([])
  })

  it('opens no editor if another flag changes something, or without a terminal', async () => {
    const machine = await notes()
    const env = { EDITOR: 'false' }
    expect(await machine.terminal('notes update n7 --title Other', { env }).ended).toMatchObject({ code: 0 })
    const question = '✗ Nothing to change. Give --title, --body, or --password-stdin.\n'
    expect(await machine.run('notes update n7', { env })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(question),
    })
    expect((await machine.terminal('notes update n7 --no-input', { env }).ended).text).toContain('Nothing to change.')
  })

  it('from the editor is saved in a private file if the command fails, with the flag to use it again', async () => {
    const machine = await notes()
    await machine.setup()
    const { env } = editor(machine, `printf 'Long\\nthought\\n' >"$file"`)
    for (const [args, code] of [
      ['posts create Idea --board nowhere', 3],
      ['comments create nowhere', 3],
    ] as const) {
      const ended = await machine.terminal(args, { env, columns: 300 }).ended
      expect([args, ended.code]).toEqual([args, code])
      const [, file = ''] = /Your text was saved\. Use it again with --body-file (\S+)\r\n/.exec(ended.text) ?? []
      expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['Long\nthought\n', 0o600])
    }
    expect(leftIn(machine)).toHaveLength(2)
    // A server that is away is noticed before the editor opens
    const away = await machine.terminal('comments create nowhere --server http://127.0.0.1:1', { env }).ended
    expect([away.code, away.text]).toEqual([6, expect.not.stringContaining('saved')])
    expect(leftIn(machine)).toHaveLength(2)
    const created = await machine.terminal('posts create Idea -q', { env }).ended
    expect(created).toMatchObject({ code: 0, text: expect.not.stringContaining('saved') })
    expect(leftIn(machine)).toHaveLength(2)
  })

  it('is not read from stdin if another field is', async () => {
    const machine = await notes()
    expect(await machine.run('notes update n7 --body-file - --password-stdin', { stdin: 'x' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--body-file and --password-stdin cannot both be read from stdin'),
    })
  })

  it('is not changed if Ctrl-C ends the editor', async () => {
    const machine = await notes()
    const { env } = editor(machine, `echo ready; exec sleep 20`)
    const screen = machine.terminal('notes update n7', { env })
    await screen.sees(/ready/)
    screen.type('\u0003')
    expect(await screen.ended).toMatchObject({
      code: 130,
      text: expect.stringContaining('Interrupted. Nothing was changed.'),
    })
    expect(leftIn(machine)).toEqual([])
  })

  it('is saved if the editor handles Ctrl-C itself', async () => {
    const machine = await notes()
    const { env } = editor(
      machine,
      `trap 'printf Stopped >"$file"; exit 0' INT; echo ready; while :; do sleep 0.05; done`,
    )
    const screen = machine.terminal('notes update n7 --json', { env })
    await screen.sees(/ready/)
    screen.type('\u0003')
    expect(await screen.ended).toMatchObject({ code: 0, text: expect.stringContaining('"body":"Stopped"') })
  })
})

describe('a secret', () => {
  it('comes from stdin, a file, or the command line with a warning', async () => {
    const machine = await notes()
    writeFileSync(path.join(machine.folder, 'secret'), `${PASSWORD}\n`)
    const stdout = 'a@example.org\t21 characters\toperator\n'
    const sign = 'notes sign --email a@example.org'
    expect(await machine.run(`${sign} --password-stdin`, { stdin: `${PASSWORD}\n` })).toEqual({
      code: 0,
      stdout,
      stderr: '',
    })
    expect(await machine.run(`${sign} --password-file secret`)).toEqual({ code: 0, stdout, stderr: '' })
    const typed = await machine.run(`${sign} --password '${PASSWORD}'`)
    expect(typed).toMatchObject({
      code: 0,
      stdout,
      stderr: expect.stringContaining('--password is visible to all users'),
    })
    expect(typed.stderr).not.toContain(PASSWORD)
    expect(await machine.run(`${sign} --password-stdin --password-file secret`)).toMatchObject({ code: 2, stdout: '' })
  })

  it('is generated and shown once, after success, and never in a dry run', async () => {
    const machine = await notes()
    const sign = 'notes sign --email a@example.org --generate-password'
    expect(await machine.run(sign)).toMatchObject({
      code: 0,
      stdout: 'a@example.org\t24 characters\toperator\n',
      stderr: expect.stringMatching(/^The password, shown only now: \S{24}\n$/),
    })
    const dry = await machine.run('users create a@example.org --generate-password --dry-run')
    expect(dry).toMatchObject({ code: 0, stderr: expect.not.stringContaining('shown only now') })
    expect((await machine.run(`${sign} --as nobody`)).stderr).not.toContain('shown only now')
  })

  it('is prompted for twice without echo, after all other missing fields', async () => {
    const machine = await notes()
    const screen = machine.terminal('notes sign')
    await screen.sees(/E-mail address/)
    screen.type('ada@example.org\r')
    await screen.sees(/Password \(8 to 256/)
    screen.type('short\r')
    await screen.sees(/must be 8 to 256/)
    screen.type(`\u0015${PASSWORD}\r`)
    await screen.sees(/Confirm password/)
    screen.type(`${PASSWORD}\r`)
    const { code, text } = await screen.ended
    expect([code, text]).toEqual([0, expect.stringContaining('21 characters')])
    expect(text).not.toContain(PASSWORD)
  })

  it('is named with all other missing fields without a terminal, and no database is opened', async () => {
    const machine = await makeMachine('sqlite', { notes: true })
    expect(await machine.run('notes sign')).toEqual({
      code: 2,
      stdout: '',
      stderr: `✗ Missing required options: --email, --password-stdin. Nothing was changed.
  why   it cannot be asked for: stdin is not a terminal
  fix   --email <text>
        --password-stdin       or --password-file <file>, --generate-password
  code  INPUT_MISSING (exit 2)
`,
    })
    expect(existsSync(path.join(machine.folder, 'data'))).toBe(false)
    expect(await machine.run('notes sign --password-stdin', { stdin: PASSWORD })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Missing required option: --email.'),
    })
  })

  it('is never part of a suggested command, whatever its flag is named', async () => {
    const machine = await notes()
    for (const flag of ["--pass-phrase 'well hidden'", "'--pass-phrase=well hidden'"]) {
      const { code, stderr } = await machine.run(`notes delete n7 ${flag}`)
      expect([code, stderr]).toEqual([
        5,
        expect.stringMatching(/fix {3}feedbackctl notes delete n7 --pass-phrase.'?\*\*\*.*--yes/),
      ])
      expect(stderr).not.toContain('well hidden')
    }
  })
})

describe('--as', () => {
  it('acts as an account, by e-mail address, user name or id', async () => {
    const machine = await notes()
    await machine.setup()
    const sign = `notes sign --email a@example.org --generate-password -q`
    const { stdout: id } = await machine.run(`${sign} --as ada@example.org`)
    expect(id).toMatch(/^[0-9a-f-]{36}\n$/)
    expect((await machine.run(`${sign} --as ${id.trim()}`)).stdout).toBe(id)
    expect(await machine.run(`${sign} --as nobody`)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('fix   feedbackctl users list\n'),
    })
  })

  it('is refused with a server, unless the command has an operation for it', async () => {
    const machine = await notes()
    await machine.setup()
    const bodies: unknown[] = []
    const server = createServer((request, response) => {
      let text = ''
      request.on('data', (chunk: Buffer) => (text += chunk.toString()))
      request.on('end', () => {
        const body = JSON.parse(text) as { email: string; userId?: string }
        bodies.push(body)
        response
          .setHeader('content-type', 'application/json')
          .end(JSON.stringify({ note: { title: body.email, noteId: body.userId, body: '' } }))
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanup(async () => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const refused = await machine.run(`notes sign --email x --generate-password --as ada --server ${url}`)
    expect(refused).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('--as does not work with a server'),
    })
    expect(refused.stderr).toContain('code  USAGE')
    expect((await machine.terminal(`notes sign --as ada --server ${url}`, { columns: 200 }).ended).text).toContain(
      '--as does not work with a server',
    ) // before any prompt
    expect(bodies).toEqual([])
    expect(await machine.run(`notes vouch --email x --as ada --server ${url} -q`)).toMatchObject({
      code: 0,
      stdout: 'id of ada\n',
    })
    expect(bodies).toEqual([{ email: 'x', userId: 'id of ada' }])
    expect((await machine.run('notes vouch --email x --as ada -q')).stdout).toBe('id of ada\n') // here as well
  })
})

describe('a list without page numbers, whose rows are in a nested object', () => {
  it('prints the total and the command for the next rows', async () => {
    const machine = await notes()
    const { text } = await machine.terminal('notes list --limit 2 --no-color').ended
    expect(text).toContain('2 of 250 · next: feedbackctl notes list --limit 2 --no-color --after n1\r\n')
    const next = await machine.terminal('notes list --after n248 -q --limit 5').ended
    expect(next.text).toBe('n249\r\n')
    expect(await machine.run('notes list --after n249')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'No more rows, of 250 in total.\n',
    })
  })

  it('is streamed completely', async () => {
    const machine = await notes()
    const { stdout } = await machine.run('notes list --all --json')
    const body = JSON.parse(stdout) as { notes: { results: { noteId: string }[]; total_count: number } }
    expect(body.notes.results.map((note) => note.noteId)).toEqual(
      Array.from({ length: 250 }, (_, index) => `n${index}`),
    )
    expect(body.notes.total_count).toBe(250)
    expect((await machine.run('notes list --all -q')).stdout.split('\n')).toHaveLength(251)
    const csv = (await machine.run('notes list --all -o csv --bom --fields title')).stdout
    expect([csv.split('\n').length, csv.startsWith('\uFEFFtitle\n'), csv.lastIndexOf('\uFEFF')]).toEqual([252, true, 0])
    const few = JSON.parse((await machine.run('notes list --all --fields noteId')).stdout) as object[]
    expect([few.length, few.at(-1)]).toEqual([250, { noteId: 'n249' }])
  })

  it('is streamed completely if its rows do not contain the cursor', async () => {
    const asked: unknown[] = []
    const call = (async (_op: unknown, { after }: { after?: string }) => {
      asked.push(after)
      const last = after === 'second'
      return {
        votes: {
          results: [{ user: {} }],
          page_info: { has_next_page: !last, end_cursor: after === undefined ? 'first' : 'second' },
        },
      }
    }) as unknown as Call
    let written = ''
    const terminal = { stdout: { write: (text: string) => (written += text) !== '' } } as unknown as Terminal
    const output = {
      rows: (answer: { votes: { results: object[] } }) => answer.votes.results,
      columns: [],
      id: () => '',
    }
    await streamAll(
      terminal,
      { json: true },
      {
        read: (page) => call({} as Operation<unknown, { votes: { results: object[] } }>, page),
        output,
        list: 'votes.results',
      },
    )
    expect(asked).toEqual([undefined, 'first', 'second'])
    expect(JSON.parse(written)).toEqual({
      votes: { results: [{ user: {} }, { user: {} }, { user: {} }], total_count: 3, total_pages: 1 },
    })
  })
})

describe('a deletion that loses much data', () => {
  it('needs the name to be typed on a terminal, or --yes without one', async () => {
    const machine = await notes()
    expect(await machine.run('notes delete n7')).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('CONFIRMATION_NEEDED'),
    })
    expect(await machine.run('notes delete n7 --yes')).toMatchObject({ code: 0, stderr: 'Deleted the note.\n' })
    for (const [answer, code] of [
      ['y', 5],
      ['', 5],
      ['note 7', 5],
      ['Note 7', 0],
    ] as const) {
      const screen = machine.terminal('notes delete n7')
      await screen.sees(/Type Note 7 to confirm/)
      screen.type(`${answer}\r`)
      expect(await screen.ended).toMatchObject({ code })
    }
  })
})

describe('the suggested fix', () => {
  interface Attempt {
    command?: string[]
    args?: string[]
    reason?: Reason
  }
  const fix = (
    code: ErrorCode,
    { command = ['posts', 'show'], args = ['posts', 'show', 'x'], reason }: Attempt = {},
  ) => {
    let said = ''
    const terminal = {
      args,
      env: {},
      stderr: { write: (text: string) => void (said += text), isTTY: false },
    } as unknown as Terminal
    report(terminal, { flags: {}, command, options: [] }, new AppError(code, 'No.', { reason }))
    return [...said.matchAll(/^ {2}(?:fix)? {3,}(feedbackctl.*)$/gm)].map(([, line]) => line)
  }

  it.each([
    ['POST_NOT_FOUND', 'feedbackctl posts list'],
    ['ROADMAP_NOT_FOUND', 'feedbackctl roadmaps list'],
    ['ROLE_NOT_FOUND', 'feedbackctl roles list'],
    ['INVALID_ROLE_ID', 'feedbackctl roles list'],
    ['USER_NOT_FOUND', 'feedbackctl users list'],
    ['INVALID_USER_ID', 'feedbackctl users list'],
    ['LABS_DISABLED', 'feedbackctl labs update --vote-on-behalf'],
    ['SIGNUP_NOT_ALLOWED', 'feedbackctl settings update --signup'],
    ['INVALID_TOKEN', 'feedbackctl login --server URL'],
  ] as const)('for %s is %s', (code, line) => {
    expect(fix(code)).toEqual([line])
  })

  it('is another url if that of a roadmap is taken, and a login if the account of the session was deleted', () => {
    const args = ['roadmaps', 'create', 'Later', '--url', 'later']
    expect(fix('ROADMAP_URL_EXISTS', { args })).toEqual(['feedbackctl roadmaps create Later --url later-2'])
    expect(fix('ROADMAP_URL_EXISTS', { args: [...args.slice(0, 3), '--url=later'] })).toEqual([
      'feedbackctl roadmaps create Later --url later-2',
    ])
    expect(fix('USER_NOT_FOUND', { reason: 'session-account-deleted' })).toEqual(['feedbackctl login --server URL'])
    expect(fix('USER_NOT_FOUND', { command: ['login'] })).toEqual(['feedbackctl account signup EMAIL'])
    expect([fix('EMAIL_VERIFIED'), fix('NAME_LENGTH')]).toEqual([
      ['feedbackctl login --server URL'],
      ['feedbackctl posts show --help'],
    ])
    expect(fix('USER_NOT_FOUND', { reason: 'site-not-set-up' })).toEqual(['feedbackctl setup'])
    expect(fix('USAGE', { command: ['whoami'] })).toEqual(['feedbackctl whoami --help'])
  })

  it('connects to the same data as the failed command, and shows no password', () => {
    const of = (...options: string[]) =>
      fix('POST_NOT_FOUND', { args: ['posts', 'show', 'x', ...options, '--json', '--limit', '3'] })
    for (const options of [
      ['--server', 'https://f.example.org'],
      ['--server=https://f.example.org', '--token-file', 'token'],
      ['--config', 'site.toml', '--data-dir=data'],
      ['--database-url', 'sqlite:site.db'],
      ['--database-url-file', 'url'],
    ])
      expect(of(...options)).toEqual([`feedbackctl posts list ${options.join(' ')}`])
    expect(of('--database-url', 'postgres://me:hidden@h/x')).toEqual(['feedbackctl posts list --database-url ***'])
    expect(of('--database-url=postgres://me:hidden@h/x')).toEqual(['feedbackctl posts list --database-url=***'])
    expect(of('--mail-url', 'folder:mail', '--', '--server', 'x')).toEqual(['feedbackctl posts list'])
    const args = ['votes', 'add', 'x', '--server', 'https://f.example.org']
    expect(fix('LABS_DISABLED', { args })).toEqual([
      'feedbackctl labs update --vote-on-behalf --server https://f.example.org',
    ])
    expect(fix('SETUP_COMPLETED', { args: ['setup', '--config', 'c'] })).toEqual([
      'feedbackctl serve --config c',
      'feedbackctl setup --if-needed --config c   to accept a site that is set up',
    ])
  })

  it.each([
    ['boards lst', 'boards list'],
    ['boards ls --pgae 2', 'boards ls --page 2'],
    ['boards xyz', 'boards --help'],
    ['whoami --sort x', 'whoami --help'],
    ['--pgae 2', '--help'],
  ])('for %s is the corrected command, or the help of it as far as it exists', async (args, line) => {
    const machine = await makeMachine('sqlite')
    expect((await machine.run(args)).stderr).toContain(`  fix   feedbackctl ${line}\n`)
  })

  it('is a login where the account of the session was deleted on a server', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    const server = machine.start('serve')
    const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
    const stdin = 'a good password'
    await machine.run('users create eve@example.org --password-stdin', { stdin })
    await machine.run(`login --server ${url} --email eve@example.org --password-stdin`, { stdin })
    await machine.run('users delete eve@example.org --yes')
    for (const args of ['whoami', 'boards create Ideas'])
      expect((await machine.run(`${args} --server ${url}`)).stderr).toMatch(
        new RegExp(`\n  fix   feedbackctl login --server ${url}\n  code  USER_NOT_FOUND`),
      )
  })

  it('is another mail if the token from a mail is invalid', async () => {
    const machine = await makeMachine('sqlite')
    await machine.run('migrate')
    for (const [args, line] of [
      ['account validate x', 'account verify'],
      ['account check-token x', 'account reset-password EMAIL'],
      ['account set-password x --generate-password', 'account reset-password EMAIL'],
    ])
      expect((await machine.run(args as string)).stderr).toContain(`  fix   feedbackctl ${line}\n`)
  })
})
