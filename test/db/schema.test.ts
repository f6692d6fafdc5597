import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { Migrator, sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import { connect, rolledBack, transaction } from '../../src/db/connect.js'
import { migrations } from '../../src/db/migrations/index.js'
import { migrate } from '../../src/db/migrate.js'
import { NEWEST, schemaState } from '../../src/db/schema.js'
import { claimFingerprint } from '../../src/db/settings.js'
import { newUser } from '../../src/service/lib/people.js'
import { cleanup, engines, failure, makeDatabase, temporaryFolder } from '../support/site.js'

it('has every migration of the folder, in order', () => {
  const files = readdirSync(path.resolve(import.meta.dirname, '../../src/db/migrations'))
  const numbered = files.filter((file) => /^\d/.test(file)).map((file) => path.parse(file).name)
  expect(Object.keys(migrations)).toEqual(numbered.toSorted())
})

describe.each(engines)('the schema on %s', (engine) => {
  const open = async ({ bare = true } = {}) => {
    const url = await makeDatabase(engine, temporaryFolder(), { bare })
    const connection = async () => {
      const opened = await connect(url)
      cleanup(() => opened.destroy())
      return opened
    }
    const db = await connection()
    // SQLite has one connection per process. Tests of the CLI cover several processes.
    return { db, connection: engine === 'sqlite' ? async () => db : connection }
  }

  it('is migrated once, and then current', async () => {
    const { db } = await open()
    expect(await schemaState(db)).toBe('outdated')
    expect(await migrate(db)).toEqual(Object.keys(migrations))
    expect(await schemaState(db)).toBe('current')
    expect(await migrate(db)).toEqual([])
  })

  it('is migrated once by concurrent connections', async () => {
    const { connection } = await open()
    const connections = await Promise.all(Array.from({ length: 5 }, connection))
    const applied = await Promise.all(connections.map((each) => migrate(each)))
    expect(applied.flat()).toEqual(Object.keys(migrations))
    expect((await connections[0]!.selectFrom('settings').selectAll().execute()).length).toBe(1)
  })

  it('is unchanged after a failed migration', async () => {
    const { db } = await open()
    const original = migrations['0001_trunk']!
    migrations['0001_trunk'] = {
      async up(inside) {
        await original.up(inside)
        throw new Error('power cut')
      },
    }
    try {
      await expect(migrate(db)).rejects.toThrow('power cut')
    } finally {
      migrations['0001_trunk'] = original
    }
    await expect(db.selectFrom('users').selectAll().execute()).rejects.toThrow(/users/)
    expect(await migrate(db)).toEqual(Object.keys(migrations))
  })

  it('migrates users and boards of the first version, and counts them', async () => {
    const { db } = await open()
    const { error } = await new Migrator({ db, provider: { getMigrations: async () => migrations } }).migrateTo(
      '0001_trunk',
    )
    expect(error).toBeUndefined()
    const person = { ...newUser(new Date(), { email: 'ada@example.org', name: 'Ada', password: '!' }), isOwner: 1 }
    await db.insertInto('users').values(person).execute()
    const board = { boardId: newId(), name: 'Ideas', nameFolded: 'ideas', url: 'ideas', color: 'aaaaaa', display: 0, view_voters: 1, createdAt: '', updatedAt: '' } // prettier-ignore
    await db.insertInto('boards').values(board).execute()
    expect(await migrate(db)).toEqual(Object.keys(migrations).slice(1))
    expect(await db.selectFrom('users').select(['email', 'post_count', 'vote_count', 'sessions']).execute()).toEqual([{ email: 'ada@example.org', post_count: 0, vote_count: 0, sessions: 0 }]) // prettier-ignore
    expect(
      await db
        .selectFrom('counters')
        .selectAll()
        .where('name', 'in', ['users', 'boards', 'boards.public'])
        .orderBy('name')
        .execute(),
    ).toEqual([
      { name: 'boards', value: 1 },
      { name: 'boards.public', value: 0 },
      { name: 'users', value: 1 },
    ])
    const post = { postId: newId(), title: 't', slug: 's', slugId: 's', contentMarkdown: null, userId: person.userId, boardId: board.boardId, roadmap_id: null, createdAt: '', updatedAt: '' } // prettier-ignore
    await db.insertInto('posts').values(post).execute()
    expect(await db.selectFrom('posts').select('display').execute()).toEqual([{ display: 0 }])
    expect(await db.selectFrom('boards').select('post_count').execute()).toEqual([{ post_count: 1 }])
  })

  it('migrates votes and post counts, and continues to count', async () => {
    const { db } = await open()
    await new Migrator({ db, provider: { getMigrations: async () => migrations } }).migrateTo('0003_fewer_indexes')
    const [ada, bob] = ['ada', 'bob'].map((name) => ({
      ...newUser(new Date(), { email: `${name}@example.org`, name, password: '!' }),
    }))
    await db.insertInto('users').values([ada!, bob!]).execute()
    const post = { postId: newId(), title: 't', slug: 's', slugId: 's', contentMarkdown: null, userId: ada!.userId, boardId: null, roadmap_id: null, createdAt: '', updatedAt: '' } // prettier-ignore
    await db.insertInto('posts').values(post).execute()
    const vote = ({ userId }: { userId: string }) => ({ voteId: newId(), userId, postId: post.postId, createdAt: '' })
    const first = vote(ada!)
    await db.insertInto('votes').values(first).execute()
    const counts = () => db.selectFrom('post_counts').selectAll().orderBy('board').orderBy('roadmap').execute()
    const before = await counts()
    expect(await migrate(db)).toEqual(Object.keys(migrations).slice(3))
    expect(await db.selectFrom('votes').selectAll().execute()).toEqual([{ ...first, fromPostId: null }])
    expect(await counts()).toEqual(before)
    await db.insertInto('votes').values(vote(bob!)).execute()
    await expect(db.insertInto('votes').values(vote(bob!)).execute()).rejects.toThrow(/unique/i)
    expect(await db.selectFrom('posts').select('votesCount').execute()).toEqual([{ votesCount: 2 }])
    await db
      .insertInto('posts')
      .values({ ...post, postId: newId(), slug: 's2', slugId: 's2' })
      .execute()
    expect((await counts()).map(({ value }) => value)).toEqual(before.map(({ value }) => value + 1))
    await db.deleteFrom('users').where('userId', '=', bob!.userId).execute()
    expect(await db.selectFrom('posts').select('votesCount').where('postId', '=', post.postId).execute()).toEqual([
      { votesCount: 1 },
    ])
  })

  it('rewrites stored texts whose HTML would be shown as HTML, and titles with characters that nobody sees', async () => {
    const { db } = await open()
    await new Migrator({ db, provider: { getMigrations: async () => migrations } }).migrateTo('0006_job_leases')
    const ada = newUser(new Date(), { email: 'ada@example.org', name: 'A\u202eda', password: '!' })
    await db.insertInto('users').values(ada).execute()
    const post = (number: number, title: string, contentMarkdown: string | null) => ({ postId: newId(), title, slug: `${number}`, slugId: `${number}`, contentMarkdown, userId: ada.userId, boardId: null, roadmap_id: null, createdAt: '', updatedAt: '' }) // prettier-ignore
    await db
      .insertInto('posts')
      .values([
        post(0, 'a\u200bb', '<img src=x onerror=alert(1)> `<b>`'),
        post(1, '\u200b', null),
        ...Array.from({ length: 1100 }, (_, number) => post(number + 2, 't', `<b>${number}`)),
      ])
      .execute()
    expect((await migrate(db))[0]).toBe('0007_plain_text')
    const stored = await db.selectFrom('posts').select(['title', 'contentMarkdown']).orderBy('postId').execute()
    expect(stored.slice(0, 2)).toEqual([
      { title: 'ab', contentMarkdown: '&lt;img src=x onerror=alert(1)> `<b>`' },
      { title: '\u200b', contentMarkdown: null },
    ])
    expect(stored.slice(2).map(({ contentMarkdown }) => contentMarkdown)).toEqual(
      Array.from({ length: 1100 }, (_, number) => `&lt;b>${number}`),
    )
    expect(await db.selectFrom('users').select('name').execute()).toEqual([{ name: 'Ada' }])
  })

  it('numbers the stored posts in the order they came, and logs each insertion once', async () => {
    const { db } = await open()
    await new Migrator({ db, provider: { getMigrations: async () => migrations } }).migrateTo('0010_audit')
    const post = (title: string, createdAt: string) => ({ postId: newId(), title, slug: title, slugId: title, contentMarkdown: null, userId: null, boardId: null, roadmap_id: null, createdAt, updatedAt: '' }) // prettier-ignore
    await db
      .insertInto('posts')
      .values([post('third', '2026-03'), post('first', '2026-01'), post('second', '2026-02')])
      .execute()
    await migrate(db)
    await db
      .insertInto('posts')
      .values([post('fourth', '2025-01')])
      .execute()
    await db.deleteFrom('posts').where('title', '=', 'fourth').execute()
    await db.deleteFrom('row_changes').execute()
    const fifth = post('fifth', '2027-01')
    await db.insertInto('posts').values(fifth).execute()
    expect(await db.selectFrom('posts').select(['number', 'title']).orderBy('number').execute()).toEqual([
      { number: 1, title: 'first' },
      { number: 2, title: 'second' },
      { number: 3, title: 'third' },
      { number: 5, title: 'fifth' },
    ])
    const logged = () => db.selectFrom('row_changes').select('ref').where('topic', '=', 'posts').execute()
    expect(await logged()).toEqual([{ ref: fifth.postId }])
    await db.updateTable('posts').set({ number: 6 }).where('number', '=', 5).execute()
    expect(await logged()).toEqual([{ ref: fifth.postId }, { ref: fifth.postId }])
    await expect(db.updateTable('posts').set({ number: 6 }).where('number', '=', 1).execute()).rejects.toThrow(
      /unique/i,
    )
  })

  it('counts the stored comments that everybody sees, and weighs the stored votes', async () => {
    const { db } = await open()
    await new Migrator({ db, provider: { getMigrations: async () => migrations } }).migrateTo('0016_search')
    const ada = newUser(new Date(), { email: 'ada@example.org', name: 'Ada', password: '!' })
    await db.insertInto('users').values(ada).execute()
    const [then, later] = ['2036-01-01T00:00:00.000Z', '2036-01-08T00:00:00.000Z']
    const post = { postId: newId(), title: 't', slug: 's', slugId: 's', contentMarkdown: null, userId: null, boardId: null, roadmap_id: null, createdAt: then, updatedAt: then } // prettier-ignore
    await db.insertInto('posts').values(post).execute()
    const comment = (is_internal: number, is_spam = 0) => ({ id: newId(), post_id: post.postId, parent_id: null, author_id: null, body: 'x', is_internal, is_spam, created_at: then, updated_at: then }) // prettier-ignore
    await db
      .insertInto('comments')
      .values([comment(0), comment(0), comment(1), comment(0, 1)])
      .execute()
    const vote = { voteId: newId(), userId: ada.userId, postId: post.postId, createdAt: later }
    await db.insertInto('votes').values(vote).execute()
    await migrate(db)
    const counts = () => db.selectFrom('posts').select(['commentsCount', 'trending']).executeTakeFirst()
    expect(await counts()).toEqual({ commentsCount: 2, trending: 3 })
    await db.deleteFrom('votes').execute()
    await db.deleteFrom('comments').execute()
    expect(await counts()).toEqual({ commentsCount: 0, trending: 1 })
    for (const [index, createdAt] of ['', '0001-01-01T00:00:00.000Z', '9999-12-31T00:00:00.000Z'].entries())
      await db
        .insertInto('posts')
        .values({ ...post, postId: newId(), slug: `s${index}`, slugId: `s${index}`, createdAt })
        .execute()
  })

  it('gives new user names to people whose name tells of their address, also where that starts with user_', async () => {
    const { db } = await open()
    await new Migrator({ db, provider: { getMigrations: async () => migrations } }).migrateTo('0012_totp')
    const named = { user_x_k4q302cx: 'changed', ada_k4q302cx: 'changed', user_k4q302cx: 'kept', ada: 'kept' }
    const person = (username: string) => ({ userId: newId(), name: '', username, email: username, password: '', avatar: '', isVerified: 0, isBlocked: 0, isOwner: 0, createdAt: '', updatedAt: '' }) // prettier-ignore
    await db.insertInto('users').values(Object.keys(named).map(person)).execute()
    await migrate(db)
    const rows = await db.selectFrom('users').select(['email', 'username']).execute()
    expect(
      Object.fromEntries(rows.map(({ email, username }) => [email, email === username ? 'kept' : 'changed'])),
    ).toEqual(named)
    const former = await db.selectFrom('former_usernames').select('username').orderBy('username').execute()
    expect(former).toEqual([{ username: 'ada_k4q302cx' }, { username: 'user_x_k4q302cx' }])
  })

  it('gives roadmaps that are there their kind, by the name and then by the url', async () => {
    const { db } = await open()
    await new Migrator({ db, provider: { getMigrations: async () => migrations } }).migrateTo('0053_own_mentions')
    const kinds = { 'Under review': 'open', Planned: 'planned', 'In progress': 'active', Complete: 'done', '🎉 Live!': 'done', "Won't do": 'declined', 'In Prüfung': 'open', 'In Arbeit': 'active', 'Nicht geplant': 'declined', 計画: 'planned', ['x'.repeat(50)]: 'open' } // prettier-ignore
    for (const [index, name] of Object.keys(kinds).entries())
      await db.insertInto('roadmaps').values({ id: newId(), name, nameFolded: name, url: name === '計画' ? 'coming-soon' : `${index}`, index, color: '', display: 1, created_at: '', updated_at: '' }).execute() // prettier-ignore
    await migrate(db)
    const rows = await db.selectFrom('roadmaps').select(['name', 'kind']).execute()
    expect(Object.fromEntries(rows.map(({ name, kind }) => [name, kind]))).toEqual(kinds)
  })

  it('is rejected if a newer version has migrated it', async () => {
    const { db } = await open({ bare: false })
    await sql`insert into kysely_migration (name, timestamp) values ('9999_future', '2030')`.execute(db)
    expect(await schemaState(db)).toBe('newer')
    expect((await failure(migrate(db))).code).toBe('DATABASE_NEWER')
  })

  it('allows only one owner', async () => {
    const { db } = await open({ bare: false })
    const user = (userId: string, isOwner: number) => ({
      userId,
      name: '',
      username: userId,
      email: userId,
      password: '',
      avatar: '',
      isVerified: 0,
      isBlocked: 0,
      isOwner,
      createdAt: '',
      updatedAt: '',
    })
    await db
      .insertInto('users')
      .values([user('a', 1), user('b', 0), user('c', 0)])
      .execute()
    await expect(db.insertInto('users').values(user('d', 1)).execute()).rejects.toThrow(/unique/i)
    await expect(db.updateTable('users').set({ isOwner: 1 }).where('userId', '=', 'b').execute()).rejects.toThrow(
      /unique/i,
    )
  })

  it('returns the result of work that is rolled back, and keeps none of its writes', async () => {
    const { db } = await open({ bare: false })
    const result = await rolledBack(db, async (outer) =>
      transaction(outer, async (inner) =>
        inner.updateTable('settings').set({ title: 'X' }).returning('title').executeTakeFirst(),
      ),
    )
    expect(result).toEqual({ title: 'X' })
    expect(await db.selectFrom('settings').select('title').execute()).toEqual([{ title: 'Feedback' }])
    await expect(rolledBack(db, async () => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
  })

  it('stores one fingerprint if several are claimed at once', async () => {
    const { connection } = await open({ bare: false })
    const connections = await Promise.all(Array.from({ length: 4 }, connection))
    const claimed = await Promise.all(connections.map((each, index) => claimFingerprint(each, `print ${index}`)))
    expect(new Set(claimed).size).toBe(1)
    expect(claimed[0]).toMatch(/^print \d$/)
  })

  it('sorts text by code point, whatever the locale of the server', async () => {
    const { db } = await open({ bare: false })
    const board = (name: string) => ({
      boardId: name,
      name,
      nameFolded: name,
      url: name,
      color: '',
      display: 1,
      view_voters: 1,
      createdAt: '',
      updatedAt: '',
    })
    await db.insertInto('boards').values(['b', 'B', 'ä', 'a', '日', '😀'].map(board)).execute()
    const rows = await db.selectFrom('boards').select('name').orderBy('nameFolded').execute()
    expect(rows.map((row) => row.name)).toEqual(['B', 'a', 'b', 'ä', '日', '😀'])
  })
})

it('NEWEST is the last migration', () => {
  expect(Object.keys(migrations).toSorted().at(-1)).toBe(NEWEST)
})

it('only its owner can read a database file', async () => {
  const folder = temporaryFolder()
  const file = path.join(folder, 'data', 'feedback.db')
  const db = await connect(`sqlite:${file}`)
  await migrate(db)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700)
  await db.destroy()
})

describe('an unusable database', () => {
  it.each([
    ['sqlite:/etc/passwd/feedback.db', 'DATABASE_UNUSABLE', 1],
    ['sqlite:/etc/passwd', 'DATABASE_UNUSABLE', 1],
    ['postgres://someone:hidden@127.0.0.1:1/none', 'DATABASE_UNREACHABLE', 6],
  ])('%s is reported without the password', async (url, code, exit) => {
    const db = await connect(url)
    const error = await failure(schemaState(db))
    expect([error.code, error.exit]).toEqual([code, exit])
    expect(error.message).not.toContain('hidden')
    await db.destroy()
  })
})
