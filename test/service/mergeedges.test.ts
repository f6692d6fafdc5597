import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { lock } from '../../src/db/counters.js'
import { mergePost } from '../../src/db/merges.js'
import { miscounts } from '../../src/db/recount.js'
import { up as publicWords } from '../../src/db/migrations/0083_public_words.js'
import { backfill, indexMissing, pendingKinds, unindexed } from '../../src/db/searchindex.js'
import { writeWords } from '../../src/db/search.js'
import * as answers from '../../src/service/answers.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as follows from '../../src/service/follows.js'
import { operator } from '../../src/service/lib/access.js'
import * as merges from '../../src/service/merges.js'
import * as moderation from '../../src/service/moderation.js'
import * as posts from '../../src/service/posts.js'
import * as undos from '../../src/service/undos.js'
import * as users from '../../src/service/users.js'
import * as votes from '../../src/service/votes.js'
import { cleanup } from '../support/cleanup.js'
import { untilLocked } from '../support/locks.js'
import { engines, makeSite, type Engine } from '../support/site.js'

async function makeWorld(engine: Engine) {
  const site = await makeSite(engine, { rates: {} })
  await site.owner()
  const people: { userId: string; token: string }[] = []
  for (let at = 0; at < 4; at++) people.push(await site.member([]))
  const as = (at: number) => site.callAs({ ...operator, userId: people[at]?.userId ?? null })
  const later = () => (site.clock.now = new Date(site.clock.now.getTime() + 1000))
  const write = async (at: number, title: string) => {
    later()
    return (await as(at)(posts.create, { title })).post
  }
  const say = async (at: number, post: { postId: string }, body: string) =>
    (await as(at)(comments.create, { post_id: post.postId, body })).activity.id
  const answer = async (at: number, post: { postId: string }) => {
    const id = await say(at, post, `Answer of ${post.postId}`)
    await site.call(answers.answer, { post_id: post.postId, comment_id: id })
    return id
  }
  const answersOf = async (post: { postId: string }) =>
    (await site.call(comments.list, { post_id: post.postId, official: true })).activity.map(({ id }) => id)
  const countOf = async (post: { postId: string }) =>
    (await site.call(posts.show, { id: post.postId })).post.voters.votesCount
  const merge = (into: { postId: string }, ...given: { postId: string }[]) => {
    later()
    return site.call(merges.merge, { ids: given.map(({ postId }) => postId), into: into.postId })
  }
  const unmerge = (...given: { postId: string }[]) => site.call(merges.unmerge, { ids: given.map(({ postId }) => postId) }) // prettier-ignore
  const following = async (at: number, post: { postId: string }) =>
    (await as(at)(follows.followed, { post_id: post.postId })).following
  return { site, people, as, write, say, answer, answersOf, countOf, merge, unmerge, following }
}

