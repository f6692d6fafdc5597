import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { fixFor } from '../../src/cli/lib/errors/fixes.js'
import { AppError, errorCodes, type ErrorCode } from '../../src/core/errors.js'
import { makeMachine } from '../support/cli.js'

/** Nothing helps after a command that its user has ended. */
const ENDED: ErrorCode[] = ['CANCELED', 'INTERRUPTED']
const errors = [{ code: 'FIELD_MISSING', message: 'x is missing.', field: 'x', rule: '--x <text>' }]

it('every error has its fix, with and without a server', () => {
  const args = ['boards', 'create', 'Ideas']
  for (const server of [undefined, 'https://feedback.example.org']) {
    const failed = { server, command: ['boards', 'create'], options: [] }
    const without = errorCodes.filter((code) => fixFor(new AppError(code, 'x', { errors }), args, failed).length === 0)
    expect(without).toEqual(errorCodes.filter((code) => ENDED.includes(code)))
  }
})

it('a fault of the program is shown with --debug, and then looked for by doctor', () => {
  const error = new AppError('SERVER_ERROR', 'x')
  const fixed = (args: string[], server?: string) =>
    fixFor(error, args, { server, command: ['boards', 'list'], options: [] })
  expect(fixed(['boards', 'list'])).toEqual(['feedbackctl boards list --debug'])
  expect(fixed(['boards', 'list', '--debug'])).toEqual(['feedbackctl doctor'])
  expect(fixed(['boards', 'list', '--debug'], 'https://feedback.example.org')).toEqual([
    'feedbackctl boards list --debug   later',
  ])
})

