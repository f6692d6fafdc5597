import assert from 'node:assert/strict'
import fc from 'fast-check'
import { sql, type RawBuilder } from 'kysely'
import { describe, expect, it } from 'vitest'
import { miscounts } from '../../src/db/recount.js'
import { leftovers, misindexed } from '../../src/db/searchcheck.js'
import { unindexed } from '../../src/db/searchindex.js'
import * as answers from '../../src/service/answers.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as follows from '../../src/service/follows.js'
import { operator } from '../../src/service/lib/access.js'
import * as merges from '../../src/service/merges.js'
import * as posts from '../../src/service/posts.js'
import * as settings from '../../src/service/settings.js'
import * as votes from '../../src/service/votes.js'
import { assertProperty } from '../support/properties.js'
import { engines, makeSite, type Engine, type TestSite } from '../support/site.js'

const TABLES = ['posts', 'votes', 'merged_votes', 'comments', 'mentions', 'follows', 'merges', 'notifications', 'users', 'post_counts'] as const // prettier-ignore

/** All that a merge may touch, as texts. The score of a post is a sum of numbers, which may differ in the last digit. */
async function stateOf({ db }: TestSite): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const table of TABLES) {
    const rows = await db.selectFrom(table).selectAll().execute()
    found[table] = rows
      .map((row) =>
        JSON.stringify(
          Object.entries(row)
            .filter(([name]) => name !== 'trending')
            .toSorted(([one], [other]) => (one < other ? -1 : 1)),
        ),
      )
      .filter((row) => !/"value",0\]/.test(row))
      .toSorted()
  }
  return found
}

async function makeWorld(engine: Engine) {
  const site = await makeSite(engine, { rates: {} })
  const owner = await site.owner()
  await site.call(boards.create, { name: 'Ideas', display: true })
  await site.call(boards.create, { name: 'Vault', display: false })
  const people: { userId: string; token: string }[] = []
  for (let at = 0; at < 4; at++) people.push(await site.member([]))
  const as = (at: number) => site.callAs({ ...operator, userId: people[at]?.userId ?? null })
  const later = () => (site.clock.now = new Date(site.clock.now.getTime() + 1000))
  const write = async (at: number, title: string, boardId = 'ideas') => {
    later()
    return (await as(at)(posts.create, { title, contentMarkdown: `About ${title}`, boardId })).post
  }
  const vote = async (at: number, post: { postId: string }) => {
    later()
    await as(at)(votes.add, { postId: post.postId })
  }
  const say = async (at: number, post: { postId: string }, body: string, parent_id?: string) => {
    later()
    return (await as(at)(comments.create, { post_id: post.postId, body, ...(parent_id && { parent_id }) })).activity.id
  }
  const votersOf = async (post: { postId: string }) => {
    const { votes: { results } } = await site.call(votes.list, { post_id: post.postId }) // prettier-ignore
    return results
      .map(({ user }) => people.findIndex(({ userId }) => userId === user.userId))
      .toSorted((one, other) => one - other)
  }
  const merge = (into: { postId: string }, ...given: { postId: string }[]) => {
    later()
    return site.call(merges.merge, { ids: given.map(({ postId }) => postId), into: into.postId })
  }
  const unmerge = (...given: { postId: string }[]) => site.call(merges.unmerge, { ids: given.map(({ postId }) => postId) }) // prettier-ignore
  return { site, owner, people, as, write, vote, say, votersOf, merge, unmerge }
}

