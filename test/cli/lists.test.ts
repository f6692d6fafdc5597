import { once } from 'node:events'
import { createServer, request as connectTo } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import type { Output } from '../../src/cli/lib/output/output.js'
import { newId } from '../../src/core/ids.js'
import { queueMail } from '../../src/delivery/mail.js'
import { operations } from '../../src/service/index.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { cleanup, engines, makeSite, type Engine } from '../support/site.js'

/** Every list, the key of its rows, and what a row is called by. */
const LISTS: readonly (readonly [command: string, rows: string, id: string])[] = [
  ['posts list', 'posts', 'postId'],
  ['posts search dark', 'posts', 'postId'],
  ['comments list', 'activity', 'id'],
  ['comments list 1', 'activity', 'id'],
  ['boards list', 'boards', 'boardId'],
  ['roadmaps list', 'roadmaps', 'id'],
  ['tags list', 'tags', 'tagId'],
  ['votes list 1', 'votes.results', 'voteId'],
  ['users list', 'users', 'userId'],
  ['roles list', 'roles', 'id'],
  ['keys list', 'keys', 'keyId'],
  ['sessions list --as eve@example.org', 'sessions', 'sessionId'],
  ['moderate list', 'items', 'id'],
  ['events list --action board.created', 'events', 'id'],
  ['mail queue list', 'mails', 'mailId'],
  ['mail suppressed list', 'suppressed', 'userId'],
  ['views list --as ada@example.org', 'views', 'viewId'],
]

interface Page {
  rows: readonly Record<string, unknown>[]
  info: { has_next_page: boolean; end_cursor: string | null }
}

async function pageOf({ run }: Machine, command: string, rows: string): Promise<Page> {
  const { code, stdout, stderr } = await run(`${command} --json`)
  expect([command, code, stderr]).toEqual([command, 0, ''])
  const [outer = '', inner] = rows.split('.')
  const body = JSON.parse(stdout) as Record<string, unknown>
  const place = (inner === undefined ? body : body[outer]) as Record<string, unknown>
  return { rows: place[inner ?? outer] as Page['rows'], info: place.page_info as Page['info'] }
}

/** The ids of a list by each way to read all of it. */
async function everyPage(machine: Machine, [command, rows, id]: (typeof LISTS)[number]) {
  const idsOf = (page: Pick<Page, 'rows'>) => page.rows.map((row) => row[id])
  const body = JSON.parse((await machine.run(`${command} --all --json`)).stdout) as Record<string, unknown>
  const [outer = '', inner] = rows.split('.')
  const found = inner === undefined ? body[outer] : (body[outer] as Record<string, unknown>)[inner]
  const all = idsOf({ rows: found as Page['rows'] })
  const numbered: unknown[] = []
  const followed: unknown[] = []
  for (let page = 1, after = ''; page < 30; page++) {
    numbered.push(...idsOf(await pageOf(machine, `${command} --limit 2 --page ${page}`, rows)))
    const next = await pageOf(machine, `${command} --limit 2 ${after}`, rows)
    followed.push(...idsOf(next))
    after = `--after ${next.info.end_cursor}`
    if (!next.info.has_next_page) break
  }
  return { all, numbered, followed }
}

/** A site with at least five rows in every list. */
async function filled(engine: Engine): Promise<Machine> {
  const machine = await makeMachine(engine)
  await machine.setup()
  const { run } = machine
  const db = await connect(machine.databaseUrl)
  cleanup(() => db.destroy())
  await run('labs update --vote-on-behalf')
  const names = ['a', 'b', 'c', 'd', 'e']
  const lines = { stdin: names.map((name) => `dark ${name}`).join('\n') }
  for (const noun of ['boards', 'roadmaps', 'tags', 'roles'])
    expect(await run(`${noun} create -`, lines)).toMatchObject({ code: 0 })
  for (const name of ['eve', ...names]) {
    expect(await run(`users create ${name}@example.org --password-stdin`, { stdin: 'correct horse battery' })).toMatchObject({ code: 0 }) // prettier-ignore
    if (name === 'eve') await run('posts create - --as eve@example.org', lines)
    await run(`views create ${name} --as ada@example.org`)
    await run(`votes add 1 --as ${name}@example.org`)
    await run(`comments create 1 --body dark${name} --as ${name}@example.org`)
    expect(await run(`keys create ${name}`)).toMatchObject({ code: 0 })
  }
  const [bouncedAt, people] = [new Date().toISOString(), await db.selectFrom('users').select('userId').execute()]
  const bounce = { bounces: 3, reason: '550 no', bouncedAt, suppressedAt: bouncedAt }
  await db
    .insertInto('mail_bounces')
    .values(people.map(({ userId }) => ({ ...bounce, userId })))
    .execute()
  const eve = await db.selectFrom('users').select('userId').where('email', '=', 'eve@example.org').executeTakeFirstOrThrow() // prettier-ignore
  for (const name of names) {
    await queueMail(db, new Date(), { recipient: `${name}@example.org`, subject: 'x', text: '', html: '' })
    const session = {
      sessionId: newId(),
      userAgent: name,
      createdAt: new Date().toISOString(),
      expiresAt: '2099-01-01',
    }
    await db
      .insertInto('sessions')
      .values({ ...session, ...eve, address: '' })
      .execute()
  }
  return machine
}

