import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'
import { parse } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'
import { cleanup, engines } from '../support/site.js'

describe('a mistyped command', () => {
  it('is refused, also with --help, and guessed only where a command is near', async () => {
    const { run } = await makeMachine('sqlite')
    for (const [args, message] of [
      ['snapshot', 'Unknown command "snapshot".'],
      ['snapshot --help', 'Unknown command "snapshot".'],
      ['version', 'Unknown command "version". Did you mean "--version"?'],
      ['extract -h', 'Unknown command "extract".'],
      ['borads list', 'Unknown command "borads". Did you mean "boards"?'],
      ['setpu --help', 'Unknown command "setpu". Did you mean "setup"?'],
    ] as const)
      expect([args, await run(args)]).toEqual([
        args,
        { code: 2, stdout: '', stderr: expect.stringContaining(`✗ ${message}\n`) },
      ])
    expect(await run('--help')).toMatchObject({ code: 0, stdout: expect.stringContaining('Usage: feedbackctl') })
    expect(await run('help')).toMatchObject({ code: 0, stdout: expect.stringContaining('Usage: feedbackctl') })
  })
})

it('a variable that does not exist is warned about', async () => {
  const machine = await makeMachine('sqlite')
  const run = async (args: string) =>
    machine.run(args, { env: { FEEDBACKCTL_LITSEN: ':8005', FEEDBACKCTL_NONSENSE: 'hidden' } })
  const { code, stderr } = await run('config list')
  expect([code, stderr]).toEqual([
    0,
    [
      'Warning: FEEDBACKCTL_LITSEN is not a variable that feedbackctl reads. Did you mean "FEEDBACKCTL_LISTEN"?\n',
      'Warning: FEEDBACKCTL_NONSENSE is not a variable that feedbackctl reads.\n',
    ].join(''),
  ])
  const server = machine.start('serve', { env: { FEEDBACKCTL_LITSEN: ':8005' } })
  await server.says(/Warning: FEEDBACKCTL_LITSEN is not a variable/)
})

it('setup keeps the address of the site and where it listens, and says so', async () => {
  const machine = await makeMachine('sqlite')
  const file = path.join(machine.folder, 'config/feedbackctl/config.toml')
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, '# mine\n\n[log]\nlevel = "warn"\n', { mode: 0o600 })
  const { code, stdout } = await machine.run(
    'setup --email ada@example.org --password-stdin --mail-url folder:mail --site-url https://feedback.example.org --listen 127.0.0.1:0',
    { stdin: 'correct horse battery\n', env: { FEEDBACKCTL_LISTEN: '' } },
  )
  expect([code, stdout]).toEqual([0, expect.stringContaining(`address https://feedback.example.org\n`)])
  expect(stdout).toContain(`listen  127.0.0.1:0\n  config  ${file} (written)\n`)
  expect(parse(readFileSync(file, 'utf8'))).toMatchObject({
    listen: '127.0.0.1:0',
    site: { url: 'https://feedback.example.org' },
    log: { level: 'warn' },
  })
  expect(readFileSync(file, 'utf8')).toContain('# mine')
  const listed = await machine.run('config list --show-origin --json', { env: { FEEDBACKCTL_LISTEN: '' } })
  expect(JSON.parse(listed.stdout)).toMatchObject({ listen: { value: '127.0.0.1:0', origin: file } })
})

describe('a question answered with No', () => {
  it('is canceled with 5, and not interrupted', async () => {
    const machine = await makeMachine('sqlite')
    await machine.run('boards create Ideas')
    const screen = machine.terminal('boards delete ideas')
    await screen.sees(/Delete board/)
    screen.type('n\r')
    const { code, text } = await screen.ended
    expect([code, text]).toEqual([5, expect.stringMatching(/Cancelled\. Nothing was changed\.[^]*CANCELED \(exit 5\)/)])
    const GREEN = '\u001b[32m'
    expect(text).toContain(GREEN)
    for (const flag of ['--no-color', '--color never']) {
      const plain = machine.terminal(`boards delete ideas ${flag}`)
      await plain.sees(/Delete board/)
      plain.type('n\r')
      expect((await plain.ended).text).not.toContain(GREEN)
    }
    await machine.setup()
    await machine.run('users create mallory@example.org --generate-password')
    const typed = machine.terminal('users delete mallory@example.org')
    await typed.sees(/Type mallory@example\.org to\s+confirm:/)
    typed.type('y\r')
    expect((await typed.ended).text).toContain('"y" does not match mallory@example.org. Cancelled.')
    expect((await machine.run('users show mallory@example.org')).code).toBe(0)
  })
})

