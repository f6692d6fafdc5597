import { describe, expect, it } from 'vitest'
import * as answers from '../../src/service/answers.js'
import * as comments from '../../src/service/comments.js'
import * as posts from '../../src/service/posts.js'
import { history } from '../../src/service/posthistory.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import { engines, failure, makeSite } from '../support/site.js'

async function withPost(engine: (typeof engines)[number]) {
  const site = await makeSite(engine)
  const token = await site.owner()
  const { roadmap: shipped } = await site.call(roadmaps.create, { name: 'Shipped', display: true })
  const { post } = await site.call(posts.create, { title: 'Dark mode' })
  const path = `/posts/${post.postId}`
  const official = async (by?: string) =>
    (await site.http(`GET ${path}/activity?official=true`, { token: by })).body.activity.map(
      ({ comment }: { comment: object }) => comment,
    )
  const update = (body: object, by = token) =>
    site.http('PATCH /posts', { token: by, body: { id: post.postId, partial: true, ...body } })
  const later = () => void (site.clock.now = new Date(site.clock.now.getTime() + 1000))
  const say = async (text: string, more = {}) => {
    later()
    return (await site.call(comments.create, { post_id: post.postId, body: text, ...more })).activity
  }
  return { site, token, shipped, post, path, official, update, say, later }
}

describe.each(engines)('updates of the team on %s', (engine) => {
  it('of which nobody is told say so in the log, and are for the team', async () => {
    const { site, token, shipped, post, update } = await withPost(engine)
    expect((await update({ roadmapId: shipped.id, message: 'There', quiet: true })).status).toBe(200)
    const { body } = await site.http('GET /events', { token })
    for (const action of ['comment.created', 'post.updated'])
      expect(body.events.find((event: { action: string }) => event.action === action).details).toContainEqual({ field: 'quiet', before: null, after: 'true' }) // prettier-ignore
    const author = await site.member(['post:create'])
    const own = await site.http('POST /posts', { token: author.token, body: { title: 'Mine' } })
    const refused = await update({ id: own.body.post.postId, title: 'My own', quiet: true }, author.token)
    expect([refused.status, post.title]).toEqual([403, 'Dark mode'])
  })

  it('say what became of a post, with its new status, in one change', async () => {
    const { site, token, shipped, post, path, official, update } = await withPost(engine)
    expect((await update({ roadmapId: shipped.id, message: 'It is **there**. <b>' })).status).toBe(200)
    expect(await official()).toEqual([
      expect.objectContaining({
        body: 'It is **there**. &lt;b>',
        is_internal: false,
        is_update: true,
        roadmap: { id: shipped.id, name: 'Shipped', url: shipped.url, color: shipped.color, kind: 'done' },
      }),
    ])
    const [{ id }] = await official()
    const { body } = await site.http('GET /events', { token })
    const detailsOf = (wanted: string) =>
      body.events.find(({ action }: { action: string }) => action === wanted).details
    expect(detailsOf('comment.created')).toMatchObject([{ field: 'official', after: 'update' }])
    expect(detailsOf('post.updated')).toEqual([
      expect.objectContaining({ field: 'roadmap_id', after: shipped.id }),
      expect.objectContaining({ field: 'update', before: null, after: id }),
    ])
    expect((await site.call(history, { post_id: post.postId })).history).toMatchObject([
      { to: { name: 'Shipped' }, comment_id: id },
    ])
    expect((await site.http(`GET ${path}/activity`)).body.activity).toHaveLength(1)
    // Without a change of the status
    await update({ message: 'And on phones.' })
    expect((await official())[0]).not.toHaveProperty('roadmap')
    expect((await site.call(posts.show, { id: post.postId })).post.roadmap?.name).toBe('Shipped')
    expect((await site.call(history, { post_id: post.postId })).history).toHaveLength(1)
  })

  it('belong to the team: the author of a post does not speak for it', async () => {
    const { site, shipped, official } = await withPost(engine)
    const { token } = await site.member()
    const { body } = await site.http('POST /posts', { token, body: { title: 'Mine' } })
    const mine = { id: body.post.postId, partial: true }
    const refused = await site.http('PATCH /posts', { token, body: { ...mine, title: 'X', message: 'Soon!' } })
    expect([refused.status, refused.body.code]).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
    expect((await site.call(posts.show, { id: body.post.postId })).post.title).toBe('Mine')
    expect((await site.http('PATCH /posts', { token, body: { ...mine, title: 'X', message: '' } })).status).toBe(200)
    expect(shipped.name).toBe('Shipped')
    expect(await official()).toEqual([])
  })

  it('name no private roadmap, and are deleted, edited and hidden like any comment', async () => {
    const { site, token, shipped, path, official, update } = await withPost(engine)
    await site.call(roadmaps.update, { id: shipped.id, display: false, partial: true })
    await update({ roadmapId: shipped.id, message: 'Psst' })
    expect((await official())[0]).not.toHaveProperty('roadmap')
    const [{ id }] = await official(token)
    expect((await official(token))[0]).toMatchObject({ roadmap: { name: 'Shipped' } })
    await site.call(roadmaps.remove, { id: shipped.id })
    expect((await official(token))[0]).not.toHaveProperty('roadmap')
    await site.http(`PUT ${path}/comments/${id}`, { token, body: { body: 'Psst!' } })
    expect((await official())[0]).toMatchObject({ body: 'Psst!', is_update: true, is_edited: true })
    await site.http(`PUT ${path}/comments/${id}`, { token, body: { is_internal: true, partial: true } })
    expect(await official()).toEqual([])
    await site.http(`DELETE ${path}/comments/${id}`, { token })
    expect(await official(token)).toEqual([])
  })

  it('leave no message where the change is refused', async () => {
    const { official, update, say } = await withPost(engine)
    await say('One')
    const answer = await update({ message: 'x', ifUpdatedAt: '2020-01-01T00:00:00.000Z' })
    expect(answer.body.code).toBe('CONTENT_CHANGED')
    expect((await update({ message: 'x', roadmapId: 'nowhere' })).status).toBe(400)
    expect((await update({ message: 'x'.repeat(1001) })).body.errors).toMatchObject([{ field: 'message' }])
    expect(await official()).toEqual([])
  })
})

