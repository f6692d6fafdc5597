import { describe, expect, it } from 'vitest'
import { miscounts } from '../../src/db/recount.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import { operator } from '../../src/service/lib/access.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import { engines, makeSite, type Engine } from '../support/site.js'

const MINUTE_MS = 60_000

async function makeContent(engine: Engine) {
  const site = await makeSite(engine)
  const [owner, author, team] = [await site.owner(), await site.member([]), await site.member(['post:update', 'post:destroy', 'comment:update:any', 'comment:delete:any', 'comment:view_internal'])] // prettier-ignore
  await site.call(boards.create, { name: 'Ideas' })
  await site.call(roadmaps.create, { name: 'Planned', display: true })
  const as = site.callAs({ ...operator, userId: author.userId })
  const create = async (title: string) => (await as(posts.create, { title, boardId: 'ideas' })).post
  const [first, second, third, fourth] = [await create('Spam'), await create('Repeat'), await create('Wish'), await create('Answered')] // prettier-ignore
  const { activity } = await as(comments.create, { post_id: second.postId, body: 'Me too' })
  const decide = (body: object, token = team.token) => site.http('POST /moderation', { token, body })
  const undo = (answer: { body: { undo: { undo_id: string } } }) => site.http(`POST /undo/${answer.body.undo.undo_id}`, { token: team.token }) // prettier-ignore
  const waiting = async () => (await site.http('GET /moderation?days=30', { token: owner })).body.total
  const stage = async (id: string) => (await site.call(posts.show, { id })).post.roadmap?.url
  const later = (ms: number) => (site.clock.now = new Date(site.clock.now.getTime() + ms))
  return { site, owner, author, team, first, second, third, fourth, comment: activity, decide, undo, waiting, stage, later } // prettier-ignore
}

describe.each(engines)('deciding about each of many on %s', (engine) => {
  it('takes a decision and a status for each, and an undo takes back all but what is deleted', async () => {
    const { site, first, second, third, fourth, comment, decide, undo, waiting, stage } = await makeContent(engine)
    const ids = [first, second, third, fourth].map(({ postId }) => postId)
    expect(await waiting()).toBe(5)
    const done = await decide({ ids: [...ids, comment.id], decisions: ['spam', 'delete', 'keep', 'keep', 'keep'], roadmapIds: ['planned', '', '', 'planned', ''] }) // prettier-ignore
    expect(done).toMatchObject({
      status: 200,
      body: {
        outcomes: [
          { id: first.postId, outcome: 'changed' },
          { id: second.postId, outcome: 'changed', lost: { votes: 1, comments: 1 } },
          { id: third.postId, outcome: 'changed' },
          { id: fourth.postId, outcome: 'changed' },
          { given: comment.id, outcome: 'failed', error: { code: 'POST_NOT_FOUND' } }, // gone with its post
        ],
        changed: 4,
        failed: 1,
      },
    })
    expect([await waiting(), await stage(fourth.postId), await stage(first.postId)]).toEqual([0, 'planned', undefined])
    expect((await site.events()).slice(-5).map(([action]) => action)).toEqual(['post.marked_spam', 'post.deleted', 'post.kept', 'post.kept', 'post.updated']) // prettier-ignore
    expect(await undo(done)).toMatchObject({ body: { changed: 3, failed: 0 } })
    expect([await waiting(), await stage(fourth.postId)]).toEqual([3, undefined])
    expect(await miscounts(site.db)).toEqual([])
  })

  it('deletes comments too, and nothing can be undone of that', async () => {
    const { site, second, comment, decide } = await makeContent(engine)
    const done = await decide({ decision: 'delete', ids: [comment.id, second.postId] })
    expect(done.body).toMatchObject({
      outcomes: [
        { kind: 'comment', lost: { votes: 0, comments: 0, text: comment.comment.body } },
        { kind: 'post', lost: { votes: 1, comments: 0 } },
      ],
      changed: 2,
      undo: null,
    })
    expect((await site.events()).slice(-2)).toEqual([['comment.deleted', comment.id], ['post.deleted', second.postId]]) // prettier-ignore
    expect(await miscounts(site.db)).toEqual([])
  })

  it('refuses each whose text is another by now, or that the caller may not delete or move', async () => {
    const { site, author, first, second, third, decide, later } = await makeContent(engine)
    const seen = [first, second].map(({ updatedAt }) => updatedAt)
    later(MINUTE_MS)
    await site.http('PATCH /posts', { token: author.token, body: { id: first.postId, title: 'Other', partial: true } })
    const { body } = await decide({ decision: 'delete', ids: [first.postId, second.postId], if_updated_at: seen })
    expect(body.outcomes).toMatchObject([{ error: { code: 'CONTENT_CHANGED' } }, { outcome: 'changed' }])
    const weak = await site.member(['post:destroy'])
    const { activity } = await site.call(comments.create, { post_id: third.postId, body: 'A word' })
    const refused = await decide({ ids: [activity.id, third.postId], decisions: ['delete', 'keep'], roadmapIds: ['', 'planned'] }, weak.token) // prettier-ignore
    expect(refused.body.outcomes).toMatchObject([{ error: { code: 'UNAUTHORIZED_NOT_AUTHOR' } }, { error: { code: 'NOT_ENOUGH_PERMISSION' } }]) // prettier-ignore
    expect(await decide({ ids: [third.postId], decision: 'keep', roadmapIds: ['planned'] })).toMatchObject({ body: { changed: 1 } }) // prettier-ignore
  })

  it('changes nothing where a list has another length, or a roadmap is not there', async () => {
    const { first, second, decide, waiting } = await makeContent(engine)
    const ids = [first.postId, second.postId]
    for (const body of [
      { ids },
      { ids, decisions: ['keep'] },
      { ids, decision: 'keep', decisions: ['keep', 'keep'] },
      { ids, decisions: ['keep', 'burn'] },
      { ids, decision: 'keep', roadmapIds: ['planned'] },
      { ids, decision: 'keep', roadmapIds: ['planned', 'nowhere'] },
      { ids, decisions: ['spam', 'keep'], block: true },
    ])
      expect([body, await decide(body)]).toMatchObject([body, { status: 400, body: { code: 'VALIDATION_ERROR' } }])
    expect(await waiting()).toBe(5)
  })
})