describe.each(engines)('every list on %s', (engine) => {
  it('has pages by number, after a row, and all of them, with the same rows', async () => {
    const machine = await filled(engine)
    for (const [command, rows, id] of LISTS) {
      const idsOf = (page: Page) => page.rows.map((row) => row[id])
      const whole = idsOf(await pageOf(machine, `${command} --limit 100`, rows))
      expect([command, whole.length >= 5]).toEqual([command, true])
      expect([command, await everyPage(machine, [command, rows, id])]).toEqual([
        command,
        { all: whole, numbered: whole, followed: whole },
      ])
      expect(await machine.run(`${command} --all --page 2`)).toMatchObject({ code: 2, stderr: expect.stringContaining('--all prints all pages') }) // prettier-ignore
    }
  })

  it('takes a time since which, and before which', async () => {
    const machine = await filled(engine)
    for (const [command, rows] of LISTS) {
      const count = async (args: string) => (await pageOf(machine, `${command} --limit 100 ${args}`, rows)).rows.length
      const whole = await count('')
      expect([command, await count('--since 1h')]).toEqual([command, whole])
      expect([command, await count('--until 1h')]).toEqual([command, 0])
    }
  })
})

/** Lists that have an order of their own. */
const UNSORTED = ['roadmaps list', 'tags list', 'views list --as ada@example.org']
/** Lists that begin with the oldest row. The others begin with the newest. */
const OLDEST_FIRST = ['users list', 'roles list', 'keys list']

describe.each(engines)('the order of every list on %s', (engine) => {
  it('is newest or oldest first, with the same rows however they are read', async () => {
    const machine = await filled(engine)
    for (const [command, rows, id] of LISTS.filter(([each]) => !UNSORTED.includes(each))) {
      const idsOf = (page: Page) => page.rows.map((row) => row[id])
      const [usual, other] = OLDEST_FIRST.includes(command) ? ['oldest', 'newest'] : ['newest', 'oldest']
      const whole = idsOf(await pageOf(machine, `${command} --limit 100`, rows))
      const reversed = whole.toReversed()
      expect([command, idsOf(await pageOf(machine, `${command} --limit 100 --sort ${usual}`, rows))]).toEqual([command, whole]) // prettier-ignore
      expect([command, idsOf(await pageOf(machine, `${command} --limit 100 --sort ${other}`, rows))]).toEqual([command, reversed]) // prettier-ignore
      expect([command, await everyPage(machine, [`${command} --sort ${other}`, rows, id])]).toEqual([
        command,
        { all: reversed, numbered: reversed, followed: reversed },
      ])
    }
  })
})

it('every list with pages declares its order, or has one of its own and says so', async () => {
  const lists = operations.filter(({ input: { properties } }) => 'page' in properties)
  expect(lists.length).toBeGreaterThan(10)
  expect(lists.filter(({ input }) => !('created' in input.properties)).map(({ id }) => id)).toEqual([
    'identities.list',
    'users.votes', // the newest vote first
    'users.comments', // the newest first
    'search.find', // the best first
    'posts.merged', // the newest merge first
    'views.list', // your own, then those that are shared, by name
    'posts.followers', // those whose accounts are oldest first
    'events.told', // the same
    'roadmaps.list',
    'tags.list', // by name
  ])
  const { run } = await makeMachine('sqlite')
  expect((await run('roadmaps list --help')).stdout).toContain('in their own order')
  expect(await run('roadmaps list --sort oldest')).toMatchObject({ code: 2, stderr: expect.stringContaining('--sort') })
  expect(await run('moderate list --sort sideways')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--sort must be one of newest, oldest; "sideways" is not.'),
  })
})