describe.each(engines)('the answer of a post on %s', (engine) => {
  it('is one comment, which another replaces', async () => {
    const { site, token, path, official, say, later } = await withPost(engine)
    const [one, two] = [await say('One'), await say('Two')]
    const answer = (id: string, method = 'PUT', by = token) =>
      site.http(`${method} ${path}/comments/${id}/answer`, { token: by })
    expect((await answer(one.id)).body.comment).toMatchObject({ is_answer: true, is_edited: false })
    later()
    await answer(two.id)
    expect(await official()).toMatchObject([{ body: 'Two', is_answer: true }])
    expect((await site.call(comments.show, { comment_id: one.id })).activity.comment).not.toHaveProperty('is_answer')
    await answer(one.id, 'DELETE') // is not the answer any more
    expect(await official()).toMatchObject([{ body: 'Two' }])
    await answer(two.id, 'DELETE')
    expect(await official()).toEqual([])
    const member = await site.member()
    expect((await answer(one.id, 'PUT', member.token)).status).toBe(403)
  })

  it('is readable by everybody, and no update', async () => {
    const { site, post, say, update, official } = await withPost(engine)
    await update({ message: 'There' })
    const [{ id }] = await official()
    const secret = await say('Secret', { is_internal: true })
    const spam = await say('Buy!')
    await site.call(comments.update, { post_id: post.postId, comment_id: spam.id, is_spam: true, partial: true })
    for (const each of [id, secret.id, spam.id])
      expect((await failure(site.call(answers.answer, { post_id: post.postId, comment_id: each }))).code).toBe(
        'COMMENT_CANNOT_ANSWER',
      )
  })

  it('is one after two people mark two comments at once', async () => {
    const { site, post, say, official } = await withPost(engine)
    const both = [await say('One'), await say('Two')]
    await Promise.all(both.map(({ id }) => site.call(answers.answer, { post_id: post.postId, comment_id: id })))
    expect(await official()).toHaveLength(1)
  })
})
