import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { NEWEST } from '../../src/db/schema.js'
import { makeMachine } from '../support/cli.js'
import { cleanup, engines } from '../support/site.js'

const PROGRAM = path.resolve(import.meta.dirname, '../../bin/feedbackctl.js')

describe('what the words of a command may become', () => {
  it.each([
    ['post', ['posts']],
    ['posts l', ['list']],
    ['posts list --lim', ['--limit']],
    ['posts list --sort old', ['oldest']],
    ['posts list --sort=old', ['--sort=oldest']],
    ['posts list --sort = old', ['oldest']], // as bash splits it
    ['posts ls --sort old', ['oldest']],
    ['posts list --no-in', ['--no-input']],
    ['--output js', ['json', 'jsonl']],
    ['-o ya', ['yaml']],
    ['--data-dir x boards sh', ['show']],
    ['boards list --config ', [':files']],
    ['boards list --context ', ['prod']],
    ['serve --web-enabled ', ['true', 'false']],
    ['config get site.', ['site.url', 'site.language']],
    ['config unset site.l', ['site.language']],
    ['completion ', ['bash', 'zsh', 'fish']],
    ['completion bash ', []],
    ['help conf', ['config']],
    ['help exit', ['exit-codes']],
    ['restore ', [':files']],
    ['posts list -- --lim', []],
    ['nonsense ', []],
    ['posts nonsense ', []],
    ['__comp', []],
    ["'$(touch x)' \u001B[31m", []],
  ])('%j', async (line, expected) => {
    const machine = await makeMachine('sqlite')
    const folder = path.join(machine.folder, 'config/feedbackctl')
    mkdirSync(folder, { recursive: true })
    writeFileSync(path.join(folder, 'config.toml'), '[contexts.prod]\nserver = "http://x.example.org"\n', {
      mode: 0o600,
    })
    const { code, stdout, stderr } = await machine.run(`__complete -- ${line.replace(/ $/, " ''")}`)
    const words = stdout
      .split('\n')
      .filter(Boolean)
      .map((each) => each.split('\t')[0])
    expect([code, words, stderr]).toEqual([0, expected, ''])
  })

  it('has descriptions of one line, and no older names of options', async () => {
    const machine = await makeMachine('sqlite')
    const { stdout } = await machine.run('__complete -- posts list --')
    for (const line of stdout.trimEnd().split('\n')) expect(line).toMatch(/^--[a-z-]+(\t[^\t]+)?$/)
    expect(stdout).toContain('--data-dir\t')
    expect(stdout).not.toContain('--created\t')
  })
})

describe.each(engines)('names of what is on a site, on %s', (engine) => {
  const made = async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const lines = ["boards create 'Feature ideas' --url ideas", 'boards create Mobile --private', 'roadmaps create Next', "roles create 'Content team'", "posts create 'Dark mode' --board ideas", "posts create 'Export'"] // prettier-ignore
    for (const line of lines) expect(await machine.run(line)).toMatchObject({ code: 0 })
    const completed = async (line: string) => {
      const { code, stdout, stderr } = await machine.run(`__complete -- ${line.replace(/ $/, " ''")}`)
      expect([code, stderr]).toEqual([0, ''])
      return stdout.split('\n').filter(Boolean)
    }
    return { machine, completed }
  }

  it('complete arguments and values of options', async () => {
    const { completed } = await made()
    expect((await completed('boards show ')).toSorted()).toEqual(['ideas\tFeature ideas', 'mobile\tMobile'])
    expect(await completed('boards show i')).toEqual(['ideas\tFeature ideas'])
    expect(await completed('posts list --board=i')).toEqual(['--board=ideas\tFeature ideas'])
    expect(await completed('posts list --board ideas,')).toEqual(['ideas,mobile\tMobile'])
    expect(await completed('posts show ')).toEqual(['2\tExport', '1\tDark mode'])
    expect(await completed('posts delete 2 1')).toEqual(['1\tDark mode'])
    const [slug = ''] = await completed('posts show dark-m')
    expect(slug).toMatch(/^dark-mode-[a-z0-9]+\tDark mode$/)
    expect(await completed(`posts show ${slug.split('\t')[0]?.slice(0, -3)}`)).toEqual([slug])
    expect(await completed('posts update 1 --roadmap n')).toEqual(['next\tNext'])
    expect(await completed('roles show C')).toEqual(['Content team'])
    expect(await completed('users show ')).toHaveLength(1)
    expect(await completed('keys revoke ')).toEqual([])
    expect(await completed(`boards show ${'x'.repeat(10_000)}`)).toEqual([])
  })

  it('are one line each, whatever a title holds', async () => {
    const { machine, completed } = await made()
    const db = await connect(machine.databaseUrl)
    await db.updateTable('posts').set({ title: 'Red \u001B[31m\ttext\nof :files \u202E' }).execute()
    await db.destroy()
    expect(await completed('posts show ')).toEqual(['2\tRed [31m text of :files', '1\tRed [31m text of :files'])
  })

  it('are none where the site has an older schema, which stays as it is', async () => {
    const { machine, completed } = await made()
    const db = await connect(machine.databaseUrl)
    await sql`delete from kysely_migration where name = ${NEWEST}`.execute(db)
    expect(await completed('boards show ')).toEqual([])
    const names = await sql<{ name: string }>`select name from kysely_migration where name = ${NEWEST}`.execute(db)
    await db.destroy()
    expect(names.rows).toEqual([])
  })
})

