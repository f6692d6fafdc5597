import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { hash } from '@node-rs/bcrypt'
import { expect, it } from 'vitest'
import { makeMachine, type Machine } from '../support/cli.js'
import { ASTUTO, filledTables, idOf as id, LOGCHIMP, PRECISELY as AT } from '../support/rivals.js'
import { engines } from '../support/site.js'

async function imported(machine: Machine, source: string) {
  const run = async () => {
    const { code, stdout, stderr } = await machine.run(`import ${source} address --yes --json`)
    expect([code, stderr]).toEqual([0, expect.any(String)])
    const { balance, passwords } = JSON.parse(stdout) as {
      balance: { type: string; created: number; matched: number }[]
      passwords: object
    }
    return { balance, passwords, stderr }
  }
  const alone = await machine.run('import address --dry-run')
  expect([alone.code, alone.stderr]).toEqual([0, expect.stringContaining(`this is "import ${source}".`)])
  const { balance: expected } = JSON.parse((await machine.run(`import ${source} address --dry-run --json`)).stdout)
  const first = await run()
  expect(first.balance).toEqual(expected)
  expect((await run()).balance.filter(({ created, matched }) => created + matched > 0)).toEqual([])
  return { ...first, counts: Object.fromEntries(first.balance.map(({ type, created, matched }) => [type, [created, matched]])) } // prettier-ignore
}

const json = async (machine: Machine, command: string) => JSON.parse((await machine.run(`${command} --json`)).stdout)

it.each(engines)(
  'LogChimp before its comments: ids, slugs and urls stay, twins are one person, on %s',
  async (engine) => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const url = await filledTables(machine, LOGCHIMP)
    const { counts, passwords } = await imported(machine, 'logchimp')
    // The owner here has the address of the owner there
    expect(counts).toEqual({ board: [1, 0], status: [1, 0], person: [1, 2], post: [1, 0], vote: [2, 1] })
    expect(passwords).toEqual({ kept: 0, leftOut: 1 })
    const { post } = await json(machine, 'posts show abcdefghij0123456789')
    expect(post).toMatchObject({
      postId: id(6),
      slugId: 'abcdefghij0123456789',
      createdAt: AT,
      author: { userId: id(2), name: 'bobby' },
      board: { name: 'Secret ideas', url: 'ideas-2', color: 'ff0000' },
      roadmap: { name: 'Shipped', url: 'shipped-now' },
      voters: { votesCount: 2 },
    })
    expect(post.contentMarkdown).not.toContain('<script')
    expect((await json(machine, 'boards show ideas-2')).board).toMatchObject({ display: false, view_voters: false })
    expect((await json(machine, 'users show bob@example.org')).user).toMatchObject({
      isBlocked: true,
      isVerified: false,
    })
    const typed = await machine.run(`import logchimp ${url.replace('://', '://x:secret-word@').replace('x:secret-word@postgres@', 'x:secret-word@')} --yes`) // prettier-ignore
    expect(typed.stderr).toContain('see the password in "ps"')
    expect(typed.stderr).not.toContain('secret-word')
  },
)

it('LogChimp with comments: replies, internal ones, and none that is spam', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  await filledTables(machine, [
    ...LOGCHIMP,
    'create table posts_comments (id uuid primary key, parent_id uuid, activity_id uuid, body varchar(1000), is_edited boolean, is_spam boolean, is_internal boolean, created_at timestamptz, updated_at timestamptz)', // prettier-ignore
    'create table posts_activity (id uuid primary key, type varchar(50), posts_comments_id uuid, post_id uuid, author_id uuid, created_at timestamptz)', // prettier-ignore
    `insert into posts_comments values ('${id(1)}', null, '${id(1)}', 'First', false, false, false, '${AT}', '${AT}'), ('${id(2)}', '${id(1)}', '${id(2)}', 'Reply', false, null, true, '2023-06-01', '${AT}'), ('${id(3)}', null, '${id(3)}', 'Buy', false, true, false, '${AT}', '${AT}')`, // prettier-ignore
    ...[1, 2, 3].map((n) => `insert into posts_activity values ('${id(n)}', 'comment', '${id(n)}', '${id(6)}', '${id(2)}', '${AT}')`), // prettier-ignore
  ])
  expect((await imported(machine, 'logchimp')).counts).toMatchObject({ comment: [2, 0] })
  const { activity } = await json(machine, 'comments list --created asc')
  expect(activity.map(({ comment }: { comment: Record<string, unknown> }) => [comment.id, comment.body, comment.is_internal, comment.parent_id])).toEqual([[id(1), 'First', false, null], [id(2), 'Reply', true, id(1)]]) // prettier-ignore
})