describe.each(engines)('a text to find on %s', (engine) => {
  it('finds roadmaps, comments and events', async () => {
    const machine = await filled(engine)
    const found = async (command: string, rows: string, name: (row: never) => unknown) =>
      (await pageOf(machine, command, rows)).rows.map((row) => name(row as never))
    expect(await found("roadmaps list --query 'DARK c'", 'roadmaps', ({ name }: { name: string }) => name)).toEqual(['dark c']) // prettier-ignore
    const body = ({ comment }: { comment: { body: string } }) => comment.body
    for (const which of ['', '1 ']) {
      expect(await found(`comments list ${which}--query DARKB`, 'activity', body)).toEqual(['darkb'])
      expect(await found(`comments list ${which}--query dark --limit 2 --page 2`, 'activity', body)).toHaveLength(2)
    }
    const subject = (event: { action: string; subject: string }) => `${event.action} ${event.subject}`
    expect(await found("events list --query 'dark d' --sort oldest", 'events', subject)).toEqual([
      'board.created dark d',
      'roadmap.created dark d',
      'tag.created dark d',
      'role.created dark d',
      'post.created dark d',
    ])
    expect(await found("events list --query 'dark d' --limit 1 --page 2", 'events', subject)).toEqual(['role.created dark d']) // prettier-ignore
    expect(await found('events list --query key.CREATED --all', 'events', subject)).toHaveLength(6)
  })
})

it('keys and sessions are shown by name or id, and keys of everybody are listed for the owner', async () => {
  const machine = await filled('sqlite')
  const { run } = machine
  expect(JSON.parse((await run('keys show c --json')).stdout)).toMatchObject({ key: { name: 'c' } })
  expect(JSON.parse((await run('keys show c --json')).stdout)).not.toHaveProperty('token')
  expect(await run('keys show nope')).toMatchObject({ code: 3, stderr: expect.stringContaining('KEY_NOT_FOUND') })
  await run('keys create eves --as eve@example.org')
  const names = async (args: string) =>
    (await pageOf(machine, `keys list ${args}`, 'keys')).rows.map(({ name }) => name)
  expect(await names('')).not.toContain('eves')
  expect(await names('--everyone')).toContain('eves')
  expect(await names('--as eve@example.org')).toEqual(['eves'])
  expect(await run('sessions show nope')).toMatchObject({ code: 3 })
})

it('every list takes the account to act as', async () => {
  const machine = await filled('sqlite')
  for (const [command] of LISTS.filter(([each]) => !/^mail|--as/.test(each)))
    expect([command, await machine.run(`${command} --as eve@example.org --json`)]).toEqual([command, expect.objectContaining({ code: 0 })]) // prettier-ignore
  for (const [command, fix] of [
    ['mail queue list --as eve --sent', 'mail queue list --sent'],
    ['mail queue list --sent --as=eve', 'mail queue list --sent'],
    ['backup list --as eve', 'backup list'],
  ] as const) {
    const { code, stderr } = await machine.run(command)
    expect([code, stderr]).toEqual([2, expect.stringContaining(`"${command.split(' --')[0]}" acts as the operator of this machine, and takes no --as.`)]) // prettier-ignore
    expect(stderr).toContain(`feedbackctl ${fix}\n`)
  }
  const { rows } = await pageOf(machine, 'posts list --mine --as eve@example.org', 'posts')
  expect(rows).toHaveLength(5)
  expect((await pageOf(machine, 'posts list --mine --as a@example.org', 'posts')).rows).toEqual([])
})

it('a list that ends before all that matches says so, and a program reads it', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  const titles = Array.from({ length: 1001 }, (_, number) => `Post ${number}`).join('\n')
  expect(await machine.run('posts create - -q', { stdin: titles })).toMatchObject({ code: 0 })
  const said = 'Not all matches are listed. Narrow the search to find the others.\n'
  for (const command of [
    'posts list --query post',
    'posts list --query post --all -o csv',
    'posts list --query post --all -o jsonl',
  ])
    expect(await machine.run(command)).toMatchObject({ code: 0, stderr: said })
  for (const command of ['posts list', 'posts list --query 17', 'posts list --query post -q', 'posts search post'])
    expect(await machine.run(command)).toMatchObject({ code: 0, stderr: '' })
  const read = async (command: string) => JSON.parse((await machine.run(command)).stdout) as object
  for (const command of ['posts list --query post --json', 'posts list --query post --all --json'])
    expect(await read(command)).toMatchObject({ total_count: 1000, is_capped: true })
  for (const command of ['posts list --json', 'posts list --all --json', 'posts list --query 17 --all --json'])
    expect(await read(command)).not.toHaveProperty('is_capped')
})

