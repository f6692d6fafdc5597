import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as events from '../../src/service/events.js'
import * as merges from '../../src/service/merges.js'
import * as posts from '../../src/service/posts.js'
import * as posttags from '../../src/service/posttags.js'
import * as tags from '../../src/service/tags.js'
import * as undos from '../../src/service/undos.js'
import { engines, makeSite, type Engine } from '../support/site.js'

async function makeWorld(engine: Engine) {
  const site = await makeSite(engine, { rates: {} })
  await site.owner()
  const team = await site.member(['post:update', 'dashboard:read', 'board:read'])
  const post = async (title: string, boardId?: string) => (await site.call(posts.create, { title, ...(boardId && { boardId }) })).post // prettier-ignore
  const tag = async (name: string, more: object = {}) => (await site.call(tags.create, { name, ...more })).tag
  const tagPost = (ids: string[], change: { add?: string[]; remove?: string[] }) => site.call(posttags.tag, { ids, ...change }) // prettier-ignore
  const namesOf = async (postId: string, token?: string) =>
    ((await site.http('POST /posts/slug', { token, body: { id: postId } })).body.post.tags ?? []).map(({ name }: { name: string }) => name) // prettier-ignore
  return { site, team, post, tag, tagPost, namesOf }
}

describe.each(engines)('tags on %s', (engine) => {
  it('are on posts by name, in lists and alone, and private ones are for the team', async () => {
    const { site, team, post, tag, tagPost, namesOf } = await makeWorld(engine)
    const [one, other] = [await post('Dark mode'), await post('Export')]
    const [web, secret, mobile] = [await tag('web'), await tag('Enterprise', { display: false }), await tag('Mobile')]
    const { outcomes, changed } = await tagPost([one.postId, one.postId, String(other.number)], { add: [web.url, secret.tagId, 'mobile'] }) // prettier-ignore
    expect([outcomes.map(({ outcome }) => outcome), changed]).toEqual([['changed', 'changed'], 2])
    expect([await namesOf(one.postId), await namesOf(one.postId, team.token)]).toEqual([['Mobile', 'web'], ['Enterprise', 'Mobile', 'web']]) // prettier-ignore
    const listed = async (token?: string) =>
      (await site.http('POST /posts/get', { token, body: { sort: 'newest' } })).body.posts.map(({ tags: found }: { tags?: tags.Tag[] }) => found?.map(({ url, display }) => `${url} ${display}`)) // prettier-ignore
    expect(await listed()).toEqual([['mobile true', 'web true'], ['mobile true', 'web true']]) // prettier-ignore
    expect((await listed(team.token))[0]).toEqual(['enterprise false', 'mobile true', 'web true'])
    expect((await site.http('GET /tags')).body.tags.map((each: tags.Tag) => [each.name, each.post_count])).toEqual([['Mobile', 2], ['web', 2]]) // prettier-ignore
    const all = await site.http('GET /tags?visibility=public&visibility=private', { token: team.token })
    expect(all.body.tags.map(({ name }: tags.Tag) => name)).toEqual(['Enterprise', 'Mobile', 'web'])
    expect((await site.http('GET /tags?visibility=private')).body.total_count).toBe(2)
    expect((await site.http(`GET /tags/${secret.url}`)).status).toBe(404)
    expect((await site.http(`GET /tags/${mobile.url}`)).body.tag).toMatchObject({ name: 'Mobile', post_count: 2 })

    await tagPost([one.postId], { add: ['mobile'], remove: ['web'] })
    expect(await namesOf(one.postId)).toEqual(['Mobile'])
    expect((await tagPost([one.postId], { add: ['mobile'], remove: ['web'] })).changed).toBe(0)
    await site.call(posts.remove, { id: one.postId })
    expect((await site.http('GET /tags')).body.tags.map((each: tags.Tag) => each.post_count)).toEqual([1, 1])
  })

  it('count posts of private boards for those who may see them alone', async () => {
    const { site, team, post, tag, tagPost } = await makeWorld(engine)
    const { board } = await site.call(boards.create, { name: 'Team', display: false })
    await tag('Mobile')
    await tagPost([(await post('Shown')).postId, (await post('Hidden', board.boardId)).postId], { add: ['mobile'] })
    const count = async (token?: string) => (await site.http('GET /tags/mobile', { token })).body.tag.post_count
    expect([await count(), await count(team.token)]).toEqual([1, 2])
  })

  it('are changed with undo, and what was deleted since stays gone', async () => {
    const { site, post, tag, tagPost, namesOf } = await makeWorld(engine)
    const { postId } = await post('Dark mode')
    for (const name of ['One', 'Two', 'Three']) await tag(name)
    await tagPost([postId], { add: ['one', 'two'] })
    const { undo } = await tagPost([postId], { add: ['three'], remove: ['one', 'two'] })
    expect(await namesOf(postId)).toEqual(['Three'])
    await site.call(tags.remove, { tagId: 'two' })
    expect((await site.call(undos.apply, { undo_id: undo?.undo_id ?? '' })).changed).toBe(1)
    expect(await namesOf(postId)).toEqual(['One'])
    const { events: log } = await site.call(events.list, { created: 'desc', limit: 10 })
    expect(log.filter(({ action }) => action === 'post.tagged').map(({ details }) => details)).toEqual([
      [{ field: 'tags', before: 'Three', after: 'One' }],
      [{ field: 'tags', before: 'One, Two', after: 'Three' }],
      [{ field: 'tags', before: null, after: 'One, Two' }],
    ])
  })

  it('are renamed, merged and deleted, and posts follow', async () => {
    const { site, post, tag, tagPost, namesOf } = await makeWorld(engine)
    const [one, other] = [await post('One'), await post('Other')]
    for (const name of ['Phone', 'iOS', 'Mobile']) await tag(name)
    await tagPost([one.postId], { add: ['phone', 'ios'] })
    await tagPost([other.postId], { add: ['ios', 'mobile'] })
    const { tag: stays } = await site.call(tags.merge, { ids: ['phone', 'ios', 'ios'], into: 'mobile' })
    expect(stays).toMatchObject({ name: 'Mobile', post_count: 2 })
    expect([await namesOf(one.postId), await namesOf(other.postId)]).toEqual([['Mobile'], ['Mobile']])
    await site.call(tags.update, { tagId: 'mobile', name: 'Apps', partial: true })
    expect(await namesOf(one.postId)).toEqual(['Apps'])
    for (const [ids, into, problem] of [
      [['mobile'], 'mobile', 'itself'],
      [['gone'], 'mobile', 'not found'],
      [['mobile'], 'gone', 'not found'],
    ] as const)
      await expect(site.call(tags.merge, { ids: [...ids], into })).rejects.toThrow(problem)
    await tag('Secret', { display: false })
    await expect(site.call(tags.merge, { ids: ['secret'], into: 'mobile' })).rejects.toThrow('is private')
    await site.call(tags.remove, { tagId: 'mobile' })
    expect(await namesOf(one.postId)).toEqual([])
    expect(await site.db.selectFrom('post_tags').selectAll().execute()).toEqual([])
  })

  it('stay on a post that is merged, and come back with it', async () => {
    const { site, post, tag, tagPost, namesOf } = await makeWorld(engine)
    const [stays, other] = [await post('Dark mode'), await post('Night theme')]
    await tag('Mobile')
    await tagPost([other.postId], { add: ['mobile'] })
    await site.call(merges.merge, { ids: [other.postId], into: stays.postId })
    expect((await site.call(tags.show, { url: 'mobile' })).tag.post_count).toBe(0)
    const { outcomes } = await tagPost([other.postId], { remove: ['mobile'] })
    expect(outcomes[0]?.error?.code).toBe('POST_MERGED')
    await site.call(merges.unmerge, { ids: [other.postId] })
    expect(await namesOf(other.postId)).toEqual(['Mobile'])
  })

  it.each([
    [{}, 'TAGS_MISSING'],
    [{ add: ['gone'] }, 'UNKNOWN_TAG'],
    [{ remove: ['gone'] }, 'UNKNOWN_TAG'],
    [{ add: ['x'.repeat(70_000)] }, 'UNKNOWN_TAG'],
    [{ add: ['\u0000'] }, 'TEXT_UNREADABLE'],
    [{ add: ['\u202e'] }, 'UNKNOWN_TAG'],
    [{ add: Array.from({ length: 21 }, (_, at) => `t${at}`) }, 'maxItems'],
  ])('are not changed by %o', async (change, code) => {
    const { site, post } = await makeWorld(engine)
    const { postId } = await post('Dark mode')
    const owner = await site.member(['post:update'])
    const { status, text } = await site.http('POST /posts/tag', { token: owner.token, body: { ids: [postId], ...change } }) // prettier-ignore
    expect([status, text]).toEqual([400, expect.stringContaining(code === 'maxItems' ? 'TOO_MANY' : code)])
  })

  it('are twenty on a post at most', async () => {
    const { post, tag, tagPost } = await makeWorld(engine)
    const { postId } = await post('Dark mode')
    for (let at = 0; at < 21; at++) await tag(`t${at}`)
    await tagPost([postId], { add: Array.from({ length: 20 }, (_, at) => `t${at}`) })
    const { outcomes } = await tagPost([postId], { add: ['t20'] })
    expect(outcomes[0]?.error).toMatchObject({ code: 'POST_TAG_LIMIT', message: expect.stringContaining('more than 20') }) // prettier-ignore
    expect((await tagPost([postId], { add: ['t20'], remove: ['t0'] })).changed).toBe(1)
  })

  it('are counted up to a thousand', async () => {
    const { site, post, tag } = await makeWorld(engine)
    const [{ tagId }, { postId }] = [await tag('Mobile'), await post('First')]
    const numbers = engine === 'sqlite' ? sql`(with recursive n(i) as (select 1 union all select i + 1 from n where i < 1001) select i from n)` : sql`(select i from generate_series(1, 1001) as s(i))` // prettier-ignore
    const columns = sql`title, "contentMarkdown", "userId", "boardId", roadmap_id, display, "hidesVoters", is_spam, "createdAt", "updatedAt"`
    await sql`insert into posts ("postId", slug, "slugId", ${columns})
      select 'p' || i, 's' || i, 'i' || i, ${columns} from posts cross join ${numbers} as n where "postId" = ${postId}`.execute(site.db) // prettier-ignore
    await sql`insert into post_tags ("postId", "tagId", "createdAt") select "postId", ${tagId}, "createdAt" from posts`.execute(site.db) // prettier-ignore
    expect((await site.call(tags.show, { url: 'mobile' })).tag).toMatchObject({ post_count: 1000, is_capped: true })
  })
})