it('names come from the site that the line is for', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  await machine.run('boards create Ideas')
  const completed = async (line: string) => (await machine.run(`__complete -- ${line} boards show ''`)).stdout
  expect(await completed('')).toBe('ideas\tIdeas\n')
  const other = path.join(machine.folder, 'other')
  for (const line of [
    `--data-dir ${other}`,
    `--data-dir=${other}`,
    `--data-dir = ${other}`,
    '--server http://127.0.0.1:1',
    '--server http : //127.0.0.1 : 1',
    '--context prod',
  ])
    // prettier-ignore
    expect([line, await completed(line)]).toEqual([line, ''])
  await machine.run(`setup --email b@example.org --name B --title B --password-stdin --no-board --site-url http://127.0.0.1:9 --mail-url folder:${other} --data-dir ${other}`, { stdin: 'correct horse battery' }) // prettier-ignore
  expect(await machine.run(`boards create Bugs --data-dir ${other}`)).toMatchObject({ code: 0 })
  expect(await completed(`--data-dir ${other}`)).toBe('bugs\tBugs\n')
  const { child, says } = machine.start('serve')
  const [, url = ''] = await says(/listening on (http:\S+?)"/)
  const { hostname, port } = new URL(url)
  for (const line of [`--server ${url}`, `--server http : //${hostname} : ${port}`])
    expect([line, await completed(`--data-dir ${other} ${line}`)]).toEqual([line, 'ideas\tIdeas\n'])
  child.kill()
})

it('a server that does not answer has no names, and a Tab does not wait for it', async () => {
  const machine = await makeMachine('sqlite')
  const silent = createServer().listen(0, '127.0.0.1')
  cleanup(() => void silent.close())
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const server = `--server http://127.0.0.1:${port}`
  const { child } = machine.start(`boards list ${server}`) // which waits for it
  expect(await machine.run(`__complete -- ${server} boards show ''`)).toEqual({ code: 0, stdout: '', stderr: '' })
  expect(child.exitCode).toBeNull()
  child.kill()
})

it('no site is made by completing names', async () => {
  const machine = await makeMachine('sqlite')
  expect(await machine.run("__complete -- boards show ''")).toEqual({ code: 0, stdout: '', stderr: '' })
  expect(readdirSync(machine.folder)).toEqual([])
  expect(await machine.run("__complete -- --server http://127.0.0.1:1 boards show ''")).toMatchObject({ code: 0, stdout: '', stderr: '' }) // prettier-ignore
})

it('"completion bash" prints a script that bash completes with', async () => {
  const machine = await makeMachine('sqlite')
  const { code, stdout } = await machine.run('completion bash')
  expect(code).toBe(0)
  const script = path.join(machine.folder, 'completion.bash')
  writeFileSync(script, stdout)
  const completed = (...words: string[]) =>
    execFileSync(
      'bash',
      ['-c', `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _feedbackctl; printf '%s\\n' "\${COMPREPLY[@]}"`, 'bash', script, PROGRAM, ...words], // prettier-ignore
      { env: { ...machine.env, PATH: process.env.PATH }, encoding: 'utf8' },
    )
  expect(completed('boards', 'li')).toBe('list\n')
  expect(completed('boards', 'list', '--output', '=', 'js')).toBe('json\njsonl\n')
  expect(completed('boards', 'list', '')).toBe('\n')
  await machine.setup()
  await machine.run("roles create 'Content team; ls'")
  expect(completed('roles', 'show', 'C')).toBe('Content\\ team\\;\\ ls\n')
  expect(completed('roles', 'show', 'Content\\ te')).toBe('Content\\ team\\;\\ ls\n')
  for (const line of ['Ideas', 'Mobile']) await machine.run(`boards create ${line}`)
  expect(completed('posts', 'list', '--board', 'ideas,')).toBe('ideas,mobile\n')
})

it('refuses a shell that it has no script for', async () => {
  const machine = await makeMachine('sqlite')
  expect(await machine.run('completion csh')).toMatchObject({ code: 2, stdout: '' })
})