it.each(engines)('a client of LogChimp that is pointed at the new site shows the same board, on %s', async (engine) => {
  const machine = await makeMachine(engine)
  await machine.setup()
  const passwordHash = await hash('as it was there', 10)
  // As its API answers there
  const board = { boardId: id(1), name: 'Ideas', url: 'ideas', color: 'ff8800', display: true, view_voters: true }
  const roadmap = { id: id(2), name: 'In progress', url: 'in-progress', color: '00aa11', display: true }
  const author = { userId: id(3), name: 'Eve' }
  const posts = [1, 2, 3].map((n) => ({
    postId: id(3 + n),
    title: `Wish ${n}`,
    slug: `wish-${n}-abcdefghij012345678${n}`,
    contentMarkdown: `**Please** ${n}`,
    createdAt: AT.replace('05-06', `05-0${n}`),
    board: { boardId: board.boardId, name: board.name, url: board.url, color: board.color },
    ...(n === 2 && { roadmap: { id: roadmap.id, name: roadmap.name, url: roadmap.url, color: roadmap.color } }),
    author,
    voters: { votesCount: n === 3 ? 0 : 1 },
  }))
  await filledTables(machine, [
    ...LOGCHIMP.filter((statement) => statement.startsWith('create')),
    `insert into users values ('${author.userId}', '${author.name}', 'eve@example.org', '${passwordHash}', 'eve', null, true, false, false, '${AT}', '${AT}')`,
    `insert into boards values ('${board.boardId}', '${board.name}', '${board.url}', '${board.color}', true, true, '${AT}', '${AT}')`,
    `insert into roadmaps values ('${roadmap.id}', '${roadmap.name}', '${roadmap.url}', 0, '${roadmap.color}', true, '${AT}', '${AT}')`,
    ...posts.map(({ postId, title, slug, contentMarkdown, createdAt, roadmap: on }) => `insert into posts values ('${postId}', '${title}', '${slug}', '${slug.slice(-20)}', '${contentMarkdown}', '${author.userId}', '${createdAt}', '${createdAt}', '${board.boardId}', ${on ? `'${on.id}'` : 'null'})`), // prettier-ignore
    ...posts.slice(0, 2).map(({ postId }, at) => `insert into votes values ('${id(7 + at)}', '${author.userId}', '${postId}', '${AT}')`), // prettier-ignore
  ])
  await imported(machine, 'logchimp')
  const [, url = ''] = await machine.start('serve').says(/listening on (http:\S+?)"/)
  const ask = async (request: string, body?: object, token?: string) => {
    const [method = '', path = ''] = request.split(' ')
    const headers = { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) } // prettier-ignore
    const answer = await fetch(`${url}/api/v1${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    return { status: answer.status, body: await answer.json() }
  }
  expect((await ask('GET /boards')).body.boards).toMatchObject([{ ...board, post_count: '3' }])
  expect((await ask(`GET /boards/${board.url}`)).body.board).toMatchObject(board)
  expect((await ask('GET /roadmaps')).body.roadmaps).toMatchObject([roadmap])
  const newest = { page: '1', limit: '10', created: 'DESC', boardId: [board.boardId] }
  expect((await ask('POST /posts/get', newest)).body.posts).toMatchObject(posts.toReversed())
  expect((await ask('POST /posts/get', { ...newest, boardId: [], roadmapId: roadmap.id })).body.posts).toMatchObject([posts[1]]) // prettier-ignore
  for (const post of posts) expect((await ask('POST /posts/slug', { slug: post.slug })).body.post).toMatchObject(post)
  const login = { email: 'Eve@example.org', password: 'as it was there' }
  const { authToken } = (await ask('POST /auth/login', login)).body.user
  expect((await ask('POST /votes', { postId: id(4) }, authToken)).body.code).toBe('VOTE_EXISTS')
  expect((await ask('POST /votes', { postId: id(6) }, authToken)).body.voters).toMatchObject({ votesCount: 1 })
})

it('Astuto: approved posts, with likes, answers of the team and blocked people', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  await filledTables(machine, ASTUTO)
  const { counts, stderr } = await imported(machine, 'astuto')
  expect(counts).toEqual({ board: [1, 0], status: [1, 0], person: [2, 0], post: [2, 0], vote: [2, 0], comment: [2, 0] })
  expect(stderr).toContain('not approved are not imported: 1')
  const { posts } = await json(machine, 'posts list --sort votes')
  expect(posts).toMatchObject([{ title: 'Dark mode', board: { url: 'our-ideas' }, roadmap: { name: 'In progress' }, voters: { votesCount: 2 } }, { title: 'Of nobody' }]) // prettier-ignore
  expect((await json(machine, 'users show eve@example.org')).user.isBlocked).toBe(true)
  const wrong = await machine.run('import logchimp address --yes')
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('no database of LogChimp')])
  writeFileSync(path.join(machine.folder, 'address'), 'postgres://nobody@127.0.0.1:1/none')
  const closed = await machine.run('import astuto address --yes')
  expect([closed.code, closed.stderr]).toEqual([2, expect.stringContaining('cannot be opened')])
})

it('Astuto before its tenants, approvals and updates: what a version lacks is told by its columns', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  const common = 'created_at timestamp default now(), updated_at timestamp default now()'
  await filledTables(machine, [
    `create table boards (id serial, name text, description text, "order" integer, ${common})`,
    `create table post_statuses (id serial, name text, color text, "order" integer, ${common})`,
    `create table users (id serial, email text, encrypted_password text, full_name text, role integer, ${common})`,
    `create table posts (id serial, title text, description text, board_id integer, user_id integer, post_status_id integer, ${common})`,
    `create table likes (id serial, user_id integer, post_id integer, ${common})`,
    `create table comments (id serial, body text, user_id integer, post_id integer, ${common})`,
    `insert into boards (name, "order") values ('Ideas', 0)`,
    `insert into users (email, full_name, role) values ('ann@example.org', 'Ann', 0)`,
    `insert into posts (title, board_id, user_id) values ('Dark mode', 1, 1)`,
    'insert into likes (user_id, post_id) values (1, 1)',
    `insert into comments (body, user_id, post_id) values ('Soon', 1, 1)`,
  ])
  const { counts, stderr } = await imported(machine, 'astuto')
  expect(counts).toEqual({ board: [1, 0], person: [1, 0], post: [1, 0], vote: [1, 0], comment: [1, 0] })
  expect(stderr).not.toContain('not approved')
})

it.each(engines)('people of LogChimp keep their password, whose hash is nowhere to be seen, on %s', async (engine) => {
  const machine = await makeMachine(engine)
  await machine.setup()
  const passwordHash = await hash('as it was there', 10)
  await filledTables(machine, [
    ...LOGCHIMP,
    `update users set password = '${passwordHash}', "isBlocked" = false, "isVerified" = true where "userId" in ('${id(1)}', '${id(2)}')`,
    `insert into users values ('${id(9)}', 'No address', 'no address', '${passwordHash}', 'x', null, true, false, false, '${AT}', '${AT}')`,
  ])
  const dry = await machine.run('import logchimp address --dry-run')
  expect(dry.stderr).toContain('Would keep the passwords of 1 user.')
  const [, url = ''] = await machine.start('serve').says(/listening on (http:\S+?)"/)
  await machine.run(`login --server ${url} --email ada@example.org --password-stdin`, {
    stdin: 'correct horse battery',
  })
  const done = await machine.run(`import logchimp address --yes --rejects rejects.jsonl --server ${url} --verbose`)
  expect(done.stderr).toContain('Kept the passwords of 1 user.')
  const rejects = readFileSync(path.join(machine.folder, 'rejects.jsonl'), 'utf8')
  expect(rejects).toContain('no address')
  expect(dry.stdout + dry.stderr + done.stdout + done.stderr + rejects).not.toContain('$2y$')
})