describe.each(engines)('a merge on %s', (engine) => {
  it.each([
    ['vote', 'POST /votes', {}],
    ['comment', 'POST /posts/ID/comments', { body: 'Me too' }],
    ['follower', 'PUT /posts/ID/follow', {}],
    ['report', 'POST /posts/ID/report', { reason: 'Spam' }],
  ] as const)('gets a %s that was on its way to the merged post', async (what, line, body) => {
    const { site, people, write, countOf, following } = await makeWorld(engine)
    const [other, stays] = [await write(0, 'Night theme'), await write(1, 'Dark mode')]
    const beside = await connect(site.databaseUrl)
    cleanup(() => beside.destroy())
    let answering: ReturnType<typeof site.http> | undefined
    await beside.transaction().execute(async (db) => {
      await lock(db, 'post_counts')
      await mergePost(db, { postId: other.postId, intoId: stays.postId, at: site.clock.now.toISOString(), by: null })
      const request = {
        token: people[2]?.token,
        body: { ...body, ...(line === 'POST /votes' && { postId: other.postId }) },
      }
      await untilLocked(engine, site.db, () => (answering = site.http(line.replace('ID', other.postId), request)))
    })
    expect((await answering)?.status).toBeLessThan(300)
    const { commentsCount } = (await site.call(posts.show, { id: stays.postId })).post
    const reports = await site.db.selectFrom('reports').select('postId').execute()
    expect({
      vote: (await countOf(stays)) === 3,
      comment: commentsCount === 1,
      follower: await following(2, stays),
      report: reports.some(({ postId }) => postId === stays.postId),
    }).toMatchObject({ [what]: true })
    for (const [table, column, userId] of [
      ['votes', 'postId', 'userId'],
      ['comments', 'post_id', 'author_id'],
      ['follows', 'postId', 'userId'],
      ['reports', 'postId', 'userId'],
    ] as const)
      // prettier-ignore
      expect(await site.db.selectFrom(table).selectAll().where(column as 'postId', '=', other.postId).where(userId as 'userId', '=', String(people[2]?.userId)).execute()).toEqual([])
    expect(await miscounts(site.db)).toEqual([])
  })

  it('of two posts into each other at once is done once', async () => {
    const { site, write } = await makeWorld(engine)
    const [one, two] = [await write(0, 'One'), await write(1, 'Two')]
    const { token } = await site.member(['post:update'])
    const beside = await connect(site.databaseUrl)
    cleanup(() => beside.destroy())
    const merging: ReturnType<typeof site.http>[] = []
    const merge = (id: string, into: string) => merging.push(site.http('POST /posts/merge', { token, body: { ids: [id], into } })) // prettier-ignore
    await beside.transaction().execute(async (db) => {
      await lock(db, 'post_counts')
      await untilLocked(engine, site.db, () => {
        merge(one.postId, two.postId)
        merge(two.postId, one.postId)
        return Promise.race(merging)
      })
    })
    const answers = await Promise.all(merging)
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(answers.reduce((sum, { body }) => sum + (body.changed as number), 0)).toBe(1)
    expect(JSON.stringify(answers.map(({ body }) => body.outcomes as unknown))).toContain('MERGE_REFUSED')
    expect((await site.call(posts.list, {})).posts).toHaveLength(1)
    expect(await miscounts(site.db)).toEqual([])
  })

  it('is in the history of the post that stays, and its votes name the post where they were cast', async () => {
    const { site, as, write, merge, unmerge } = await makeWorld(engine)
    const { board } = await site.call(boards.create, { name: 'Team', display: false })
    const [other, hidden, stays] = [
      await write(0, 'Night theme'),
      await write(1, 'Secret'),
      await write(2, 'Dark mode'),
    ]
    await as(3)(votes.add, { postId: other.postId })
    const seen = async (token?: string) => {
      const { body } = await site.http(`GET /posts/${stays.number}/history`, { token })
      const { votes: page } = (await site.http(`GET /posts/${stays.number}/votes`, { token })).body
      const through = page.results.map(({ through: post }: { through?: { number: number } }) => post?.number ?? null)
      return { merged: body.history.map(({ merged }: { merged: { number: number } }) => merged.number), through }
    }
    const alone = { merged: [], through: [null] }
    expect(await seen()).toEqual(alone)
    await merge(stays, other, hidden)
    const all = { merged: [hidden.number, other.number], through: [other.number, null, hidden.number, other.number] }
    const { token: owner } = await site.member(['board:read', 'post:update'])
    const sorted = ({ merged, through }: typeof all) => ({
      merged: merged.toSorted((a, b) => a - b),
      through: through.toSorted((a, b) => (a ?? 0) - (b ?? 0)),
    })
    expect(sorted(await seen())).toEqual(sorted(all))
    await site.db.updateTable('posts').set({ boardId: board.boardId }).where('postId', '=', hidden.postId).execute()
    expect(sorted(await seen())).toEqual(sorted({ merged: [other.number], through: [other.number, null, null, other.number] })) // prettier-ignore
    expect(sorted(await seen(owner))).toEqual(sorted(all))
    const [{ merged: named, from, to, movedBy }] = (await site.http(`GET /posts/${stays.number}/history`, { token: owner })).body.history // prettier-ignore
    expect({ named, from, to, movedBy }).toMatchObject({ named: { title: expect.any(String) }, from: null, to: null, movedBy: null }) // prettier-ignore
    await unmerge(other, hidden)
    expect(await seen()).toEqual(alone)
  })

  it('does not let somebody unfollow the post that stays because they left the other', async () => {
    const { as, write, merge, following } = await makeWorld(engine)
    const [other, stays] = [await write(0, 'Night theme'), await write(1, 'Dark mode')]
    for (const post of [other, stays]) await as(2)(votes.add, { postId: post.postId })
    await as(3)(votes.add, { postId: other.postId })
    for (const at of [1, 2, 3]) await as(at)(follows.unfollow, { post_id: other.postId })
    await merge(stays, other)
    expect([await following(1, stays), await following(2, stays), await following(3, stays)]).toEqual([
      true,
      true,
      false,
    ])
  })

  it('gives back the followers and the answer of a post in the middle of a chain', async () => {
    const { site, as, write, merge, unmerge, answer, answersOf, following } = await makeWorld(engine)
    const [one, two, three] = [await write(0, 'One'), await write(1, 'Two'), await write(2, 'Three')]
    await as(3)(follows.follow, { post_id: three.postId })
    const [first, last] = [await answer(0, one), await answer(2, three)]
    await merge(two, three)
    await merge(one, two)
    await unmerge(three)
    expect([await answersOf(one), await answersOf(three)]).toEqual([[first], [last]])
    await unmerge(two)
    expect(await answersOf(two)).toEqual([])
    expect([await following(2, two), await following(3, two), await following(3, three)]).toEqual([false, false, true])
    expect(await site.db.selectFrom('follows').selectAll().where('fromPostId', 'is not', null).execute()).toEqual([])
  })

  it('is not taken back by what would take an earlier one back, and its events have no title of another person', async () => {
    const { site, people, write, merge, unmerge } = await makeWorld(engine)
    const [one, two] = [await write(0, 'Night theme'), await write(1, 'Dark mode')]
    const { undo } = await merge(one, two)
    await unmerge(two)
    await merge(one, two)
    expect(await site.call(undos.apply, { undo_id: undo?.undo_id ?? '' })).toMatchObject({ changed: 0, failed: 1 })
    await site.call(users.remove, { user: people[0]?.userId ?? '', posts: 'delete' })
    expect(JSON.stringify(await site.db.selectFrom('events').selectAll().execute())).not.toContain('Night theme')
  })

  it('shows nothing of a private post to whoever may not read it', async () => {
    const { site, write, merge } = await makeWorld(engine)
    const [one, two] = [await write(0, 'Night theme'), await write(1, 'Dark mode')]
    await site.call(boards.create, { name: 'Vault', display: true })
    await site.call(posts.update, { id: two.postId, boardId: 'vault', partial: true })
    await merge(one, two)
    await site.call(boards.update, { boardId: 'vault', display: false, partial: true })
    const { token } = await site.member(['post:update'])
    const { text } = await site.http('POST /posts/merge', { token, body: { ids: ['2'], into: '1' } })
    expect(text).toContain('POST_NOT_FOUND')
    expect(text).not.toContain('Dark mode')
  })

  it('lets nobody find a post by words of a private board that was merged into it', async () => {
    const { site, write, merge } = await makeWorld(engine)
    const [one, two, three] = [await write(0, 'Night theme'), await write(1, 'Quagga'), await write(2, 'Okapi')]
    for (const name of ['Vault', 'Open']) await site.call(boards.create, { name, display: true })
    for (const { postId } of [two, three])
      await site.call(posts.update, { id: postId, boardId: 'vault', partial: true })
    await merge(one, two, three)
    const found = async () => {
      const [hits, listed] = await Promise.all([
        site.http('GET /search?query=quagga'),
        site.http('POST /posts/get', { body: { query: 'okapi' } }),
      ])
      return [hits.body.hits.length, listed.body.posts.length]
    }
    expect(await found()).toEqual([1, 1])
    await site.call(boards.update, { boardId: 'vault', display: false, partial: true })
    expect(await found()).toEqual([0, 0])
    expect((await site.http('GET /search?query=night')).body.hits).toHaveLength(1)
    await site.call(boards.update, { boardId: 'vault', display: true, partial: true })
    expect(await found()).toEqual([1, 1])
    await site.call(boards.update, { boardId: 'open', display: false, partial: true })
    await site.call(boards.remove, { boardId: 'vault', moveTo: 'open' })
    expect(await found()).toEqual([0, 0])
    await site.call(boards.update, { boardId: 'open', display: true, partial: true })
    expect(await found()).toEqual([1, 1])
    await site.call(boards.create, { name: 'Shut', display: true })
    for (const { postId } of [await write(0, 'Impala'), await write(1, 'Numbat')]) await site.call(posts.update, { id: postId, boardId: 'shut', partial: true }) // prettier-ignore
    await site.call(merges.merge, { ids: ['4', '5'], into: '1' })
    const count = async (query: string) => (await site.http(`GET /search?query=${query}`)).body.hits.length
    await site.call(boards.update, { boardId: 'shut', display: false, partial: true })
    expect(await count('impala')).toBe(0)
    await site.call(boards.remove, { boardId: 'shut' })
    expect([await count('impala'), await count('%22numbat%22')]).toEqual([1, 1])
    // Another program that writes to the database does not know the words: the post leaves the search
    await site.db.updateTable('boards').set({ display: 0 }).where('url', '=', 'open').execute()
    expect([await found(), await unindexed(site.db, 'posts')]).toEqual([[0, 0], 1])
    await indexMissing(site.db)
    expect((await site.http('GET /search?query=night')).body.hits).toHaveLength(1)
    expect(await found()).toEqual([0, 0])
    await site.call(boards.update, { boardId: 'open', display: true, partial: true })
    await site.db.updateTable('posts').set({ title: 'Tapir' }).where('number', '=', 2).execute()
    expect([await found(), await unindexed(site.db, 'posts')]).toEqual([[0, 0], 2])
    await indexMissing(site.db)
    expect((await site.http('GET /search?query=tapir')).body.hits).toHaveLength(1)
    expect(await found()).toEqual([0, 1])
  })

  it('loses the words of a private board in the index of an earlier version', async () => {
    const { site, write, merge } = await makeWorld(engine)
    const [one, two, three] = [await write(0, 'Night theme'), await write(1, 'Quagga'), await write(2, 'Okapi')]
    await site.call(boards.create, { name: 'Vault', display: true })
    await site.call(posts.update, { id: two.postId, boardId: 'vault', partial: true })
    await merge(one, two, three)
    await site.call(boards.update, { boardId: 'vault', display: false, partial: true })
    await writeWords(site.db, 'post_search', [{ number: 1, words: ['night', 'theme', 'quagga', 'okapi'] }])
    await publicWords(site.db)
    expect([await unindexed(site.db, 'posts'), await pendingKinds(site.db)]).toEqual([1, ['posts']])
    await backfill(site.db)
    const found = async (words: string) => (await site.http(`GET /search?query=${words}`)).body.hits.length
    expect([await found('night'), await found('okapi'), await found('quagga')]).toEqual([1, 1, 0])
    await publicWords(site.db)
    await backfill(site.db)
    expect(await pendingKinds(site.db)).toEqual([])
  })

  it('leaves both votes of a person in the data about them', async () => {
    const { people, site, as, write, merge } = await makeWorld(engine)
    const [one, two] = [await write(0, 'One'), await write(1, 'Two')]
    await as(0)(votes.add, { postId: two.postId })
    await merge(one, two)
    const { body } = await site.http('GET /users/profile/data', { token: people[0]?.token })
    expect(body.votes.map(({ postId }: { postId: string }) => postId)).toEqual([one.postId, two.postId])
  })

  it('does not show who voted where that was hidden', async () => {
    const { site, write, merge } = await makeWorld(engine)
    const [one, two, three] = [await write(0, 'One'), await write(1, 'Two'), await write(2, 'Three')]
    await site.call(boards.create, { name: 'Ideas', view_voters: false })
    for (const { postId } of [one, two]) await site.call(posts.update, { id: postId, boardId: 'ideas', partial: true })
    const refused = { failed: 1, outcomes: [{ error: { code: 'MERGE_REFUSED' } }] }
    expect(await merge(three, one)).toMatchObject(refused)
    await site.call(boards.remove, { boardId: 'ideas' })
    expect(await merge(three, one)).toMatchObject(refused)
    expect(await merge(two, one, three)).toMatchObject({ changed: 2 })
  })

  it('waits until the team has decided about reports of the post', async () => {
    const { site, people, write, merge } = await makeWorld(engine)
    const [one, two] = [await write(0, 'One'), await write(1, 'Two')]
    await site.http(`POST /posts/${two.postId}/report`, { token: people[2]?.token ?? '', body: {} })
    expect(await merge(one, two)).toMatchObject({ failed: 1, outcomes: [{ error: { code: 'MERGE_REFUSED' } }] })
    await site.call(moderation.decide, { id: two.postId, decision: 'keep' })
    expect(await merge(one, two)).toMatchObject({ changed: 1 })
  })

  it('leaves the posts of others when the author of the post that stays goes with their posts', async () => {
    const { site, people, write, merge, countOf } = await makeWorld(engine)
    const [one, two, three, four] = [await write(0, 'One'), await write(1, 'Two'), await write(2, 'Three'), await write(0, 'Four')] // prettier-ignore
    await merge(one, two)
    await merge(four, three)
    await merge(two, four)
    const [five, six] = [await write(0, 'Five'), await write(3, 'Six')]
    await merge(six, five)
    expect((await site.call(posts.search, { words: 'five' })).posts.map(({ number }) => number)).toEqual([6])
    await site.call(users.remove, { user: people[0]?.userId ?? '', posts: 'delete' })
    expect((await site.call(posts.list, {})).posts.map(({ number }) => number)).toEqual([6, 3, 2])
    expect([await countOf(two), await countOf(three)]).toEqual([1, 1])
    expect((await site.call(posts.search, { words: 'five' })).posts).toEqual([])
    expect(await site.db.selectFrom('posts').select('number').where('is_spam', '<>', 0).execute()).toEqual([])
    expect(await miscounts(site.db)).toEqual([])
  })
})