describe.each(engines)('merging posts on %s', (engine) => {
  it('brings each voter once, the comments and followers, leads there, and is taken back exactly', async () => {
    const { site, write, vote, say, votersOf, merge, unmerge, as, people } = await makeWorld(engine)
    const [other, stays] = [await write(0, 'Night theme'), await write(1, 'Dark mode')]
    await vote(2, stays)
    await vote(2, other)
    await vote(3, other)
    const first = await say(3, other, 'Please')
    await say(1, stays, 'Soon')
    await say(0, other, 'Thanks', first)
    const before = await stateOf(site)

    expect(await merge(stays, other)).toMatchObject({
      changed: 1,
      outcomes: [{ number: 1, outcome: 'changed', moved: { votes: 3, comments: 2 } }],
    })
    expect(await votersOf(stays)).toEqual([0, 1, 2, 3])
    const { post } = await site.call(posts.show, { id: '1' })
    expect(post).toMatchObject({ number: 2, commentsCount: 3, voters: { votesCount: 4 } })
    const { activity } = await site.call(comments.list, { post_id: '2' })
    expect(activity.map(({ comment }) => [comment.body, comment.from_post?.number])).toEqual([
      ['Thanks', 1],
      ['Soon', undefined],
      ['Please', 1],
    ])
    expect((await site.call(posts.list, {})).posts.map(({ number }) => number)).toEqual([2])
    expect((await site.call(posts.list, { boardId: ['ideas'] })).total_count).toBe(1)
    const found = async (words: string) => (await site.call(posts.search, { words })).posts.map(({ number }) => number)
    expect(await found('night')).toEqual([2])
    expect((await site.call(posts.similar, { title: 'Night colours' })).posts).toMatchObject([{ number: 2 }])
    expect((await site.http('GET /search?query=night')).body.hits).toMatchObject([{ post: { number: 2 } }])
    expect(await as(0)(follows.followed, { post_id: '2' })).toMatchObject({ following: true })
    expect((await site.call(merges.list, { post_id: '2' })).merged).toMatchObject([
      { number: 1, title: 'Night theme', contentMarkdown: 'About Night theme', author: { userId: people[0]?.userId } },
    ])
    expect(await miscounts(site.db)).toEqual([])

    expect(await unmerge(other)).toMatchObject({ changed: 1 })
    expect(await found('night')).toEqual([1])
    expect(await stateOf(site)).toEqual(before)
    expect(await miscounts(site.db)).toEqual([])
  })

  it('moves each voter once, whichever of their two votes is the older', async () => {
    const { site, owner, write, vote, votersOf } = await makeWorld(engine)
    const [older, newer] = [await write(0, 'Night theme'), await write(0, 'Dark mode')]
    await vote(1, older)
    await vote(2, newer)
    await vote(2, older)
    await vote(3, newer)
    const mergedIn = async (post: { postId: string }, into: { postId: string }) =>
      (await site.http('POST /posts/merge', { token: owner, body: { ids: [post.postId], into: into.postId }, headers: { 'feedbackctl-dry-run': 'true' } })).body.outcomes // prettier-ignore
    expect(await mergedIn(older, newer)).toMatchObject([{ moved: { votes: 3, comments: 0 } }])
    expect(await mergedIn(newer, older)).toMatchObject([{ moved: { votes: 3, comments: 0 } }])
    expect(await votersOf(newer)).toEqual([0, 2, 3])
  })

  it('votes and comments on the post that stays, changes and deletes neither by the name of the merged one', async () => {
    const { site, owner, write, vote, say, votersOf, merge, unmerge } = await makeWorld(engine)
    const [other, stays] = [await write(0, 'Night theme'), await write(1, 'Dark mode')]
    await merge(stays, other)
    await vote(3, other)
    await say(3, other, 'Me too')
    await site.call(posts.update, { id: stays.postId, title: 'Dark colours' })
    expect(await site.call(posts.search, { words: 'night' })).toMatchObject({ posts: [{ number: 2 }] })
    expect(await votersOf(stays)).toEqual([0, 1, 3])
    for (const line of ['PATCH /posts', 'DELETE /posts'])
      expect(await site.http(line, { token: owner, body: { id: other.postId, title: 'Mine' } })).toMatchObject({ status: 409, body: { code: 'POST_MERGED' } }) // prettier-ignore
    const moved = await site.http('POST /posts/move', { token: owner, body: { ids: [other.postId], boardId: 'none' } })
    expect(moved.body.outcomes).toMatchObject([{ outcome: 'failed', error: { code: 'POST_MERGED' } }])
    await unmerge(other)
    expect([await votersOf(stays), await votersOf(other)]).toEqual([[1, 3], [0]])
    expect((await site.call(comments.list, { post_id: stays.postId })).activity).toHaveLength(1)
  })
})

