import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { Migrator, sql } from 'kysely'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { newId } from '../../src/core/ids.js'
import { migrations } from '../../src/db/migrations/index.js'
import { newUser } from '../../src/service/lib/people.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { freePort } from '../support/ports.js'
import { random } from '../support/random.js'
import { engines, makeDatabase, type Engine } from '../support/site.js'
import { amount, figures } from './amount.js'
import { startWriters, titlesOf } from './writers.js'

const KILLS = amount(5, 50)
/** On each engine: of setup and of migrate, and twice as many of boards create. Together 200 in the long version. */
const COMMAND_KILLS = amount(1, 25)

describe.each(engines)('kill -9 on %s', (engine) => {
  it.for([1, 2])('of serve with %i workers loses no acknowledged post', async (workers, context) => {
    const machine = await makeMachine(engine)
    const token = await machine.setup()
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const writers = startWriters(() => url, token)
    const number = random()
    for (let kill = 0; kill < KILLS; kill++) {
      const before = writers.acknowledged.size
      const server = machine.start(`serve --workers ${workers} --listen 127.0.0.1:${port}`)
      await expect.poll(() => writers.acknowledged.size).toBeGreaterThan(before + 10)
      await sleep(number() * 100)
      await server.stop('SIGKILL')
    }
    await writers.stop()
    const stored = await titlesOf(machine)
    expect(stored).toHaveLength(new Set(stored).size)
    expect([...writers.acknowledged].filter((title) => !stored.includes(title))).toEqual([])
    expect(await wrongCounts(machine)).toEqual([])
    figures(context, `${KILLS} kills, ${writers.acknowledged.size} acknowledged, 0 lost`)
  })

  it('of setup leaves a site or none, and the next setup needs no hand', async (context) => {
    const needless: string[] = [] // what setup says after one that was acknowledged
    const unhurried = await makeMachine(engine)
    const duration = await timeOf(() => unhurried.setup(unhurried.process))
    for (let kill = 0; kill < COMMAND_KILLS; kill++) {
      const machine = await makeMachine(engine)
      const setup = 'setup --email ada@example.org --password-stdin --name Ada --mail-url folder:mail'
      const first = await killed(machine, setup, duration, 'correct horse battery\n')
      const again = await machine.run(`${setup} --if-needed`, { stdin: 'correct horse battery\n' })
      expect(again.code).toBe(0)
      if (first.code === 0) needless.push(again.stderr)
      const server = machine.start('serve')
      const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
      const login = await fetch(`${url}/api/v1/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'ada@example.org', password: 'correct horse battery' }),
      })
      expect(login.status).toBe(200)
      expect((await server.stop()).code).toBe(0)
      expect(await countsOf(machine)).toMatchObject({ users: 1, owners: 1, 'site.set_up': 1, mails: 1 })
      expect(await wrongCounts(machine)).toEqual([])
    }
    expect(needless.filter((text) => !text.includes('nothing to do'))).toEqual([])
    figures(context, `${COMMAND_KILLS} kills, ${needless.length} acknowledged, 0 lost`)
  })

  it('of boards create loses no acknowledged board, and leaves no half of one', async (context) => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const duration = await timeOf(() => machine.process('boards create First'))
    const acknowledged = ['First']
    for (let kill = 0; kill < 2 * COMMAND_KILLS; kill++) {
      const { code } = await killed(machine, `boards create 'Board ${kill}'`, duration)
      if (code === 0) acknowledged.push(`Board ${kill}`)
    }
    const { stdout } = await machine.run('boards list --all -o jsonl')
    const names = stdout.trim().split('\n').map((line) => (JSON.parse(line) as { name: string }).name) // prettier-ignore
    expect(names).toEqual(expect.arrayContaining(acknowledged))
    expect(await countsOf(machine)).toMatchObject({ 'board.created': names.length })
    expect(await wrongCounts(machine)).toEqual([])
    figures(context, `${2 * COMMAND_KILLS} kills, ${acknowledged.length - 1} acknowledged, 0 lost`)
  })

  it('of migrate leaves the old schema or the new one, with every row', async (context) => {
    let acknowledged = 0
    const unhurried = await olderMachine(engine)
    const duration = await timeOf(() => unhurried.process('migrate'))
    for (let kill = 0; kill < COMMAND_KILLS; kill++) {
      const machine = await olderMachine(engine)
      const { code } = await killed(machine, 'migrate', duration)
      if (code === 0) acknowledged++
      const again = await machine.run('migrate')
      expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(code === 0 ? /up to date/ : /Applied|up to date/) }) // prettier-ignore
      expect(await titlesOf(machine)).toHaveLength(OLD_POSTS)
      expect(await wrongCounts(machine)).toEqual([])
    }
    figures(context, `${COMMAND_KILLS} kills, ${acknowledged} acknowledged, 0 lost`)
  })
})

/** Runs a command and kills it at a random moment, late enough that it has begun to work. */
async function killed(machine: Machine, command: string, duration: number, stdin = '') {
  const { child, ended, stop } = machine.start(command)
  child.stdin?.end(stdin)
  await Promise.race([sleep(duration * (0.3 + 0.8 * random()())), ended])
  return child.exitCode === null ? stop('SIGKILL') : ended
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const since = performance.now()
  await work()
  return performance.now() - since
}

const OLD_POSTS = 2000

/** A machine whose database has an older schema, with posts. */
async function olderMachine(engine: Engine): Promise<Machine> {
  const machine = await makeMachine(engine)
  if (engine === 'postgres') {
    machine.databaseUrl = await makeDatabase(engine, machine.folder, { bare: true })
    machine.env.FEEDBACKCTL_DATABASE_URL = machine.databaseUrl
  } else mkdirSync(path.dirname(machine.databaseUrl.slice('sqlite:'.length)), { recursive: true })
  const db = await connect(machine.databaseUrl)
  try {
    const { error } = await new Migrator({ db, provider: { getMigrations: async () => migrations } }).migrateTo('0003_fewer_indexes') // prettier-ignore
    if (error) throw error
    const user = newUser(new Date(), { email: 'ada@example.org', name: 'Ada', password: '!' }) // prettier-ignore
    await db.insertInto('users').values(user).execute()
    const ids = Array.from({ length: OLD_POSTS }, newId)
    const posts = ids.map((postId, number) => ({ postId, title: `post ${number}`, slug: postId, slugId: postId, contentMarkdown: null, userId: user.userId, boardId: null, roadmap_id: null, createdAt: '', updatedAt: '' })) // prettier-ignore
    const votes = ids.map((postId) => ({ voteId: newId(), userId: user.userId, postId, createdAt: '' }))
    for (let from = 0; from < OLD_POSTS; from += 500) {
      await db.insertInto('posts').values(posts.slice(from, from + 500)).execute() // prettier-ignore
      await db.insertInto('votes').values(votes.slice(from, from + 500)).execute() // prettier-ignore
    }
  } finally {
    await db.destroy()
  }
  return machine
}

/** Numbers of rows, and of events by action. */
async function countsOf(machine: Machine): Promise<Record<string, number>> {
  const db = await connect(machine.databaseUrl)
  try {
    const { rows } = await sql<{ what: string; count: number | string }>`
      select 'users' as what, count(*) as count from users
      union all select 'owners', count(*) from users where "isOwner" = 1
      union all select 'mails', count(*) from deliveries
      union all select action, count(*) from events group by action`.execute(db)
    return Object.fromEntries(rows.map(({ what, count }) => [what, Number(count)]))
  } finally {
    await db.destroy()
  }
}

/** Counters that differ from the rows they count. */
async function wrongCounts(machine: Machine): Promise<unknown[]> {
  const db = await connect(machine.databaseUrl)
  try {
    const { rows } = await sql`
      select 'votesCount' as what from posts where "votesCount" <> (select count(*) from votes where votes."postId" = posts."postId")
      union all select 'post_count' from users where post_count <> (select count(*) from posts where posts."userId" = users."userId")
      union all select 'vote_count' from users where vote_count <> (select count(*) from votes where votes."userId" = users."userId")
      union all select 'post_counts' where (select coalesce(sum(value), 0) from post_counts where board = '*' and roadmap = '*') <> (select count(*) from posts)
      union all select 'users' where (select value from counters where name = 'users') <> (select count(*) from users)
      union all select 'boards' where (select value from counters where name = 'boards') <> (select count(*) from boards)
      union all select 'post without its vote' from posts where not exists (select 1 from votes where votes."postId" = posts."postId")`.execute(
      db,
    )
    return rows
  } finally {
    await db.destroy()
  }
}