/** A server before another. `between` is called for each page of posts after the first, and it waits for that. */
async function beforeEachPage(url: string, between: () => Promise<unknown>): Promise<string> {
  let pages = 0
  const pass = createServer((incoming, response) => {
    const { method, headers, url: path = '' } = incoming
    const isLater = path.includes('/posts/get') && ++pages > 1
    void (isLater ? between() : Promise.resolve()).then(() => {
      const forwarded = connectTo(`${url}${path}`, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers)
        answer.pipe(response)
      })
      incoming.pipe(forwarded)
    })
  })
  await once(pass.listen(0, '127.0.0.1'), 'listening')
  cleanup(async () => void pass.close())
  return `http://127.0.0.1:${(pass.address() as AddressInfo).port}`
}

it('--all has every post once, in an order by votes too, while people vote', async () => {
  const site = await makeSite('sqlite')
  await site.owner()
  const { userId } = await site.member()
  const posts = Array.from({ length: 150 }, (_, number) => {
    const createdAt = new Date(Date.UTC(2026, 0, 1, 0, 0, number)).toISOString()
    return { postId: newId(), title: `Post ${number}`, slug: `post-${number}`, slugId: `${number}`.padStart(20, '0'), contentMarkdown: null, userId, boardId: null, roadmap_id: null, createdAt, updatedAt: createdAt } // prettier-ignore
  })
  await site.db.insertInto('posts').values(posts).execute()
  const vote = (number: number) =>
    site.db.insertInto('votes').values({ voteId: newId(), userId, postId: posts[number]!.postId, createdAt: '2026-01-02T00:00:00.000Z' }).execute() // prettier-ignore
  const unvote = (number: number) => site.db.deleteFrom('votes').where('postId', '=', posts[number]!.postId).execute()
  const target = await (await site.server()).listen({ host: '127.0.0.1', port: 0 })
  const { run } = await makeMachine('sqlite')
  for (const sort of ['votes', 'trending']) {
    await vote(30) // at the top until the vote is taken back after the first page
    let done = false
    const url = await beforeEachPage(target, async () => {
      if (done) return
      done = true
      await unvote(30)
      await vote(10) // which moves to the page that was read
    })
    const { stdout, stderr } = await run(`posts list --all --sort ${sort} --json --fields title --server ${url}`)
    const titles = (JSON.parse(stdout) as { title: string }[]).map(({ title }) => title)
    expect([sort, titles.length, new Set(titles).size, titles[0], titles.at(-1)]).toEqual([sort, 150, 150, 'Post 30', 'Post 10']) // prettier-ignore
    expect(stderr).toBe('The list changed while it was read: 1 row at its end may belong further up.\n')
    await unvote(10)
  }
  expect(await run(`posts list --all --sort votes -q --server ${target}`)).toMatchObject({ stderr: '' })
})

it('--all by trend has what its pages have: nothing that is done', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  await machine.run('roadmaps create Shipped --kind done')
  await machine.run('posts create - -q', { stdin: 'Open wish\nDone wish\n' })
  await machine.run('posts move 2 --roadmap shipped')
  for (const command of [
    'posts list --sort trending --fields title -o csv',
    'posts list --sort trending --all --fields title -o csv',
  ])
    // prettier-ignore
    expect(await machine.run(command)).toEqual({ code: 0, stdout: 'title\nOpen wish\n', stderr: '' })
})

it('only an answer with pages can be declared as a list with pages', () => {
  const keys: unknown[] = [
    'posts' satisfies Output<{ posts: string[]; page_info: object }, string>['list'],
    'votes.results' satisfies Output<{ votes: { results: string[]; page_info: object } }, string>['list'],
    true satisfies Output<{ people: string[] }, string>['list'],
    // @ts-expect-error -- no `page_info` beside the rows
    'people' satisfies Output<{ people: string[] }, string>['list'],
  ]
  expect(keys).toHaveLength(4)
})

it('events say in a word or two what changed, within 80 columns; a pipe gets every field', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  await machine.run("posts create 'Dark mode'")
  await machine.run("posts update 1 --title 'Dark theme, and a light one, for everybody who wants to choose'")
  await machine.run('settings update --title Moonbase --new-for 3d --limit-posts 5/1d --limit-edits off')
  const { text } = await machine.terminal('events list --no-color', { columns: 80 }).ended
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
  expect(lines.find((line) => line.includes('site.updated'))).toMatch(/ title, newFor \+2$/)
  expect(lines.find((line) => line.includes('post.updated'))).toMatch(/ title$/)
  const [newest = ''] = (await machine.run('events list')).stdout.split('\n')
  expect(newest.split('\t').at(-1)).toBe('title, newFor, limitPosts, limitEdits')
})