describe.each(engines)('chains of merges on %s', (engine) => {
  it('lead to the post that stays, and each is taken back with what was merged into it', async () => {
    const { site, write, vote, votersOf, merge, unmerge } = await makeWorld(engine)
    const [one, two, three] = [await write(0, 'One'), await write(1, 'Two'), await write(2, 'Three')]
    for (const post of [one, two, three]) await vote(3, post)
    const before = await stateOf(site)
    await merge(two, three)
    const between = await stateOf(site)
    await merge(one, two)
    expect((await site.call(posts.show, { id: '3' })).post.number).toBe(1)
    expect(await votersOf(one)).toEqual([0, 1, 2, 3])
    expect((await site.call(merges.list, { post_id: '3' })).merged.map(({ number }) => number)).toEqual([2, 3])
    // A circle, and a post that is merged already
    expect(await merge(three, one)).toMatchObject({ failed: 1, outcomes: [{ error: { code: 'MERGE_REFUSED' } }] })
    expect(await merge(one, three)).toMatchObject({ changed: 0, failed: 0 })
    await unmerge(two)
    expect(await stateOf(site)).toEqual(between)
    expect((await site.call(posts.show, { id: '3' })).post.number).toBe(2)
    await unmerge(three)
    expect(await stateOf(site)).toEqual(before)
    expect(await unmerge(three)).toMatchObject({ failed: 1, outcomes: [{ error: { code: 'POST_NOT_MERGED' } }] })
  })

  it('part in the middle, and a vote that is withdrawn is none of any of them', async () => {
    const { site, write, vote, votersOf, merge, unmerge, people } = await makeWorld(engine)
    const [one, two, three] = [await write(0, 'One'), await write(1, 'Two'), await write(2, 'Three')]
    for (const post of [three, two, one]) await vote(3, post)
    await merge(two, three)
    await merge(one, two)
    await unmerge(three)
    expect([await votersOf(one), await votersOf(two), await votersOf(three)]).toEqual([
      [0, 1, 3],
      [0, 1, 3],
      [2, 3],
    ])
    await merge(one, three)
    const token = people[3]?.token ?? ''
    expect((await site.http('DELETE /votes', { token, body: { postId: three.postId } })).status).toBe(200)
    await unmerge(two, three)
    expect([await votersOf(one), await votersOf(two), await votersOf(three)]).toEqual([[0], [1], [2]])
    expect(await miscounts(site.db)).toEqual([])
  })

  it('are deleted with the post that stays, and of a deleted merged one the votes stay', async () => {
    const { site, write, merge, votersOf } = await makeWorld(engine)
    const [one, two, three] = [await write(0, 'One'), await write(1, 'Two'), await write(2, 'Three')]
    await merge(one, two)
    await site.db.deleteFrom('posts').where('postId', '=', two.postId).execute()
    expect(await votersOf(one)).toEqual([0, 1])
    await merge(one, three)
    await site.call(posts.remove, { id: one.postId })
    for (const table of ['posts', 'votes', 'merged_votes', 'merges'] as const)
      expect([table, await site.db.selectFrom(table).selectAll().execute()]).toEqual([table, []])
    expect(await miscounts(site.db)).toEqual([])
  })

  it('keep an answer each, and show nothing of a private post', async () => {
    const { site, owner, write, say, merge, unmerge } = await makeWorld(engine)
    const [one, two] = [await write(0, 'One'), await write(1, 'Two')]
    const answer = async (post: { postId: string }) => {
      const id = await say(2, post, `Answer of ${post.postId}`)
      await site.call(answers.answer, { post_id: post.postId, comment_id: id })
      return id
    }
    const [first, second] = [await answer(one), await answer(two)]
    const answersOf = async (post: { postId: string }) =>
      (await site.call(comments.list, { post_id: post.postId, official: true })).activity.map(({ id }) => id)
    await merge(one, two)
    expect(await answersOf(one)).toEqual([first])
    await unmerge(two)
    expect([await answersOf(one), await answersOf(two)]).toEqual([[first], [second]])

    await site.call(posts.update, { id: two.postId, boardId: 'vault', partial: true })
    expect(await merge(one, two)).toMatchObject({ failed: 1, outcomes: [{ error: { code: 'MERGE_REFUSED' } }] })
    await merge(two, one)
    const reader = await site.member(['post:update'])
    expect((await site.http('GET /posts/1/merged', { token: reader.token })).status).toBe(404)
    expect((await site.http('POST /posts/unmerge', { token: reader.token, body: { ids: ['1'] } })).body.failed).toBe(1)
    expect((await site.http('GET /posts/1/merged', { token: owner })).body.merged).toHaveLength(1)
    await unmerge(one)
    await merge(one, await write(3, 'Three'))
    await site.call(boards.update, { boardId: 'ideas', name: 'Ideas', url: 'ideas', display: false })
    await site.call(posts.update, { id: one.postId, boardId: null, partial: true })
    expect((await site.http('GET /posts/1/merged')).body).toMatchObject({ merged: [], total_count: 0 })
    const { merged } = (await site.http('GET /posts/1/merged', { token: owner })).body
    expect(merged).toHaveLength(1)
    // The id of one that the reader may not see is no cursor
    const after = `GET /posts/1/merged?after=${merged[0].postId}`
    expect([(await site.http(after, { token: owner })).status, (await site.http(after)).status]).toEqual([200, 400])
  })

  it('take ten thousand voters into a post with ten thousand', async () => {
    const { site, write, merge, unmerge } = await makeWorld(engine)
    const [one, two] = [await write(0, 'One'), await write(1, 'Two')]
    const people = (from: number, to: number, columns: RawBuilder<unknown>, rest = sql``) =>
      sql`with recursive numbers(n) as (select ${sql.lit(from)} union all select n + 1 from numbers where n < ${sql.lit(to - 1)})
        select ${columns} from numbers ${rest}`
    const id = (start: string) => sql.raw(`'${start}-0000-7000-8000-' || (100000000000 + n)`)
    const [person] = await site.db.selectFrom('users').selectAll().limit(1).execute()
    assert(person)
    const own = ['userId', 'username', 'email', 'searchText']
    const columns = Object.keys(person)
    const values = columns.map(
      (name) =>
      own.includes(name) ? id('01a00000') : ['isOwner', 'post_count', 'vote_count'].includes(name) ? sql`0` : sql.ref(`users.${name}`), // prettier-ignore
    )
    const users = people(0, 15_000, sql.join(values), sql`cross join users where users."userId" = ${person.userId}`)
    await sql`insert into users (${sql.join(columns.map((name) => sql.ref(name)))}) ${users}`.execute(site.db)
    for (const [post, from] of [
      [one, 0],
      [two, 5000],
    ] as const) {
      const given = sql`${id(`0${post.number + 1}a00000`)}, ${id('01a00000')}, ${sql.lit(post.postId)}, '2026-03-02T10:00:00.000Z'`
      await sql`insert into votes ("voteId", "userId", "postId", "createdAt") ${people(from, from + 10_000, given)}`.execute(site.db) // prettier-ignore
    }
    const before = await stateOf(site)
    expect(await merge(one, two)).toMatchObject({ outcomes: [{ moved: { votes: 10_001 } }] })
    expect((await site.call(posts.show, { id: '2' })).post.voters.votesCount).toBe(15_002)
    const { rows } = await sql`select count(*) as count from votes where "postId" = ${one.postId}`.execute(site.db)
    expect(rows).toEqual([{ count: 15_002 }])
    expect(await miscounts(site.db)).toEqual([])
    await unmerge(two)
    expect(await stateOf(site)).toEqual(before)
    expect(await miscounts(site.db)).toEqual([])
  })
})