describe('a fix', () => {
  it('is the command that helps', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    await machine.run('boards create Ideas')
    await machine.run('posts create Dark')
    await machine.run('users create eve@example.org --generate-password')
    await machine.run('totp begin')
    const { file } = JSON.parse((await machine.run('backup create --json', { env: { FEEDBACKCTL_BACKUP_PASSPHRASE: 'a long passphrase' } })).stdout) as { file: string } // prettier-ignore
    const database = path.join(machine.folder, 'other.db')
    writeFileSync(database, 'x')
    for (const [args, code, fix] of [
      ['boards list --server http://127.0.0.1:1', 'SERVER_UNREACHABLE', 'Check the address, and that "feedbackctl serve" runs there.'], // prettier-ignore
      ['restore nope --yes', 'BACKUP_NOT_FOUND', 'feedbackctl backup list'],
      [`backup verify ${file}`, 'PASSPHRASE_WRONG', `feedbackctl backup verify ${file} --backup-passphrase-file FILE`],
      [`db copy sqlite:none.db sqlite:new.db`, 'DATABASE_MISSING', 'feedbackctl db copy FROM TO   with another FROM'],
      [`db copy ${machine.databaseUrl} sqlite:${database}`, 'BACKUP_EXISTS', `feedbackctl db copy ${machine.databaseUrl} sqlite:NEW.db`], // prettier-ignore
      ['rollback --yes', 'BACKUP_NOT_FOUND', 'feedbackctl backup list'],
      ['boards create Ideas --color nope', 'VALIDATION_ERROR', 'feedbackctl boards create --help'],
      ['roles assign @everyone --user ada@example.org', 'ROLE_USER_CONFLICT', 'feedbackctl users show ada@example.org'],
      ['roles assign @everyone ada@example.org', 'ROLE_USER_CONFLICT', 'feedbackctl users show ada@example.org'],
      ['votes add 1', 'VOTE_EXISTS', 'feedbackctl votes list 1'],
      ['votes delete 1 --as eve@example.org', 'LABS_DISABLED', 'feedbackctl labs update --vote-on-behalf'],
      ['comments show nope', 'COMMENT_NOT_FOUND', 'feedbackctl comments list'],
      ['totp enable 123456', 'TOTP_WRONG', 'feedbackctl totp enable CODE'],
      ['users delete ada@example.org --yes', 'CANNOT_CHANGE_OWNER', 'feedbackctl owner promote USER'],
    ] as const) {
      const { stdout, stderr } = await machine.run(args)
      expect([args, stdout, stderr]).toEqual([args, '', expect.stringContaining(`\n  fix   ${fix}\n`)])
      expect(stderr).toContain(`  code  ${code} (exit `)
    }
  })

  it('of a file of settings examines that file, and repairs only what can be repaired', async () => {
    const machine = await makeMachine('sqlite')
    const file = path.join(machine.folder, 'wrong.toml')
    writeFileSync(file, 'workers = "many"\n', { mode: 0o600 })
    const refused = await machine.run(`boards list --config ${file}`)
    expect(refused.stderr).toContain(`\n        feedbackctl doctor config --config ${file}\n`)
    const examined = await machine.run(`doctor config --config ${file}`)
    expect(examined.code).toBe(9)
    expect(examined.stderr).toContain('\n  fix   Do what each finding says.\n')
    const elsewhere = await machine.run('boards list', { env: { FEEDBACKCTL_SERVER: 'http://127.0.0.1:1' } })
    expect(elsewhere.stderr).toContain('\n        feedbackctl config list --show-origin\n')
    const missing = await machine.run(`boards list --config ${file}.not`)
    expect(missing.stderr).toContain('  fix   feedbackctl doctor config\n')
  })

  it('is the command with all that is missing', async () => {
    const { run } = await makeMachine('sqlite')
    for (const [args, message, fix] of [
      ['db copy', 'arguments: <from>, <to>', 'db copy FROM TO'],
      ['db copy a --verify', 'argument: <to>', 'db copy a --verify TO'],
      ['roles assign', 'arguments: <role>, <user>', 'roles assign ROLE USER'],
      ['roles assign --user ada', 'argument: <role>', 'roles assign ROLE --user ada'],
      ['account signup', 'arguments and options: <email>, --password-stdin', 'account signup EMAIL --password-stdin'],
      ['boards update --private', 'argument: <board>', 'boards update BOARD --private'],
    ] as const)
      expect([args, await run(args)]).toEqual([
        args,
        {
          code: 2,
          stdout: '',
          stderr: `✗ Missing required ${message}. Nothing was changed.\n  fix   feedbackctl ${fix}\n  code  USAGE (exit 2)\n`,
        },
      ])
  })

  it('is the command as it was meant, where a word is near', async () => {
    const { run } = await makeMachine('sqlite')
    for (const [args, said, fix] of [
      ['bords list', 'Unknown command "bords". Did you mean "boards"?', 'boards list'],
      ['posts lits', 'Unknown command "posts lits". Did you mean "list"? "posts" has: ', 'posts list'],
      [
        'posts remove 9999',
        'Unknown command "posts remove". Did you mean "delete"? "posts" has: ',
        'posts delete 9999',
      ],
      ['keys remove ci', 'Unknown command "keys remove". Did you mean "revoke"? "keys" has: ', 'keys revoke ci'],
      ['sessions del x', 'Unknown command "sessions del". Did you mean "end"? "sessions" has: ', 'sessions end x'],
      ['mail suppressed del x', 'Unknown command "mail suppressed del". Did you mean "remove"?', 'mail suppressed remove x'], // prettier-ignore
      ['backup ls', 'Unknown command "backup ls". Did you mean "list"? "backup" has: ', 'backup list'],
      ['users edit 1', 'Unknown command "users edit". Did you mean "update"? "users" has: ', 'users update 1'],
      ['posts list -o jsn', '--output must be one of table, wide, json', 'posts list -o json'],
      ['posts list --output=jsn', '--output must be one of table, wide, json', 'posts list --output=json'],
      ['posts list --query jsn -ojsn', '--output must be one of table, wide, json', 'posts list --query jsn -ojson'],
      ['boards list --sort newst', '--sort must be one of newest, oldest; "newst" is not. Did you mean "newest"?', 'boards list --sort newest'], // prettier-ignore
      ['posts list --color alwys', '--color must be auto, always or never; "alwys" is not. Did you mean "always"?', 'posts list --color always'], // prettier-ignore
      ['posts list --color=nver', '--color must be auto, always or never; "nver" is not. Did you mean "never"?', 'posts list --color=never'], // prettier-ignore
      ['hlep posts', 'Unknown command "hlep". Did you mean "help"?', 'help posts'],
      ['version', 'Unknown command "version". Did you mean "--version"?', '--version'],
      ['list boards --all', 'Unknown command "list". Did you mean "boards list"?', 'boards list --all'],
      ['create board Ideas', 'Unknown command "create". Did you mean "boards create"?', 'boards create Ideas'],
      ['list frobnicates', 'Unknown command "list". A noun comes first, as in "posts list".', '--help'],
      ['lits', 'Unknown command "lits". A noun comes first, as in "posts list".', '--help'],
      ['lits bords --all', 'Unknown command "lits". Did you mean "boards list"?', 'boards list --all'],
      ['upgrade', 'Unknown command "upgrade". Did you mean "migrate"?', 'migrate'],
      // Names that every object of JavaScript has.
      ['constructor', 'Unknown command "constructor".', '--help'],
      ['boards list --constructor', `Unknown option '--constructor'.`, 'boards list --help'],
      ['boards list --sort constructor', '--sort must be one of newest, oldest; "constructor" is not.', 'boards list --help'], // prettier-ignore
      ['posts list --since constructor', '--since must be how long ago', 'posts list --help'],
      ['doctor constructor', 'There is no check "constructor". Checks: runtime, ', 'doctor --help'],
      ['help envronment', 'Unknown command or topic "envronment". Did you mean "environment"?', 'help environment'],
      ['help posts lst', 'Unknown command "posts lst". Did you mean "list"?', 'help posts list'],
      ['serve --port 9000', `Unknown option '--port'. Did you mean "--listen"?`, 'serve --listen 9000'],
      ['serve --host 0.0.0.0', `Unknown option '--host'. Did you mean "--listen"?`, 'serve --listen 0.0.0.0:8000'],
      ['serve --host=::1 --workers 2', `Unknown option '--host=::1'. Did you mean "--listen"?`, "serve --listen '[::1]:8000' --workers 2"], // prettier-ignore
      ['serve --port 80 --bind localhost', `Unknown option '--port'. Did you mean "--listen"?`, 'serve --listen localhost:80'], // prettier-ignore
      ['serve --bind 127.0.0.1:90', `Unknown option '--bind'. Did you mean "--listen"?`, 'serve --listen 127.0.0.1:90'],
      ['serve --host', `Unknown option '--host'. Did you mean "--listen"?`, 'serve --help'],
      ['serve --port http', `Unknown option '--port'. Did you mean "--listen"?`, 'serve --help'],
      ['boards list --limt=3', `Unknown option '--limt=3'. Did you mean "--limit"?`, 'boards list --limit=3'],
      ['backup create --out x', `Unknown option '--out'.`, 'backup create --help'],
      ['posts list --fields titel,slug -o csv', 'Unknown field "titel". Did you mean "title"?', 'posts list --fields title,slug -o csv'], // prettier-ignore
      [
        'posts list --fields nope -o csv',
        'Unknown field "nope". --fields alone lists the fields.',
        'posts list --help',
      ],
      ['doctor smtp', 'There is no check "smtp". Did you mean "mail"?', 'doctor mail'],
      ['doctor integrety disk', 'There is no check "integrety". Did you mean "integrity"?', 'doctor integrity disk'],
      ['doctor nonsense', 'There is no check "nonsense". Checks: runtime, ', 'doctor --help'],
    ] as const) {
      const { code, stdout, stderr } = await run(args)
      expect([args, code, stdout, stderr.startsWith(`✗ ${said}`) || stderr]).toEqual([args, 2, '', true])
      expect([args, stderr]).toEqual([args, expect.stringContaining(`\n  fix   feedbackctl ${fix}\n`)])
    }
  })

  it('is the command with the choice that was meant, of a list too', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    for (const [args, said, fix] of [
      ['posts list --query newst --sort newst', '--sort must be one of "newest", "oldest"', 'posts list --query newst --sort newest'], // prettier-ignore
      ['posts list --sort=newst', '--sort must be one of "newest", "oldest"', 'posts list --sort=newest'],
      ['roadmaps list --visibility private,publc', '--visibility must be a list whose items are one of "public", "private"; ["private","publc"] is not. Did you mean "public"?', 'roadmaps list --visibility private,public'], // prettier-ignore
      ['boards list --visibility publc', '["publc"] is not. Did you mean "public"?', 'boards list --visibility public'],
      ['posts list --sort newst --limit 0', 'Did you mean "newest"?', 'posts list --help'],
    ] as const) {
      const { code, stderr } = await machine.run(args)
      expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(said)])
      expect([args, stderr]).toEqual([args, expect.stringContaining(`\n  fix   feedbackctl ${fix}\n`)])
    }
  })

  it('names the sites of the configuration where there is none here', async () => {
    const machine = await makeMachine('sqlite')
    const folder = path.join(machine.folder, 'config/feedbackctl')
    mkdirSync(folder, { recursive: true })
    writeFileSync(
      path.join(folder, 'config.toml'),
      '[contexts.prod]\nserver = "https://feedback.example.org"\n[contexts.test]\ndata.dir = "/srv/test"\n',
      { mode: 0o600 },
    )
    const { code, stderr } = await machine.run('boards list --all')
    expect(code).toBe(3)
    expect(stderr).toContain('  fix   feedbackctl boards list --all --context prod   for the site prod\n')
    expect(stderr).toContain('\n        feedbackctl boards list --all --context test   for the site test\n')
  })
})