describe.each(engines)('a name of what does not exist on %s', (engine) => {
  it('exits with 3 and the list that has the names, as a thing or as an option', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const { run } = machine
    for (const [args, list] of [
      ['boards show nothing', 'boards list'],
      ['posts list --board nothing', 'boards list'],
      ['posts create x --body x --board nothing', 'boards list'],
      ['posts list --roadmap nothing', 'roadmaps list'],
      ['posts list --author nobody', 'users list'],
    ] as const)
      expect([args, await run(args)]).toMatchObject([
        args,
        { code: 3, stderr: expect.stringContaining(`fix   feedbackctl ${list}\n`) },
      ])
    expect(JSON.parse((await run('posts list --board nothing --json')).stderr)).toMatchObject({
      code: 'VALIDATION_ERROR',
      exit: 3,
      fix: 'feedbackctl boards list',
    })
    expect((await run('posts list --board nothing --limit 0')).code).toBe(2)
  })

  it('blocks more domains without unblocking others', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const { run } = machine
    await run('settings block-domains a.example')
    expect(await run('settings block-domains b.example,c.example')).toMatchObject({
      code: 0,
      stdout: 'a.example\nb.example\nc.example\n',
    })
    expect(await run('settings unblock-domains a.example,nothing.example')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('"nothing.example" is not blocked.'),
    })
    expect((await run('settings unblock-domains a.example,c.example')).stdout).toBe('b.example\n')
    const others = [machine.host(), machine.host()]
    await Promise.all(others.map(async (other, index) => other(`settings block-domains d${index}.example`)))
    expect((await run('settings blocked-domains')).stdout.split('\n').toSorted()).toEqual([
      '',
      'b.example',
      'd0.example',
      'd1.example',
    ])
  })
})

it('a generated password is in the JSON, which is where a script reads it', async () => {
  const machine = await makeMachine('sqlite')
  const setup = await machine.run('setup --email ada@example.org --generate-password --mail-url folder:mail --json')
  expect(JSON.parse(setup.stdout)).toMatchObject({ password: expect.stringMatching(/^\S{24}$/) })
  const { stdout, stderr } = await machine.run('users create eve@example.org --generate-password --json')
  const { password } = JSON.parse(stdout) as { password: string }
  expect(stderr).not.toContain(password)
  expect((await machine.run('users create x@example.org --generate-password --json --dry-run')).stdout).not.toContain(
    'password',
  )
  const quiet = await machine.run('users create zoe@example.org --generate-password -q')
  expect(quiet.stderr).toMatch(/^The password, shown only now: \S{24}\n/)
  const server = machine.start('serve')
  const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
  expect(
    await machine.run(`login --server ${url} --email eve@example.org --password-stdin`, { stdin: password }),
  ).toMatchObject({ code: 0 })
})

describe('the address of a server', () => {
  it('is shown in the fix, and never its credentials', async () => {
    const machine = await makeMachine('sqlite')
    const { code, stderr } = await machine.run('boards list --server localhost:8000')
    expect([code, stderr]).toEqual([2, expect.not.stringContaining('***')])
    expect(stderr).toContain('"localhost:8000" is not')
    const secret = await machine.run('boards list --server http://ada:hidden@localhost:8000')
    expect(secret.stderr).not.toContain('hidden')
  })

  it('with https where there is no TLS is explained', async () => {
    const machine = await makeMachine('sqlite')
    const plain = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(0, '127.0.0.1')
    await once(plain, 'listening')
    cleanup(async () => void plain.close())
    const { port } = plain.address() as AddressInfo
    expect(await machine.run(`boards list --server https://127.0.0.1:${port}`)).toMatchObject({
      code: 6,
      stderr: expect.stringContaining(`it does not answer with TLS. If it has none, use http://127.0.0.1:${port}.`),
    })
  })
})

describe.each(engines)('a deletion on %s', (engine) => {
  it('says in JSON what was deleted, and prints the name with -q', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const { run } = machine
    await run('boards create Ideas')
    await run("posts create 'Dark mode' --board ideas --body x")
    await run('roles create helpers')
    await run('roadmaps create Planned')
    await run('users create eve@example.org --generate-password')
    for (const [args, deleted] of [
      ['posts delete 1', { number: 1, title: 'Dark mode', boardId: expect.any(String) }],
      ['boards delete ideas', { url: 'ideas', name: 'Ideas' }],
      ['roles delete helpers', { name: 'helpers' }],
      ['roadmaps delete planned', { url: 'planned' }],
      ['users delete eve@example.org', { email: 'eve@example.org' }],
    ] as const) {
      const dry = await run(`${args} --json --dry-run`)
      expect([args, JSON.parse(dry.stdout)]).toEqual([args, { deleted: expect.objectContaining(deleted) }])
      expect(await run(`${args} --json --yes`)).toMatchObject({ code: 0, stdout: dry.stdout, stderr: '' })
      expect((await run(`${args} --json --yes`)).code).toBe(3)
    }
    await run('boards create Bugs')
    expect(await run('boards delete bugs --yes -q')).toMatchObject({ code: 0, stdout: 'bugs\n' })
  })
})