const POSTS = 4
const post = fc.nat(POSTS - 1)
const person = fc.nat(3)
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('merge' as const), of: fc.uniqueArray(post, { minLength: 1, maxLength: 3 }), into: post, takesBack: fc.boolean() }) }, // prettier-ignore
  { weight: 3, arbitrary: fc.record({ does: fc.constant('unmerge' as const), at: post }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('vote' as const), at: post, by: person }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('unvote' as const), at: post, by: person }) },
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constant('say' as const), at: post, by: person, isReply: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constant('follow' as const), at: post, by: person, follows: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('delete' as const), at: post }) },
)

it.each(engines)('after any merges and votes on %s the counts are those of the rows', async (engine) => {
  await assertProperty(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      const { site, owner, people, write } = await makeWorld(engine)
      const ids: string[] = []
      for (let at = 0; at < POSTS - 1; at++) ids.push((await write(at, `Post ${at}`)).postId)
      await site.call(settings.update, { holdFirstPosts: true })
      const last = await site.http('POST /posts', { token: people.at(-1)?.token, body: { title: 'Held', boardId: 'ideas' } }) // prettier-ignore
      const heldId = last.body.post.postId
      ids.push(heldId)
      await site.call(settings.update, { holdFirstPosts: false })
      for (const todo of steps) {
        site.clock.now = new Date(site.clock.now.getTime() + 1000)
        const id = 'at' in todo ? (ids[todo.at] ?? '') : ''
        const token = 'by' in todo ? (people[todo.by]?.token ?? '') : owner
        if (todo.does === 'merge') {
          const before = await stateOf(site)
          const answer = await site.http('POST /posts/merge', { token, body: { ids: todo.of.map((at) => ids[at]), into: ids[todo.into] } }) // prettier-ignore
          assert([200, 404].includes(answer.status))
          if (todo.takesBack && answer.body.undo) {
            const back = await site.http(`POST /undo/${answer.body.undo.undo_id}`, { token, body: {} })
            assert.equal(back.body.failed, 0)
            assert.deepEqual(await stateOf(site), before)
          }
        } else if (todo.does === 'unmerge') await site.http('POST /posts/unmerge', { token, body: { ids: [id] } })
        else if (todo.does === 'say') {
          const { body } = await site.http(`GET /posts/${id}/activity`)
          const parent = todo.isReply ? body.activity?.[0]?.id : undefined
          await site.http(`POST /posts/${id}/comments`, { token, body: { body: 'A word', ...(parent && { parent_id: parent }) } }) // prettier-ignore
        } else if (todo.does === 'follow')
          await site.http(`${todo.follows ? 'PUT' : 'DELETE'} /posts/${id}/follow`, { token }) // prettier-ignore
        else if (todo.does === 'delete') await site.http('DELETE /posts', { token, body: { id } })
        else await site.http(`${todo.does === 'vote' ? 'POST' : 'DELETE'} /votes`, { token, body: { postId: id } })
        assert.deepEqual(await miscounts(site.db), [])
        const repeated = await sql`select 1 from merged_votes where not exists (select 1 from votes where votes."userId" = merged_votes."userId" and votes."postId" = (select coalesce((select "rootId" from merges where merges."postId" = merged_votes."postId"), merged_votes."postId")))`.execute(site.db) // prettier-ignore
        assert.deepEqual(repeated.rows, [])
        assert((await site.db.selectFrom('posts').select('display').where('postId', '=', heldId).execute()).every(({ display }) => display !== 1)) // prettier-ignore
      }
      for (const kind of ['posts', 'comments'] as const)
        assert.deepEqual([await unindexed(site.db, kind), await misindexed(site.db, kind), await leftovers(site.db, kind)], [0, 0, 0]) // prettier-ignore
    }),
    { numRuns: 12 },
  )
})
