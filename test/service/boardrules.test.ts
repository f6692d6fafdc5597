import { describe, expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as merges from '../../src/service/merges.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import { engines, makeSite, type Engine } from '../support/site.js'

const FORM = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }

async function world(engine: Engine) {
  const site = await makeSite(engine, { siteUrl: 'http://localhost', rates: {} })
  const owner = await site.owner()
  await site.call(boards.create, { name: 'Ideas' })
  const [member, other] = [await site.member(), await site.member()]
  const staff = await site.member(['dashboard:read', 'post:update', 'vote:assign'])
  const write = async (token: string, title: string, boardId = 'ideas') =>
    site.http('POST /posts', { token, body: { title, boardId } })
  const set = (input: object) => site.call(boards.update, { boardId: 'ideas', partial: true, ...input })
  const codeOf = async (request: string, token: string, body: object = {}) => {
    const { status, body: answer } = await site.http(request, { token, body })
    return answer.code ?? status
  }
  const pageOf = async (path: string, token?: string) => {
    const headers = { accept: 'text/html', ...(token !== undefined && { cookie: `feedbackctl=${token}` }) }
    return (await site.http(`GET /${path}`, { headers })).text
  }
  return { site, owner, member, other, staff, write, set, codeOf, pageOf }
}

/** One post with two votes that its board hides, and one with a vote that everybody sees. */
async function hiding(engine: Engine) {
  const made = await world(engine)
  const { site, member, other, write, set } = made
  await site.call(boards.create, { name: 'Open' })
  await site.call(boards.create, { name: 'Also hidden', hides_votes: true })
  for (const boardId of ['ideas', 'open']) await write(member.token, 'Dark mode', boardId)
  await site.http('POST /votes', { token: other.token, body: { postId: '1' } })
  await set({ hides_votes: true })
  const totalOf = async (path: string, token?: string) => {
    const { body } = await site.http(`GET /${path}`, token === undefined ? {} : { token })
    return (body.votes ?? body).total_count
  }
  return { ...made, totalOf, hidden: { votes: [], votesCount: 0, votes_hidden: true } }
}

