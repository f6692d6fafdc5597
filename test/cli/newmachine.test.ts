import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { clear } from '../../src/db/load.js'
import { json } from '../support/backups.js'
import { makeMachine, requestsTo, type Machine } from '../support/cli.js'
import { cleanup, engines, OWNER, type Engine } from '../support/site.js'

const PASSPHRASE = 'open sesame, please'
const EVE = { email: 'eve@example.org', password: 'fünf mal 日本 🎉' }
const TITLES = ['Größere Schrift für Übersichten', 'ダークモードが欲しい', 'More 🎉 and 👩‍👩‍👧 please']

const LISTS = [
  'boards list --all',
  'roadmaps list --all',
  'posts list --all',
  'posts search Schrift',
  'comments list 1 --all',
  'comments list 2 --all',
  'comments list 3 --all',
  'users list --all',
  'roles list',
  'events list --created asc -L 100',
]

const configOf = ({ folder }: Machine) => path.join(folder, 'config/feedbackctl/config.toml')

/** A machine where feedbackctl never ran. Its database has no tables. */
async function freshMachine(engine: Engine): Promise<Machine> {
  const machine = await makeMachine(engine)
  if (engine === 'sqlite') return machine
  const db = await connect(machine.databaseUrl)
  await clear(db)
  await db.destroy()
  return machine
}

/** Runs a command that succeeds. */
async function done(machine: Machine, args: string, options: Parameters<Machine['run']>[1] = {}): Promise<string> {
  const { code, stdout, stderr } = await machine.run(args, options)
  expect({ args, code, said: code === 0 ? '' : stderr }).toEqual({ args, code: 0, said: '' })
  return stdout
}

/** What the lists of a site print, by command. No list is empty. */
async function listsOf(machine: Machine): Promise<Record<string, string>> {
  const printed: Record<string, string> = {}
  for (const list of LISTS) {
    const text = await done(machine, `${list} --json`)
    const rows = Object.values(JSON.parse(text) as object).find((value) => Array.isArray(value))
    expect({ list, rows }).toEqual({ list, rows: expect.arrayContaining([expect.anything()]) })
    printed[list] = text
  }
  return printed
}

async function served(machine: Machine) {
  const server = machine.start('serve')
  const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
  const agent = new Agent({ keepAlive: true })
  cleanup(async () => agent.destroy())
  return { http: requestsTo(url, agent), stop: () => server.stop() }
}

type Http = Awaited<ReturnType<typeof served>>['http']

async function signIn(http: Http, { email, password }: { email: string; password: string }): Promise<string> {
  const { status, body } = await http('POST /auth/login', { body: { email, password } })
  expect({ email, status }).toEqual({ email, status: 200 })
  return body.user.authToken
}

const whoIs = async (http: Http, token: string) => {
  const { status, body } = await http('GET /users/profile', { token })
  return status === 200 ? (body.user.email as string) : status
}

/** Sets a site up with the options that a script gives, and fills it as people do. */
async function livedIn(machine: Machine) {
  writeFileSync(path.join(machine.folder, 'password'), `${OWNER.password}\n`, { mode: 0o600 })
  if (machine.databaseUrl.startsWith('postgres')) await done(machine, 'migrate')
  await done(machine, `setup --email ${OWNER.email} --password-file password --name 'Ada Größe' --site-title 'Mond 月 🌙' --mail-url folder:mail`) // prettier-ignore
  await done(machine, "boards create '💡 Ideas'")
  await done(machine, 'boards create Secret --private')
  await done(machine, 'roadmaps create Geplant')
  for (const title of TITLES) await done(machine, `posts create '${title}' --board ideas --body '${title} – bitte'`)
  await done(machine, 'posts update 1 --roadmap geplant')
  await done(machine, `users create ${EVE.email} --name 'Eve Müller 山' --password-stdin`, { stdin: EVE.password })
  const site = await served(machine)
  const tokens = { [OWNER.email]: await signIn(site.http, OWNER), [EVE.email]: await signIn(site.http, EVE) }
  const token = tokens[EVE.email] ?? ''
  for (const { postId } of (await json(machine, 'posts list --all')).posts) {
    expect(await site.http('POST /votes', { token, body: { postId } })).toMatchObject({ status: 201 })
    expect(await site.http(`POST /posts/${postId}/comments`, { token, body: { body: 'Ja, gern – 賛成 👍' } })).toMatchObject({ status: 201 }) // prettier-ignore
  }
  return { ...site, tokens }
}

