import assert from 'node:assert/strict'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { miscounts } from '../../src/db/recount.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import { operator } from '../../src/service/lib/access.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import { assertProperty } from '../support/properties.js'
import { engines, makeSite, type Engine } from '../support/site.js'

const POSTS = 5
const places = fc.constantFrom('none', 'ideas', 'vault')
const stages = fc.constantFrom('none', 'planned', 'secret')
/** Of posts and comments, by their place. */
const chosen = (most: number) => fc.uniqueArray(fc.nat(most - 1), { minLength: 1, maxLength: most })
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ does: fc.constant('move' as const), at: chosen(POSTS), boardId: fc.option(places, { nil: undefined }), roadmapId: stages }) }, // prettier-ignore
  { weight: 4, arbitrary: fc.record({ does: fc.constant('decide' as const), of: fc.array(fc.tuple(fc.nat(2 * POSTS - 1), fc.constantFrom('keep', 'keep', 'spam', 'spam', 'delete'), fc.constantFrom('', '', 'planned', 'none')), { minLength: 1, maxLength: 6 }), takesBack: fc.boolean() }) }, // prettier-ignore
  { weight: 3, arbitrary: fc.record({ does: fc.constant('undo' as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('edit' as const), at: fc.nat(POSTS - 1), boardId: places }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('report' as const), at: fc.nat(POSTS - 1) }) },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

async function makeWorld(engine: Engine) {
  const site = await makeSite(engine, { rates: {} })
  const owner = await site.owner()
  const author = await site.member([])
  const as = site.callAs({ ...operator, userId: author.userId })
  for (const [name, display] of [['Ideas', true], ['Vault', false]] as const) await site.call(boards.create, { name, display }) // prettier-ignore
  for (const [name, display] of [['Planned', true], ['Secret', false]] as const) await site.call(roadmaps.create, { name, display }) // prettier-ignore
  const ids: string[] = []
  for (let at = 0; at < POSTS; at++) ids.push((await as(posts.create, { title: `Post ${at}`, ...(at % 2 === 0 && { boardId: 'ideas' }) })).post.postId) // prettier-ignore
  for (const post of ids.slice(0, POSTS)) ids.push((await as(comments.create, { post_id: post, body: 'A word' })).activity.id) // prettier-ignore
  const post = (path: string, body: object, token = owner) => site.http(`POST /${path}`, { token, body })
  /** What a bulk change may change, by id. */
  const state = async () => {
    const rows = await site.db.selectFrom('posts').select(['postId as id', 'boardId', 'roadmap_id', 'is_spam', 'display']).execute() // prettier-ignore
    const written = await site.db.selectFrom('comments').select(['id', 'is_spam']).execute()
    const reports = await site.db.selectFrom('reports').select(['reportId as id', 'isOpen']).execute()
    const reviews = await site.db.selectFrom('reviews').select(['reviewId as id', 'isOpen', 'decidedAt']).execute()
    return new Map([...rows, ...written, ...reports, ...reviews].map(({ id, ...row }) => [id, JSON.stringify(row)]))
  }
  return { site, author, ids, post, state }
}

type World = Awaited<ReturnType<typeof makeWorld>>

/** Runs a step. Answers what undoes it. */
async function run({ site, author, ids, post, state }: World, todo: Step, undos: string[]): Promise<void> {
  site.clock.now = new Date(site.clock.now.getTime() + 1000)
  const id = (at: number) => ids[at] ?? ''
  if (todo.does === 'edit') return void (await site.http('PATCH /posts', { token: author.token, body: { id: id(todo.at), boardId: todo.boardId === 'ideas' ? 'ideas' : null, partial: true } })) // prettier-ignore
  if (todo.does === 'report') return void (await post(`posts/${id(todo.at)}/report`, {}, author.token))
  if (todo.does === 'undo') {
    const undo = undos[todo.which % Math.max(undos.length, 1)]
    const answer = undo === undefined ? undefined : await post(`undo/${undo}`, {})
    return assert.ok([undefined, 200, 404].includes(answer?.status))
  }
  const before = await state()
  const answer =
    todo.does === 'move'
      ? await post('posts/move', { ids: todo.at.map(id), roadmapId: todo.roadmapId, ...(todo.boardId && { boardId: todo.boardId }) }) // prettier-ignore
      : await post('moderation', { ids: todo.of.map(([at]) => id(at)), decisions: todo.of.map(([, word]) => word), roadmapIds: todo.of.map(([, , stage]) => stage) }) // prettier-ignore
  expect(answer.status).toBe(200)
  const { outcomes, changed, failed, undo } = answer.body
  expect(outcomes.filter(({ outcome }: { outcome: string }) => outcome === 'changed')).toHaveLength(changed)
  expect(outcomes.filter(({ error }: { error?: object }) => error)).toHaveLength(failed)
  if (!undo) return
  if (todo.does === 'decide' && todo.takesBack) {
    const gone = new Set(outcomes.flatMap(({ id: its, lost }: { id: string; lost?: object }) => (lost ? [its] : [])))
    const back = await post(`undo/${undo.undo_id}`, {})
    assert.equal(back.status, 200)
    if (gone.size > 0) return
    assert.equal(back.body.failed, 0)
    assert.deepEqual(await state(), before)
  } else undos.push(undo.undo_id)
}

it.each(engines)(
  'after any bulk changes and undos on %s the counts are those of the rows, and an undo at once restores all',
  async (engine) => {
    await assertProperty(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
        const world = await makeWorld(engine)
        const undos: string[] = []
        for (const todo of steps) {
          await run(world, todo, undos)
          expect(await miscounts(world.site.db)).toEqual([])
        }
      }),
      { numRuns: 6 },
    )
  },
)