it('a mistake in the arguments is answered with the corrected command', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  for (const [args, said] of [
    ['boards create dark mode', "fix feedbackctl boards create 'dark mode'"],
    ['votes list 1 2', 'fix feedbackctl votes list --help'],
    [
      'posts merge 1',
      'Missing required option: --into. Nothing was changed. fix feedbackctl posts merge 1 --into INTO',
    ],
    ['roadmaps move', 'Missing required arguments and options: <roadmap>, --position.'],
    ['completion powershell', '<shell> must be one of bash, zsh, fish; "powershell" is not.'],
    ['boards list -o xml', '--output must be one of table,'],
    ['mail suppressed remove nobody@example.org', 'User "nobody@example.org" not found.'],
  ] as const) {
    const { stdout, stderr } = await machine.run(args)
    expect([args, stdout, stderr.replaceAll(/\s+/g, ' ')]).toEqual([args, '', expect.stringContaining(said)])
  }
})

describe('words', () => {
  it('name what is missing by the option or command that gives it', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    const { run } = machine
    for (const [args, message] of [
      ['roles assign helpers', 'Missing required argument: <user>. Nothing was changed.'],
      ['roles assign', 'Missing required arguments: <role>, <user>. Nothing was changed.'],
      ['roles unassign --user ada', 'Missing required argument: <role>. Nothing was changed.'],
      ['db copy', 'Missing required arguments: <from>, <to>. Nothing was changed.'],
      ['boards', '"boards" needs a command: list, show, create,'],
      ['posts list --limit 0', '--limit must be '],
      ['posts list -L 0', '--limit must be '],
    ] as const)
      expect([args, await run(args)]).toMatchObject([
        args,
        { code: 2, stdout: '', stderr: expect.stringMatching(`^✗ ${message}`) },
      ])
    const server = machine.start('serve')
    const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
    expect((await run(`users list --server ${url}`)).stderr).toContain(`✗ Not signed in to ${new URL(url).origin}.\n`)
  })
})

describe('words', () => {
  it('say what is wrong, as one would say it', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    const { run } = machine
    await run('posts create Dark --body x')
    for (const [args, exit, message] of [
      ['boards show nope', 3, 'Board "nope" not found.'],
      ['posts show 99', 3, 'Post "99" not found.'],
      ['users show nobody', 3, 'User "nobody" not found. Give their e-mail address, user name or id.'],
      ['roles show nope', 3, 'Role "nope" not found. Give its id, or its name.'],
      ['posts list -L 0', 2, '--limit must be a whole number from 1 to 100; 0 is not.'],
      [`posts create ''`, 2, '<title> is empty.'],
      ['boards create a b', 2, 'The command takes 1 argument, not 2. Put a value with spaces in quotes.'],
      ['config list x', 2, 'The command takes no arguments, not 1. Put a value with spaces in quotes.'],
    ] as const)
      expect([args, await run(args)]).toEqual([
        args,
        { code: exit, stdout: '', stderr: expect.stringContaining(`✗ ${message}\n`) },
      ])
    for (const [args, said] of [
      [
        'posts report 1 --as ada@example.org',
        expect.stringMatching(/^Reported post #1 ".+"\. The moderators will review it\.\n$/),
      ],
      ['boards create Ideas --dry-run', 'Would create board "Ideas" (ideas).\n'],
      ['posts delete 1 --dry-run', 'Would delete post #1 "Dark". This also deletes 1 vote.\n'],
      ['account language de --dry-run', 'Would set the language to "de".\n'],
      ['account language auto --dry-run', 'Would set the language to that of the browser.\n'],
      ['totp begin --dry-run', 'Would make a secret for a second factor.\n'],
      ['keys create ci --dry-run', 'Would create key "ci".\n'],
      ['settings update --title x --dry-run', 'Would update the settings of the site.\n'],
    ] as const)
      expect([args, (await run(args)).stderr]).toEqual([args, said])
    expect((await run('audit verify')).stderr).toMatch(
      /^(No event is sealed yet, so none was checked\.|\d+ events? checked\.)/,
    )
    expect((await run('votes add --help')).stdout).toMatch(/needs\s+"feedbackctl labs update/)
  })

  it('are joined where a command searches for several, and a color may have its #', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    await machine.run(`posts create 'Dark mode' --body x`)
    await machine.run(`boards create 'Mobile app' --color '#FF0000'`)
    expect((await machine.run('posts search mode dark -o csv --no-header')).stdout).toContain('Dark mode')
    expect((await machine.run('boards search mobile app -o csv --no-header')).stdout).toMatch(/ff0000/i)
  })
})
