import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import { insertComment } from '../../src/db/comments.js'
import { connect } from '../../src/db/connect.js'
import { insertPost, updatePost } from '../../src/db/posts/row.js'
import type { Db } from '../../src/db/tables.js'
import { insertVote } from '../../src/db/votes.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import type { Activity } from '../../src/service/lib/commentshapes.js'
import { operator } from '../../src/service/lib/access.js'
import { change } from '../../src/service/lib/change.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as votes from '../../src/service/votes.js'
import { untilLocked } from '../support/locks.js'
import { cleanup, engines, failure, makeSite, type TestSite } from '../support/site.js'

const now = '2026-03-02T10:00:00.000Z'

/** A second connection to the database of a site. */
async function secondConnection({ databaseUrl }: TestSite): Promise<Db> {
  const db = await connect(databaseUrl)
  cleanup(() => db.destroy())
  return db
}

async function world(engine: (typeof engines)[number]) {
  const site = await makeSite(engine)
  await site.owner()
  const other = await secondConnection(site)
  const { userId } = await site.member()
  const { post } = await site.call(posts.create, { title: 'Dark mode' })
  const { board } = await site.call(boards.create, { name: 'Ideas' })
  const { roadmap } = await site.call(roadmaps.create, { name: 'Next' })
  return { site, other, userId, postId: post.postId, boardId: board.boardId, roadmapId: roadmap.id }
}
type World = Awaited<ReturnType<typeof world>>

const newPost = (references: { userId?: string; boardId?: string }) => ({
  postId: newId(),
  title: 'x',
  slug: `x-${newId()}`,
  slugId: newId(),
  contentMarkdown: null,
  userId: null,
  boardId: null,
  roadmap_id: null,
  createdAt: now,
  updatedAt: now,
  ...references,
})
const newComment = (post_id: string, author_id: string) => ({
  id: newId(),
  post_id,
  parent_id: null,
  author_id,
  body: 'x',
  is_internal: 0,
  created_at: now,
  updated_at: now,
})
const newVote = (w: World) => ({ voteId: newId(), userId: w.userId, postId: w.postId, createdAt: now })

const deleted = {
  user: (w: World) => w.other.deleteFrom('users').where('userId', '=', w.userId).execute(),
  post: (w: World) => w.other.deleteFrom('posts').where('postId', '=', w.postId).execute(),
  board: (w: World) => w.other.deleteFrom('boards').where('boardId', '=', w.boardId).execute(),
  roadmap: (w: World) => w.other.deleteFrom('roadmaps').where('id', '=', w.roadmapId).execute(),
}

describe.each(engines)('a row that another connection deletes before a write refers to it, on %s', (engine) => {
  it.each<[keyof typeof deleted, string, (db: Db, w: World) => Promise<unknown>, string]>([
    ['user', 'vote', (db, w) => insertVote(db, newVote(w)), 'USER_NOT_FOUND'],
    ['post', 'vote', (db, w) => insertVote(db, newVote(w)), 'POST_NOT_FOUND'],
    ['user', 'comment', (db, w) => insertComment(db, newComment(w.postId, w.userId), []), 'USER_NOT_FOUND'],
    ['post', 'comment', (db, w) => insertComment(db, newComment(w.postId, w.userId), []), 'POST_NOT_FOUND'],
    ['user', 'post', (db, w) => insertPost(db, newPost({ userId: w.userId }), []), 'USER_NOT_FOUND'],
    ['board', 'post', (db, w) => insertPost(db, newPost({ boardId: w.boardId }), []), 'BOARD_NOT_FOUND'],
    ['board', 'moved post', (db, w) => updatePost(db, w.postId, { boardId: w.boardId }), 'BOARD_NOT_FOUND'],
    ['roadmap', 'moved post', (db, w) => updatePost(db, w.postId, { roadmap_id: w.roadmapId }), 'ROADMAP_NOT_FOUND'],
  ])('the %s of a %s', async (parent, _, write, code) => {
    const w = await world(engine)
    await deleted[parent](w)
    let runs = 0
    const ctx = { ...w.site.base, actor: operator, origin: 'cli:tester', dryRun: false }
    const error = await failure(
      change(ctx, async ({ db }) => {
        runs++
        await write(db, w)
      }),
    )
    expect([error.code, runs]).toEqual([code, 1])
  })

  it.each<[string, keyof typeof deleted, (w: World) => Promise<unknown>, string]>([
    ['votes.add', 'post', ({ site, postId }) => site.call(votes.add, { postId }), 'POST_NOT_FOUND'],
    [
      'comments.create',
      'post',
      ({ site, postId }) => site.call(comments.create, { post_id: postId, body: 'x' }),
      'POST_NOT_FOUND',
    ],
    [
      'votes.add by',
      'user',
      ({ site, userId, postId }) => site.callAs({ ...operator, userId })(votes.add, { postId }),
      'USER_NOT_FOUND',
    ],
    [
      'posts.create by',
      'user',
      ({ site, userId }) => site.callAs({ ...operator, userId })(posts.create, { title: 'x' }),
      'USER_NOT_FOUND',
    ],
  ])('%s the %s that is deleted while it waits', async (_, parent, call, code) => {
    const w = await world(engine)
    let writing: Promise<unknown> | undefined
    await w.other.transaction().execute(async (db) => {
      await deleted[parent]({ ...w, other: db })
      await untilLocked(engine, w.site.db, () => (writing = failure(call(w))))
    })
    expect(await writing).toMatchObject({ code })
  })

  it('a board is not deleted that gets a post meanwhile, where its number of posts was given', async () => {
    const site = await makeSite(engine)
    const { board } = await site.call(boards.create, { name: 'Ideas' })
    const other = await secondConnection(site)
    let deleting: Promise<unknown> | undefined
    await other.transaction().execute(async (db) => {
      await insertPost(db, newPost({ boardId: board.boardId }), []) // prettier-ignore
      await untilLocked(engine, site.db, () => (deleting = failure(site.call(boards.remove, { boardId: board.boardId, ifPosts: 0 })))) // prettier-ignore
    })
    expect(await deleting).toMatchObject({ code: 'CONTENT_CHANGED' })
    await site.call(boards.remove, { boardId: board.boardId, ifPosts: 1 })
  })

  it('a reply becomes a comment of its own when its parent is deleted while it waits', async () => {
    const w = await world(engine)
    const { activity: first } = await w.site.call(comments.create, { post_id: w.postId, body: 'first' })
    let writing: Promise<{ activity: Activity }> | undefined
    await w.other.transaction().execute(async (db) => {
      await db.deleteFrom('comments').where('id', '=', first.id).execute()
      const reply = { post_id: w.postId, body: 'second', parent_id: first.id }
      await untilLocked(engine, w.site.db, () => (writing = w.site.call(comments.create, reply)))
    })
    expect((await writing)?.activity.comment.parent_id).toBeNull()
  })

  it('is a bug with its cause where the write does not declare the reference', async () => {
    const { site, userId } = await world(engine)
    const ctx = { ...site.base, actor: operator, origin: 'cli:tester', dryRun: false }
    let runs = 0
    const work = change(ctx, async ({ db }) => {
      runs++
      await db.insertInto('roles_users').values({ role_id: newId(), user_id: userId }).execute()
    })
    await expect(work).rejects.toMatchObject({ code: engine === 'sqlite' ? 'SQLITE_CONSTRAINT_FOREIGNKEY' : '23503' })
    expect(runs).toBe(1)
  })
})