describe.each(engines)('the rules of a board on %s', (engine) => {
  it('say what it is for, what posts begin with, in which order they are, and who may write them', async () => {
    const { site, owner, member, staff, write, set, pageOf } = await world(engine)
    expect((await site.http('GET /boards/ideas')).body.board).not.toHaveProperty('template')
    const given = { description: 'For <everyone>', template: '**What** is `wrong`?', posting: 'team', sort: 'newest' }
    await set(given)
    expect((await site.http('GET /boards/ideas')).body.board).toMatchObject(given)
    expect((await write(member.token, 'Mine')).body.code).toBe('NOT_ENOUGH_PERMISSION')
    for (const title of ['One', 'Two']) {
      site.clock.now = new Date(site.clock.now.getTime() + 60_000)
      expect((await write(staff.token, title)).status).toBe(201)
    }
    await site.http('POST /votes', { token: member.token, body: { postId: '1' } })
    const shown = await pageOf('/boards/ideas', member.token)
    expect(shown).toContain('For &lt;everyone>')
    expect(shown).not.toContain('/posts/new?board=ideas')
    expect(shown.indexOf('<bdi>Two</bdi>')).toBeLessThan(shown.indexOf('<bdi>One</bdi>'))
    expect(await pageOf('/posts/new', member.token)).not.toContain('value="ideas"')
    expect(await pageOf('/posts/new?board=ideas', staff.token)).toContain('**What** is `wrong`?')
    const { text } = await site.http('POST //dashboard/boards/ideas/settings', { headers: { ...FORM, accept: 'text/html', cookie: `feedbackctl=${owner}` }, body: 'name=Ideas&url=ideas&color=c2410c&display=true&view_voters=true&description=&template=&posting=everyone&sort=votes' }) // prettier-ignore
    expect(text).not.toContain('problem')
    const { board } = (await site.http('GET /boards/ideas')).body
    expect([board.description, board.template, board.posting, board.sort]).toEqual([undefined, undefined, undefined, 'votes']) // prettier-ignore
    expect((await write(member.token, 'Mine')).status).toBe(201)
  })

  it('make an archive of it that can only be read', async () => {
    const { site, owner, member, other, staff, write, set, codeOf, pageOf } = await world(engine)
    const { post } = (await write(member.token, 'Dark mode')).body
    await site.call(comments.create, { post_id: '1', body: 'Please' })
    await set({ archived: true })
    for (const token of [other.token, staff.token, owner]) {
      expect((await write(token, 'Late')).body.code).toBe('BOARD_ARCHIVED')
      expect(await codeOf('POST /posts/1/comments', token, { body: 'Late' })).toBe('BOARD_ARCHIVED')
      expect(await codeOf('POST /votes', token, { postId: '1' })).toBe('BOARD_ARCHIVED')
    }
    expect(await codeOf('DELETE /votes', member.token, { postId: '1' })).toBe('BOARD_ARCHIVED')
    expect(await codeOf('PATCH /posts', member.token, { id: '1', title: 'Dark theme' })).toBe('BOARD_ARCHIVED')
    await site.http('POST /posts', { token: member.token, body: { title: 'Elsewhere' } })
    expect(await codeOf('PATCH /posts', member.token, { id: '2', partial: true, boardId: 'ideas' })).toBe('BOARD_ARCHIVED') // prettier-ignore
    expect((await site.http('POST /posts/get', { body: { boardId: ['ideas'] } })).body.posts).toMatchObject([{ is_archived: true }]) // prettier-ignore
    const shown = await pageOf(`/posts/${post.slug}`, other.token)
    expect([shown.includes('takes no comments any more'), shown.includes(`/posts/${post.slug}/vote"`)]).toEqual([true, false]) // prettier-ignore
    for (const path of ['/posts/new', '/?q=mode']) expect(await pageOf(path, member.token)).not.toContain('value="ideas"') // prettier-ignore
    expect(await pageOf('/boards/ideas')).toContain('Archived')
    await site.call(posts.update, { id: '1', partial: true, boardId: null }) // the team takes posts out
    expect(await codeOf('POST /votes', other.token, { postId: '1' })).toBe(201)
  })

  it('hide votes until somebody has voted', async () => {
    const { site, member, other, staff, write, set, pageOf } = await world(engine)
    const { post } = (await write(member.token, 'Dark mode')).body
    await set({ hides_votes: true })
    const votersFor = async (token?: string) => (await site.http('GET /posts/1', { ...(token !== undefined && { token }) })).body.post?.voters ?? (await site.http('POST /posts/get', { ...(token !== undefined && { token }), body: {} })).body.posts[0].voters // prettier-ignore
    const hidden = { votes: [], votesCount: 0, votes_hidden: true }
    expect([await votersFor(), await votersFor(other.token)]).toEqual([hidden, hidden])
    expect([(await votersFor(member.token)).votesCount, (await votersFor(staff.token)).votesCount]).toEqual([1, 1])
    const { votes } = (await site.http('GET /posts/1/votes', { token: other.token })).body
    expect([votes.results, votes.total_count]).toEqual([[], 0])
    expect((await site.http('GET /export/posts?format=jsonl', { token: other.token })).text).toContain('"votesCount":0')
    expect(await pageOf(`/posts/${post.slug}`, other.token)).toContain('the number shows once you vote')
    const { body } = await site.http('POST /votes', { token: other.token, body: { postId: '1' } })
    expect([body.voters.votesCount, (await votersFor(other.token)).votesCount]).toEqual([2, 2])
    const withdrawn = await site.http('DELETE /votes', { token: other.token, body: { postId: '1' } })
    expect(withdrawn.body.voters).toEqual(hidden)
  })

  it('keep votes hidden where the author moves the post, or the board is deleted', async () => {
    const { site, member, codeOf, hidden, totalOf } = await hiding(engine)
    const movedTo = (boardId: string | null) => codeOf('PATCH /posts', member.token, { id: '1', partial: true, boardId }) // prettier-ignore
    for (const boardId of [null, 'open']) expect(await movedTo(boardId)).toBe('NOT_ENOUGH_PERMISSION')
    for (const boardId of ['also-hidden', 'ideas']) expect(await movedTo(boardId)).toBe(200)
    await site.call(boards.remove, { boardId: 'ideas' })
    expect(await totalOf('posts/1/votes')).toBe(0)
    expect((await site.http('POST /posts/get', { body: { boardId: ['none'] } })).body.posts).toMatchObject([{ number: 1, board: null, voters: hidden }]) // prettier-ignore
    expect(await movedTo('open')).toBe('NOT_ENOUGH_PERMISSION')
    await site.call(posts.update, { id: '1', partial: true, boardId: 'open' }) // the team may show them
    expect(await totalOf('posts/1/votes')).toBe(2)
  })

  it('keep hidden votes off the profiles of others', async () => {
    const { site, member, staff, totalOf } = await hiding(engine)
    const path = `users/${member.userId}/votes`
    expect(await Promise.all([totalOf(path), totalOf(path, member.token), totalOf(path, staff.token)])).toEqual([1, 2, 2]) // prettier-ignore
    expect((await site.http(`GET /users/${member.userId}/profile`)).body.profile.votes).toBe(1)
  })

  it('let no post with hidden votes be merged into one that shows them', async () => {
    const { site } = await hiding(engine)
    const editor = await site.member(['post:update', 'user:read'])
    const get = async (path: string) => (await site.http(`GET /${path}`, { token: editor.token })).body
    const merged = (ids: string[], into: string) => site.call(merges.merge, { ids, into })
    expect((await merged(['1'], '2')).outcomes).toMatchObject([{ error: { code: 'MERGE_REFUSED' } }])
    expect((await get('posts/duplicates')).clusters).toEqual([])
    expect((await get('posts/1/segments')).voters).toBe(0)
    await site.call(posts.update, { id: '2', partial: true, boardId: 'also-hidden' })
    const counts = { votesCount: 0, votes_hidden: true }
    expect((await get('posts/duplicates')).clusters).toMatchObject([{ into: counts, posts: [counts] }])
    expect(await merged(['1'], '2')).toMatchObject({ changed: 1 })
  })

  it('tell a hidden number of votes neither in a search nor in the data about the author', async () => {
    const { site, member, other, staff } = await hiding(engine)
    const found = async (query: string, token?: string) => {
      const as = token === undefined ? {} : { token }
      const { posts: listed } = (await site.http('POST /posts/get', { ...as, body: { query } })).body
      const { hits } = (await site.http(`GET /search?query=${encodeURIComponent(query)}`, as)).body
      return [listed, hits.map(({ post }: { post: object }) => post)].map((rows: { number: number }[]) => rows.map(({ number }) => number)) // prettier-ignore
    }
    for (const query of ['dark votes:2..2', 'votes:>1', '#1 votes:2..2']) {
      expect(await found(query)).toEqual([[], []])
      for (const { token } of [other, staff]) expect(await found(query, token)).toEqual([[1], [1]])
    }
    expect(await found('votes:1..1')).toEqual([[2], [2]])
    await site.http('DELETE /votes', { token: member.token, body: { postId: '1' } })
    const { body } = await site.http('GET /users/profile/data', { token: member.token })
    expect(body.posts).toMatchObject([{ votesCount: 0, votes_hidden: true }, { votesCount: 1 }])
  })

  it('tell by no order of lists and of search how many voted where that is hidden', async () => {
    const { site, member, other, staff, pageOf } = await world(engine)
    const planned = (await site.call(roadmaps.create, { name: 'Planned', display: true })).roadmap
    for (const name of ['Quiet', 'Silent', 'Gone']) await site.call(boards.create, { name, hides_votes: true })
    const places = ['quiet', 'ideas', 'gone', 'silent', 'ideas', 'quiet', 'ideas', 'none', 'gone', 'silent', 'ideas']
    for (const [index, place] of places.entries()) {
      site.clock.now = new Date(site.clock.now.getTime() + 3_600_000)
      const boardId = place === 'none' ? null : place
      await site.http('POST /posts', { token: member.token, body: { title: `Dark mode ${index}`, boardId } })
      const postId = String(index + 1)
      if (index % 2 === 0) await site.call(posts.update, { id: postId, partial: true, roadmapId: planned.id })
      if (index !== 4 && index !== 7) await site.http('DELETE /votes', { token: member.token, body: { postId } })
    }
    await site.call(boards.remove, { boardId: 'gone' })
    const since = new Date(site.clock.now.getTime() - 8 * 3_600_000).toISOString()
    const filters = [
      {},
      { boardId: ['quiet'] },
      { boardId: ['none'] },
      { boardId: ['quiet', 'ideas', 'none'] },
      { boardId: ['quiet', 'silent'], roadmapIds: ['planned'] },
      { roadmapIds: ['planned'] },
      { query: 'dark' },
      { query: 'dark -legacy', boardId: ['quiet', 'ideas'] },
      { since },
      { authorId: member.userId },
    ]
    const numbersOf = (rows: { number: number }[]) => rows.map(({ number }) => number)
    const listed = async (body: object, token?: string) => {
      const as = token === undefined ? {} : { token }
      const { body: answer } = await site.http('POST /posts/get', { ...as, body: { limit: 20, ...body } })
      if (!answer.posts) throw new Error(JSON.stringify([body, answer]))
      return numbersOf(answer.posts)
    }
    const pages = async (body: object) => {
      const found: number[][] = [[], []]
      for (let page = 1, after: string | undefined; page <= 6; page++) {
        found[0]?.push(...(await listed({ ...body, limit: 2, page })))
        const { posts: rows } = (await site.http('POST /posts/get', { body: { ...body, limit: 2, ...(after !== undefined && { after }) } })).body // prettier-ignore
        found[1]?.push(...numbersOf(rows))
        after = rows.at(-1)?.postId ?? after
        if (rows.length === 0) break
      }
      return found
    }
    const seenBy = async (token?: string) => {
      const as = token === undefined ? {} : { token }
      const lists = []
      for (const filter of filters)
        for (const sort of ['votes', 'trending']) lists.push([filter, sort, await listed({ ...filter, sort }, token)])
      const { hits } = (await site.http('GET /search?query=dark', as)).body
      const shown = await Promise.all(['/?sort=votes', '/boards/quiet?sort=votes', '/roadmaps/planned?sort=votes', '/roadmaps'].map((path) => pageOf(path, token))) // prettier-ignore
      return [
        lists,
        numbersOf(hits.map(({ post }: { post: { number: number } }) => post)),
        shown.map((page) => [...page.matchAll(/<bdi>Dark mode (\d+)/g)].map(([, number]) => number)),
      ]
    }
    const without = await seenBy(staff.token)
    expect(await seenBy()).toEqual(without)
    // The older, the more votes
    for (const [index, place] of places.entries())
      if (place !== 'ideas' && place !== 'none')
        for (const voter of [member, other, staff].slice(0, index < 4 ? 3 : 1))
          await site.http('POST /votes', { token: voter.token, body: { postId: String(index + 1) } })
    expect(await seenBy(staff.token)).not.toEqual(without)
    for (const token of [undefined, other.token]) expect(await seenBy(token)).toEqual(without)
    for (const filter of [{}, { boardId: ['quiet', 'ideas', 'none'] }, { query: 'dark' }])
      for (const sort of ['votes', 'trending']) {
        const whole = await listed({ ...filter, sort })
        expect([filter, sort, await pages({ ...filter, sort })]).toEqual([filter, sort, [whole, whole]])
      }
    // A post that comes to a board that shows its votes has them again, and another way round
    await site.call(posts.update, { id: '1', partial: true, boardId: 'ideas' })
    expect((await listed({ sort: 'votes' }))[0]).toBe(1)
    await site.call(boards.update, { boardId: 'quiet', partial: true, hides_votes: false })
    await site.call(boards.update, { boardId: 'ideas', partial: true, hides_votes: true })
    expect((await listed({ sort: 'votes' })).slice(0, 2)).toEqual([8, 6])
  })

  it('mark a hidden number of votes on pages and in tables, where it would be 0', async () => {
    const { site, other, staff, pageOf } = await hiding(engine)
    const slugs = (await site.http('POST /posts/get', { body: { created: 'asc' } })).body.posts.map(({ slug }: { slug: string }) => slug) // prettier-ignore
    expect(await pageOf(`/posts/${slugs[0]}/voters`)).toContain('This board does not show who voted')
    const editor = await site.member(['post:update', 'post:destroy'])
    expect(await pageOf(`/posts/${slugs[0]}/merge`, editor.token)).toContain('gets its votes, its comments')
    expect(await pageOf(`/posts/${slugs[1]}/merge`, editor.token)).not.toMatch(/#1, \d/)
    expect(await pageOf(`/posts/${slugs[0]}/delete`, editor.token)).toContain('deletes its comments and votes')
    const cellsFor = async (token?: string) => {
      const { text } = await site.http('GET /export/posts', token === undefined ? {} : { token })
      const [head, ...rows] = text
        .trim()
        .split(/\r?\n/)
        .map((line) => line.split(','))
      return rows.map((row) => row[head?.indexOf('voters.votesCount') ?? 0])
    }
    expect([await cellsFor(), await cellsFor(other.token), await cellsFor(staff.token)]).toEqual([['1', ''], ['1', '2'], ['1', '2']]) // prettier-ignore
  })

  it('tell the number of votes that go with deleted posts to those who see it', async () => {
    const { site, owner } = await hiding(engine)
    const editor = await site.member(['post:update', 'post:destroy'])
    const ids = ['1', '2']
    const lost = async (token: string) =>
      ((await site.http('POST /moderation', { token, body: { ids, decision: 'delete' }, headers: { 'feedbackctl-dry-run': 'true' } })).body.outcomes as { lost?: object }[]).map((each) => each.lost) // prettier-ignore
    const [hidden, shown] = [
      { votes: 0, votes_hidden: true, comments: 0 },
      { votes: 1, comments: 0 },
    ]
    expect(await lost(owner)).toEqual([{ votes: 2, comments: 0 }, shown])
    expect(await lost(editor.token)).toEqual([hidden, shown])
  })

  it('tell the number of votes that a merge moves, and which post has more, to those who see it', async () => {
    const { site, owner, other, member, staff, write } = await hiding(engine)
    const editor = await site.member(['post:update'])
    await write(member.token, 'Dark mode', 'also-hidden')
    for (const { token } of [other, staff]) await site.http('POST /votes', { token, body: { postId: '3' } })
    const movedTo = async (into: string, ids: string[], token: string) =>
      ((await site.http('POST /posts/merge', { token, body: { ids, into }, headers: { 'feedbackctl-dry-run': 'true' } })).body.outcomes as { moved?: object }[]).map((each) => each.moved) // prettier-ignore
    const staysFor = async (token: string) =>
      ((await site.http('GET /posts/duplicates', { token })).body.clusters as { into: object }[]).map((each) => each.into) // prettier-ignore
    expect(await movedTo('1', ['2', '3'], owner)).toEqual([
      { votes: 1, comments: 0 },
      { votes: 3, comments: 0 },
    ])
    expect(await movedTo('1', ['2', '3'], editor.token)).toEqual([
      { votes: 1, comments: 0 },
      { votes: 0, votes_hidden: true, comments: 0 },
    ])
    expect(await staysFor(owner)).toMatchObject([{ number: 3, votesCount: 3 }])
    expect(await staysFor(editor.token)).toMatchObject([{ number: 1, votesCount: 0, votes_hidden: true }])
    await site.http('POST /votes', { token: editor.token, body: { postId: '3' } })
    expect(await movedTo('1', ['3'], editor.token)).toEqual([{ votes: 4, comments: 0 }])
    expect(await staysFor(editor.token)).toMatchObject([{ number: 1, votesCount: 0, votes_hidden: true }])
  })

  it('keep pinned posts on top, and locked ones take no more', async () => {
    const { site, owner, member, other, staff, write, codeOf, pageOf } = await world(engine)
    for (const title of ['Read this first', 'Dark mode', 'Export']) await write(member.token, title)
    expect(await codeOf('PATCH /posts', member.token, { id: '1', partial: true, pinned: true })).toBe('NOT_ENOUGH_PERMISSION') // prettier-ignore
    expect(await codeOf('PATCH /posts', staff.token, { id: '1', partial: true, pinned: true, locked: 'comments' })).toBe(200) // prettier-ignore
    expect(await codeOf('PATCH /posts', member.token, { id: '1', title: 'Read this', pinned: true, locked: 'comments' })).toBe(200) // prettier-ignore
    const found = (await site.http('POST /posts/get', { body: { pinned: true } })).body
    expect([found.total_count, found.posts]).toMatchObject([1, [{ number: 1, pinned: true, locked: 'comments' }]])
    const shown = await pageOf('/boards/ideas?page=1')
    expect(shown.match(/<bdi>Read this<\/bdi>/g)).toHaveLength(1)
    expect(shown.indexOf('Read this')).toBeLessThan(shown.indexOf('<bdi>Export</bdi>'))
    expect(await codeOf('POST /posts/1/comments', member.token, { body: 'Mine' })).toBe('POST_LOCKED')
    expect(await codeOf('POST /votes', other.token, { postId: '1' })).toBe(201)
    expect(await codeOf('POST /posts/1/comments', staff.token, { body: 'From the team' })).toBe(201)
    await site.call(posts.update, { id: '1', partial: true, locked: 'votes' })
    expect(await codeOf('DELETE /votes', other.token, { postId: '1' })).toBe('POST_LOCKED')
    expect(await codeOf('POST /posts/1/comments', member.token, { body: 'Mine' })).toBe(201)
    // A merge is of the team: voters come to a locked post too, and go back
    const { outcomes } = await site.call(merges.merge, { ids: ['2'], into: '1' })
    expect(outcomes).toMatchObject([{ moved: { votes: 1 } }])
    await site.call(merges.unmerge, { ids: ['2'] })
    expect((await site.http('POST /posts/get', { body: { query: 'dark' } })).body.posts[0].voters.votesCount).toBe(1)
    const event = (await site.http('GET /events?limit=20', { token: owner })).body
    expect(JSON.stringify(event)).toContain('"field":"locked","before":"comments","after":"votes"')
  })
})
