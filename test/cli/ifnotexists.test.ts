import { Readable, Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { localTransaction } from '../../src/app/call.js'
import { connect } from '../../src/db/connect.js'
import { lock } from '../../src/db/counters.js'
import { run } from '../../src/cli/run.js'
import type { Call } from '../../src/service/lib/operation.js'
import * as boards from '../../src/service/boards.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as roles from '../../src/service/roles.js'
import * as users from '../../src/service/users.js'
import { untilLocked } from '../support/locks.js'
import { cleanup, engines, makeSite, temporaryFolder } from '../support/site.js'

const EVE = { email: 'eve@example.org', password: 'correct horse battery' }
const cases: [command: string, stdin: string, create: (call: Call) => Promise<unknown>, list: string][] = [
  ['boards create Ideas', '', (call) => call(boards.create, { name: 'Ideas' }), 'boards'],
  ['roadmaps create Ideas', '', (call) => call(roadmaps.create, { name: 'Ideas' }), 'roadmaps'],
  ['roles create Ideas', '', (call) => call(roles.create, { name: 'Ideas' }), 'roles'],
  ['posts create Ideas --body x', '', (call) => call(posts.create, { title: 'Ideas' }), 'posts'],
  ['posts create -', 'Ideas\n', (call) => call(posts.create, { title: 'Ideas' }), 'posts'], // by itself
  ['posts create -', 'Ideas\nIdeas\n', (call) => call(posts.create, { title: 'Ideas' }), 'posts'], // a group
  ['boards create -', 'Ideas\nIDEAS\n', (call) => call(boards.create, { name: 'Ideas' }), 'boards'],
  ['users create -', `email,password\n${EVE.email},${EVE.password}\n`, (call) => call(users.create, EVE), 'users'],
]

it.each(engines.flatMap((engine) => cases.map((each) => [engine, ...each] as const)))(
  'on %s, "%s" of %j finds what another such command creates meanwhile',
  async (engine, command, stdin, create, list) => {
    const site = await makeSite(engine)
    await site.owner()
    const cli = commandLine(site.databaseUrl)
    let second: Promise<string> | undefined
    await localTransaction(site, { looks: true }, async (call) => {
      await create(call)
      await untilLocked(engine, site.db, () => (second = cli(`${command} --if-not-exists`, stdin)))
    })
    expect(await second).toMatch(/exist(s|ed) already\./)
    const field = { posts: 'title', users: 'email' }[list] ?? 'name'
    const names = await cli(`${list} list --all -o tsv --fields ${field}`)
    expect(names.split('\n').filter((name) => /^(ideas|eve@example\.org)$/i.test(name))).toHaveLength(1)
  },
)

it.each(engines)('on %s, a person who is deleted while a command waits is named', async (engine) => {
  const site = await makeSite(engine)
  await site.owner()
  const { userId } = await site.member()
  const cli = commandLine(site.databaseUrl)
  const other = await connect(site.databaseUrl)
  cleanup(() => other.destroy())
  let writing: Promise<string> | undefined
  await other.transaction().execute(async (db) => {
    await lock(db, 'post_counts') // which the command needs after it has looked, on PostgreSQL
    await db.deleteFrom('users').where('userId', '=', userId).execute()
    await untilLocked(
      engine,
      site.db,
      () => (writing = cli(`posts create X --body x --as ${userId} --if-not-exists --json`)),
    )
  })
  expect(await writing).toContain('"code":"USER_NOT_FOUND"')
})

it.each(engines)('on %s, a board that is created meanwhile without the option is found by its url', async (engine) => {
  const site = await makeSite(engine)
  await site.owner()
  const cli = commandLine(site.databaseUrl)
  let second: Promise<string> | undefined
  await localTransaction(site, {}, async (call) => {
    await call(boards.create, { name: 'Ideas' })
    await untilLocked(engine, site.db, () => (second = cli('boards create Other --url ideas --if-not-exists')))
  })
  expect(await second).toContain('Board "Ideas" (ideas) exists already.')
})

/** Runs commands in this process, where `untilLocked` sees them wait, over connections of their own. */
function commandLine(databaseUrl: string): (line: string, stdin?: string) => Promise<string> {
  const folder = temporaryFolder()
  cleanup(async () => void (process.exitCode = undefined))
  return async (line, stdin = '') => {
    let text = ''
    const output = () =>
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          text += chunk.toString()
          done()
        },
      }) as unknown as NodeJS.WriteStream
    await run({
      env: { HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder, FEEDBACKCTL_DATABASE_URL: databaseUrl },
      cwd: folder,
      args: line.split(' '),
      stdin: Readable.from([Buffer.from(stdin)]) as NodeJS.ReadStream,
      stdout: output(),
      stderr: output(),
      now: () => new Date(),
    })
    return text
  }
}