/** Passwords and sessions of before are good here, and others are not. */
async function knowsPeople(http: Http, tokens: Record<string, string>): Promise<void> {
  for (const person of [OWNER, EVE]) {
    const old = tokens[person.email] ?? ''
    expect(await whoIs(http, old)).toBe(person.email)
    expect(await whoIs(http, `${old.slice(0, -4)}AAAA`)).toBe(401)
    expect(await whoIs(http, await signIn(http, person))).toBe(person.email)
  }
  const wrong = await http('POST /auth/login', { body: { ...EVE, password: 'not the password' } })
  expect(wrong.status).toBe(403)
}

describe.each(engines)('from setup to restore on a fresh machine, on %s', (engine) => {
  it.each(['plain', 'encrypted'])('nothing is lost with a backup that is %s', async (kind) => {
    const isEncrypted = kind === 'encrypted'
    const env: Record<string, string> = isEncrypted ? { FEEDBACKCTL_BACKUP_PASSPHRASE: PASSPHRASE } : {}
    const old = await freshMachine(engine)
    const { tokens, stop } = await livedIn(old)
    if (isEncrypted) appendFileSync(configOf(old), `\n[backup]\npassphrase = "${PASSPHRASE}"\n`)
    const before = await listsOf(old)
    for (const title of TITLES) expect(before['posts list --all']).toContain(title)
    const { file, encrypted } = await json(old, 'backup create') // while serve runs
    expect(encrypted).toBe(isEncrypted)
    expect(await listsOf(old)).toEqual(before)
    await stop()

    const fresh = await freshMachine(engine)
    const unopened = await fresh.run(`restore ${file} --dry-run`)
    expect([unopened.code, unopened.stderr.includes('PASSPHRASE_WRONG')]).toEqual(isEncrypted ? [2, true] : [0, false])
    const { config } = JSON.parse(await done(fresh, `restore ${file} --yes --json`, { env })) as { config: string }
    expect(await listsOf(fresh)).toEqual(before)

    // Mail is all that is missing, until the configuration of the backup is taken over
    expect(existsSync(configOf(fresh))).toBe(false)
    const { stdout, code } = await fresh.run('doctor --offline -o tsv')
    const found = stdout.split('\n').filter((line) => !/\tok\t/.test(line) && line !== '')
    expect({ code, found }).toEqual({ code: 9, found: [expect.stringMatching(/^mail\twarning\tmail\.url is not set/)] })
    mkdirSync(path.dirname(configOf(fresh)), { recursive: true, mode: 0o700 })
    const ours = readFileSync(config, 'utf8').replaceAll(old.folder, fresh.folder)
    writeFileSync(configOf(fresh), ours, { mode: 0o600 })
    expect(ours.includes(PASSPHRASE)).toBe(isEncrypted)
    expect(await fresh.run('doctor --offline')).toMatchObject({ code: 0, stderr: 'No findings.\n' })

    const site = await served(fresh)
    await knowsPeople(site.http, tokens)
    const after = await listsOf(fresh)
    const actions = 'events list --created asc -L 100'
    // The sign-ins are events, and their people were seen
    const people = 'users list --all'
    const unseen = (lists: Record<string, string>) => ({ ...lists, [actions]: '', [people]: lists[people]?.replaceAll(/"lastSeenAt": ?"[^"]+"/g, '') }) // prettier-ignore
    expect(unseen(after)).toEqual(unseen(before))
    const eventsOf = (lists: Record<string, string>) => JSON.parse(lists[actions] ?? '').events as { action: string }[]
    expect(eventsOf(after).slice(0, eventsOf(before).length)).toEqual(eventsOf(before))
    const second = await json(fresh, 'backup create')
    await site.stop()

    // To the other engine, and back to the machine of the beginning
    const other = await freshMachine(engine === 'sqlite' ? 'postgres' : 'sqlite')
    await done(other, `restore ${second.file} --yes`, { env })
    expect(await listsOf(other)).toEqual(after)
    const { file: third } = await json(other, 'backup create', env)
    await done(old, `restore ${third} --yes`)
    expect(await listsOf(old)).toEqual(after)
    await knowsPeople((await served(old)).http, tokens)
  })
})
