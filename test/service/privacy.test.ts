import { createHash } from 'node:crypto'
import { Migrator, sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import { connect } from '../../src/db/connect.js'
import { migrations } from '../../src/db/migrations/index.js'
import { migrate } from '../../src/db/migrate.js'
import { findUser } from '../../src/db/users.js'
import * as users from '../../src/service/users.js'
import { makeMachine } from '../support/cli.js'
import { cleanup, engines, failure, makeDatabase, makeSite, OWNER, temporaryFolder } from '../support/site.js'

const SITE = 'https://feedback.example.org/board' // see makeSite
const PASSWORD = 'correct horse battery'

describe.each(engines)('what visitors see of people on %s', (engine) => {
  it('tells nothing of their addresses', async () => {
    const site = await makeSite(engine)
    const { email, password } = OWNER
    const setup = await site.http('POST /auth/setup', { body: { email: 'canary.owner@example.org', password } })
    const { user: owner } = setup.body
    expect(owner).toMatchObject({ name: 'Owner', username: expect.stringMatching(/^owner_[0-9a-z]{8}$/) })
    const signup = async (body: object) =>
      (await site.http('POST /auth/signup', { body: { password, ...body } })).body.user
    const nameless = await signup({ email: 'canary.two@example.org' })
    expect(nameless).toMatchObject({ name: '', username: expect.stringMatching(/^user_[0-9a-z]{8}$/) })
    const named = await signup({ email, name: 'Zoë 李 of the Moon' })
    expect(named.username).toMatch(/^zo_of_the_moon_[0-9a-z]{8}$/)
    const post = { title: 'A wish', contentMarkdown: 'So much.' }
    const { body } = await site.http('POST /posts', { token: nameless.authToken, body: post })
    await site.http('POST /votes', { token: owner.authToken, body: { postId: body.post.postId } })
    await site.http(`POST /posts/${body.post.postId}/comments`, { token: owner.authToken, body: { body: 'Yes' } })
    for (const request of [
      'POST /posts/get',
      `GET /posts/${body.post.slug}`,
      `GET /posts/${body.post.postId}/activity`,
      `GET /posts/${body.post.postId}/votes`,
    ]) {
      const { text } = await site.http(request)
      const hashes = ['canary.owner@example.org', 'canary.two@example.org', email].flatMap((address) =>
        ['md5', 'sha256'].map((algorithm) => createHash(algorithm).update(address).digest('hex')),
      )
      for (const telling of ['canary', 'gravatar', '@', ...hashes]) expect(text).not.toContain(telling)
    }
    const { author } = (await site.http('POST /posts/get')).body.posts[0]
    expect(author.avatar).toBe(`${SITE}/api/v1/avatars/${nameless.userId}.svg`)
  })

  it('has a picture for each: initials, safe, kept for a year, shown by every site', async () => {
    const site = await makeSite(engine)
    const picture = async (name: string) => {
      const body = { email: `${newId()}@example.org`, password: PASSWORD, name }
      const { user } = (await site.http('POST /auth/signup', { body })).body
      const address = new URL(user.avatar).pathname
      expect(address).toMatch(/^\/board\/api\/v1\//) // which a proxy sends here, wherever it sends the rest
      const [shown, old] = [await site.http(`GET /${address}`), await site.http(`GET //avatars/${user.userId}.svg`)]
      expect(old.text).toBe(shown.text)
      return shown
    }
    const ada = await picture('Ada King of Lovelace')
    expect([ada.status, ada.text]).toEqual([200, expect.stringMatching(/^<svg xmlns=[^]*>AL<\/text><\/svg>\n$/)])
    expect(ada.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': "default-src 'none';frame-ancestors 'none';sandbox",
      'content-type': 'image/svg+xml; charset=utf-8',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
    })
    const letters = async (name: string) => />([^<]*)<\/text>/.exec((await picture(name)).text)?.[1]
    expect(await letters('李 小龙')).toBe('李小')
    expect(await letters('<script>alert(1)</script>')).toMatch(/^[A-Z0-9]{1,2}$/)
    expect(await letters('"><svg onload=x>')).toMatch(/^[A-Z0-9]{1,2}$/)
    expect(await letters('🦊')).toMatch(/^[A-Z0-9]{1,2}$/) // of the user name
  })

  it('has no picture of anybody else, and that of a deleted person is gone', async () => {
    const site = await makeSite(engine)
    const { userId } = await site.member()
    expect((await site.http(`GET /avatars/${userId}.svg`)).status).toBe(200)
    await site.call(users.remove, { user: userId, posts: 'keep' })
    for (const id of [userId, newId(), 'x', '..', '%2e%2e', `${userId}/x`]) {
      const { status, body } = await site.http(`GET /avatars/${id}.svg`)
      expect([id, status, body.code]).toEqual([id, 404, 'NOT_FOUND'])
    }
  })
})

describe.each(engines)('people of an earlier version on %s', (engine) => {
  const earlier = async () => {
    const url = await makeDatabase(engine, temporaryFolder(), { bare: true })
    const db = await connect(url)
    cleanup(() => db.destroy())
    const provider = { getMigrations: async () => migrations }
    await new Migrator({ db, provider }).migrateTo('0010_audit')
    const add = async (username: string, email: string) => {
      const id = newId()
      await sql`insert into users ("userId", name, username, email, password, avatar, "createdAt", "updatedAt")
        values (${id}, '', ${username}, ${email}, '', 'https://www.gravatar.com/avatar/0', '', '')`.execute(db)
      return id
    }
    return { db, add }
  }

  it('get user names that tell nothing, and are found by the old ones', async () => {
    const { db, add } = await earlier()
    const ada = await add('ada.king_gntl2ibc', 'ada.king@example.org')
    const eve = await add('eve_00000000', 'eve@example.net')
    const chosen = await add('mary_elizabeth', 'mary@example.org')
    const nothing = await add('user_12345678', '李@example.org')
    await migrate(db)
    const rows = await db.selectFrom('users').select(['userId', 'username', 'avatar']).execute()
    const of = (id: string) => rows.find(({ userId }) => userId === id)
    for (const id of [ada, eve]) expect(of(id)?.username).toMatch(/^user_[0-9a-f]{16}$/)
    expect(of(ada)?.username).not.toBe(of(eve)?.username)
    expect([of(chosen)?.username, of(nothing)?.username]).toEqual(['mary_elizabeth', 'user_12345678'])
    expect(rows.map(({ avatar }) => avatar)).toEqual(['', '', '', ''])
    expect((await findUser(db, 'ada.king_gntl2ibc'))?.userId).toBe(ada)
    expect((await findUser(db, of(ada)?.username ?? ''))?.userId).toBe(ada)
    expect(await findUser(db, 'ada.king_gntl2ib')).toBeUndefined()
  })

  it('keep their old names from everybody else, also when they are gone', async () => {
    const site = await makeSite(engine)
    const [ada, eve] = [await site.member(), await site.member()]
    await site.db.insertInto('former_usernames').values({ username: 'ada_00000000', userId: ada.userId }).execute()
    const rename = (user: string) => site.call(users.update, { user, username: 'ada_00000000' })
    const refused = await failure(rename(eve.userId))
    expect([refused.code, refused.message]).toEqual(['USERNAME_EXISTS', expect.stringContaining('taken')])
    expect((await site.call(users.show, { user: 'ada_00000000' })).user.userId).toBe(ada.userId)
    expect((await rename(ada.userId)).user.username).toBe('ada_00000000')
    await site.call(users.remove, { user: ada.userId, posts: 'keep' })
    expect((await failure(rename(eve.userId))).code).toBe('USERNAME_EXISTS')
    expect((await failure(site.call(users.show, { user: 'ada_00000000' }))).code).toBe('USER_NOT_FOUND')
  })
})

describe('setup', () => {
  it('calls the owner Owner, not by the address', async () => {
    const machine = await makeMachine('sqlite')
    const { stdout } = await machine.run(
      'setup --email canary@example.org --password-stdin --mail-url folder:mail --json',
      { stdin: `${PASSWORD}\n` },
    )
    const { user } = JSON.parse(stdout)
    expect([user.name, user.username]).toEqual(['Owner', expect.stringMatching(/^owner_/)])
  })
})
