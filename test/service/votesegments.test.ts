import { describe, expect, it } from 'vitest'
import { MOST_VOTERS } from '../../src/db/votesegments.js'
import * as boards from '../../src/service/boards.js'
import * as posts from '../../src/service/posts.js'
import * as roles from '../../src/service/roles.js'
import * as users from '../../src/service/users.js'
import * as usertags from '../../src/service/usertags.js'
import { engines, makeSite, type Engine } from '../support/site.js'

async function makeWorld(engine: Engine) {
  const site = await makeSite(engine, { siteUrl: 'http://localhost', rates: {} })
  const owner = await site.owner()
  const { board } = await site.call(boards.create, { name: 'Ideas', view_voters: false })
  const { post } = await site.call(posts.create, { title: 'Offline', boardId: board.boardId })
  const { role } = await site.call(roles.create, { name: 'Support' })
  const voter = async (email: string, ...tags: string[]) => {
    const { token, userId } = await site.member(['vote:create'], { email })
    await site.db.deleteFrom('roles_users').where('user_id', '=', userId).where('role_id', 'in', site.db.selectFrom('roles').select('id').where('name', '=', 'tested')).execute() // prettier-ignore
    const { status } = await site.http('POST /votes', { token, body: { postId: post.postId } })
    expect(status).toBe(201)
    if (tags.length > 0) await site.call(usertags.tag, { user: userId, add: tags })
    return userId
  }
  await voter('eve@acme.example', 'VIP', 'Beta')
  await voter('bob@acme.example', 'vip')
  const li = await voter('li@globex.example')
  await site.call(roles.assign, { role_id: role.id, user_id: li })
  const reader = (await site.member(['user:read', 'dashboard:read'])).token
  const get = (path: string, token = reader) => site.http(`GET ${path}`, { token })
  return { site, owner, post, reader, get, li }
}

describe.each(engines)('segments of voters on %s', (engine) => {
  it('are the domains, roles and tags, the largest first, with those in none', async () => {
    const { get, post, site, li } = await makeWorld(engine)
    const { body } = await get(`/posts/${post.slug}/segments`)
    const rows = body.segments.map(({ by, name, votes }: { by: string; name: string; votes: number }) => [by, name, votes]) // prettier-ignore
    expect(rows).toEqual([
      ['domain', 'acme.example', 2],
      ['domain', 'example.org', 1],
      ['domain', 'globex.example', 1],
      ['role', null, 3],
      ['role', 'Support', 1],
      ['tag', null, 2],
      ['tag', expect.stringMatching(/^vip$/i), 2],
      ['tag', 'Beta', 1],
    ])
    expect([body.voters, body.is_capped]).toEqual([4, undefined])
    const few = (await get(`/posts/1/segments?limit=1`)).body.segments
    expect(few.map(({ by }: { by: string }) => by)).toEqual(['domain', 'role', 'tag'])
    await site.call(users.remove, { user: li })
    expect((await get(`/posts/1/segments`)).body.voters).toBe(3)
    expect((await get('/posts/1/segments?limit=0')).status).toBe(400)
    expect((await get('/posts/nothing/segments')).body.code).toBe('POST_NOT_FOUND')
  })

  it('are for those who may read people, and the voters of a board that hides them', async () => {
    const { get, site } = await makeWorld(engine)
    const people = (await site.member(['user:read'])).token
    expect((await get('/posts/1/segments', people)).body).toEqual({ segments: [], voters: 0 })
    const team = (await site.member(['dashboard:read', 'post:update'])).token
    expect((await get('/posts/1/segments', team)).status).toBe(403)
    expect((await site.http('GET /posts/1/segments')).body.code).toBe('INVALID_AUTH_HEADER')
    expect((await get('/posts/1/votes', team)).text).not.toContain('VIP')
  })

  it('are on the page of the post for the team', async () => {
    const { site, post, reader } = await makeWorld(engine)
    const page = async (token: string) =>
      (await site.http(`GET //dashboard/posts/${post.slug}`, { headers: { accept: 'text/html', cookie: `feedbackctl=${token}` } })).text // prettier-ignore
    expect(await page(reader)).toMatch(
      /Votes by group.*Domain.*acme\.example.*>2<.*Role.*No role.*Support.*Tag.*No tag.*Beta/s,
    )
    const team = (await site.member(['dashboard:read'])).token
    expect(await page(team)).not.toContain('acme.example')
  })

  it('are told of those who voted last where there are very many', async () => {
    const { site, get, post } = await makeWorld(engine)
    const row = await site.db.selectFrom('users').selectAll().where('email', '=', 'eve@acme.example').executeTakeFirstOrThrow() // prettier-ignore
    const { post_count: _posts, vote_count: _votes, ...person } = row
    const idOf = (at: number) => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`
    for (let at = 0; at < MOST_VOTERS; at += 500) {
      const ids = Array.from({ length: 500 }, (_, index) => at + index)
      await site.db.insertInto('users').values(ids.map((id) => ({ ...person, userId: idOf(id), username: `u${id}`, email: `u${id}@many.example` }))).execute() // prettier-ignore
      await site.db.insertInto('votes').values(ids.map((id) => ({ voteId: idOf(id), userId: idOf(id), postId: post.postId, createdAt: '2099-01-01T00:00:00.000Z' }))).execute() // prettier-ignore
    }
    const { body } = await get('/posts/1/segments')
    expect([body.voters, body.is_capped, body.segments[0]]).toEqual([MOST_VOTERS, true, { by: 'domain', name: 'many.example', votes: MOST_VOTERS }]) // prettier-ignore
  })
})

describe.each(engines)('the file of voters on %s', (engine) => {
  it('has their tags for those who may read people', async () => {
    const { site, get, reader } = await makeWorld(engine)
    const { text, headers } = await get('/export/posts/1/votes')
    const [head, ...lines] = text.trimEnd().split(/\r?\n/)
    expect(headers['content-disposition']).toContain('votes.csv')
    expect(head).toBe('user.name,user.username,tags,createdAt,through.number,user.userId,voteId')
    expect([lines.length, lines.filter((line) => line.includes('"Beta, VIP"')).length]).toEqual([4, 1])
    const rows = (await get('/export/posts/1/votes?format=jsonl&created=asc')).text.trimEnd().split('\n')
    expect(rows.map((row) => JSON.parse(row).tags)).toEqual([[], ['Beta', 'VIP'], ['vip'], []])
    const team = (await site.member(['dashboard:read'])).token
    expect((await get('/export/posts/1/votes', team)).text).not.toContain('VIP')
    const visitor = await site.http('GET /export/posts/1/votes')
    expect([visitor.status, visitor.text.trimEnd().split(/\r?\n/).length]).toEqual([200, 1]) // the board hides them
    expect((await get('/export/posts/nothing/votes', reader)).status).toBe(404)
  })
})
