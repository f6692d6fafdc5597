import { describe, expect, it } from 'vitest'
import { effectiveWays } from '../../src/core/notificationways.js'
import { PERMISSIONS, type Permission } from '../../src/core/permissions.js'
import { readSettings } from '../../src/db/settings.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as eventundo from '../../src/service/eventundo.js'
import * as events from '../../src/service/events.js'
import * as labs from '../../src/service/labs.js'
import * as merges from '../../src/service/merges.js'
import * as moderation from '../../src/service/moderation.js'
import * as notificationSettings from '../../src/service/notificationsettings.js'
import * as posts from '../../src/service/posts.js'
import { tag } from '../../src/service/posttags.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as roles from '../../src/service/roles.js'
import * as settings from '../../src/service/settings.js'
import * as tags from '../../src/service/tags.js'
import * as users from '../../src/service/users.js'
import { operator } from '../../src/service/lib/access.js'
import * as votes from '../../src/service/votes.js'
import { engines, failure, makeSite, type Engine } from '../support/site.js'

async function makeWorld(engine: Engine) {
  const site = await makeSite(engine)
  await site.owner()
  const author = await site.member([])
  const as = site.callAs({ ...operator, userId: author.userId })
  for (const name of ['Ideas', 'Bugs']) await site.call(boards.create, { name })
  for (const name of ['Planned', 'Doing', 'Done']) await site.call(roadmaps.create, { name })
  for (const name of ['Mobile', 'Web']) await site.call(tags.create, { name })
  await site.call(roles.create, { name: 'Helpers', permissions: [...PERMISSIONS] })
  const { post } = await as(posts.create, { title: 'Dark mode', boardId: 'ideas' })
  const { activity } = await as(comments.create, { post_id: post.postId, body: 'Yes' })
  const last = async () => (await site.call(events.list, { created: 'desc', limit: 1 })).events[0] as events.Event
  const undo = (id: number) => site.call(eventundo.undo, { id })
  return { site, author, as, id: post.postId, comment: activity.id, last, undo }
}
type World = Awaited<ReturnType<typeof makeWorld>>

/** Each changes something, and reads it. */
const changes: Record<string, { change(world: World): Promise<unknown>; state(world: World): Promise<unknown> }> = {
  'a board': {
    change: ({ site }) => site.call(boards.update, { boardId: 'ideas', name: 'Bright', color: '1d4ed8', display: false, view_voters: false, partial: true }), // prettier-ignore
    state: ({ site }) => site.db.selectFrom('boards').select(['name', 'url', 'color', 'display', 'view_voters']).orderBy('boardId').execute(), // prettier-ignore
  },
  'a roadmap': {
    change: ({ site }) => site.call(roadmaps.update, { id: 'doing', name: 'Next', url: 'next', kind: 'done', partial: true }), // prettier-ignore
    state: ({ site }) => site.db.selectFrom('roadmaps').select(['name', 'url', 'kind']).orderBy('id').execute(),
  },
  'the order of roadmaps': {
    change: ({ site }) => site.call(roadmaps.move, { roadmap: 'planned', position: 3 }),
    state: ({ site }) => site.db.selectFrom('roadmaps').select('url').orderBy('index').execute(),
  },
  'a tag': {
    change: ({ site }) => site.call(tags.update, { tagId: 'mobile', name: 'Phones', display: false, partial: true }),
    state: ({ site }) => site.db.selectFrom('tags').select(['name', 'url', 'display']).orderBy('tagId').execute(),
  },
  'tags of a post': {
    async change({ site, id }) {
      await site.call(tag, { ids: [id], add: ['mobile'] })
      return site.call(tag, { ids: [id], add: ['web'], remove: ['mobile'] })
    },
    state: async ({ site, id }) => (await site.db.selectFrom('post_tags').innerJoin('tags', 'tags.tagId', 'post_tags.tagId').select('name').where('postId', '=', id).execute()).filter(({ name }) => name === 'Web'), // prettier-ignore
  },
  'a post': {
    change: ({ site, id }) => site.call(posts.update, { id, title: 'Night', boardId: 'bugs', roadmapId: 'planned', partial: true }), // prettier-ignore
    state: ({ site }) => site.db.selectFrom('posts').select(['title', 'boardId', 'roadmap_id']).execute(),
  },
  'a comment': {
    change: ({ site, id, comment }) => site.call(comments.update, { post_id: id, comment_id: comment, is_internal: true, partial: true }), // prettier-ignore
    state: ({ site }) => site.db.selectFrom('comments').select(['is_internal', 'is_spam']).execute(),
  },
  'a vote': {
    change: ({ site, id }) => site.call(votes.add, { postId: id }),
    state: ({ site }) => site.db.selectFrom('votes').select('userId').execute(),
  },
  'a merge': {
    async change({ site, id }) {
      const { post } = await site.call(posts.create, { title: 'Dark theme' })
      return site.call(merges.merge, { ids: [post.postId], into: id })
    },
    state: ({ site }) => site.db.selectFrom('merges').select('rootId').execute(),
  },
  'a role': {
    async change({ site }) {
      const { role } = await site.call(roles.show, { id: 'Helpers' })
      return site.call(roles.update, { id: role.id, name: 'Others', permissions: ['post:update'] })
    },
    state: ({ site }) =>
      site.db.selectFrom('roles').select('name').where('name', 'in', ['Helpers', 'Others']).execute(),
  },
  'a block': {
    change: ({ site, author }) => site.call(users.block, { user: author.userId }),
    state: ({ site }) => site.db.selectFrom('users').select('isBlocked').orderBy('userId').execute(),
  },
  'settings of the site': {
    change: ({ site }) => site.call(settings.update, { title: 'Moon', accentColor: 'ff0000', announcement: 'Soon', headerLinks: ['[Home](https://example.org)'], allowSignup: false }), // prettier-ignore
    state: ({ site }) => site.db.selectFrom('settings').select(['title', 'accentColor', 'announcement', 'headerLinks', 'allowSignup']).executeTakeFirstOrThrow(), // prettier-ignore
  },
  'ways of notifications': {
    change: ({ site }) => site.call(notificationSettings.updateSite, { status: 'none' }),
    state: async ({ site }) => effectiveWays((await readSettings(site.db)).notificationWays),
  },
  labs: {
    change: ({ site }) => site.call(labs.update, { voteOnBehalf: true }),
    state: async ({ site }) => settings.labsOf(await readSettings(site.db)).voteOnBehalf === true,
  },
}

describe.each(engines)('undo of an event on %s', (engine) => {
  it('takes each kind of change back once, and undoing the undo makes it again', async () => {
    const world = await makeWorld(engine)
    for (const [name, { change, state }] of Object.entries(changes)) {
      const before = await state(world)
      await change(world)
      const changed = await state(world)
      expect([name, changed]).not.toEqual([name, before])
      const event = await world.last()
      const { undone_by: by } = await world.undo(event.id)
      expect([name, await state(world)]).toEqual([name, before])
      const again = (await failure(world.undo(event.id))).message
      expect([name, again]).toEqual([name, expect.stringContaining(`was undone already: event ${by.at(-1)}`)])
      await world.undo(by[0] ?? 0)
      expect([name, await state(world)]).toEqual([name, changed])
    }
  })

  it('names the newer event that contradicts, and changes nothing', async () => {
    const { site, last, undo, id } = await makeWorld(engine)
    const { token } = await site.member(['board:update', 'event:read', 'board:read'])
    await site.call(boards.update, { boardId: 'ideas', name: 'One', color: '111111', partial: true })
    const first = await last()
    await site.http('PATCH /boards', { token, body: { boardId: 'ideas', name: 'Two', partial: true } })
    const second = await last()
    const error = await failure(undo(first.id))
    expect(error).toMatchObject({ code: 'CONTENT_CHANGED', status: 409, exit: 5 })
    expect(error.message).toContain(
      `event ${second.id} (board.updated by ${second.actor?.username}, ${second.created_at})`,
    )
    expect((await site.call(boards.show, { url: 'ideas' })).board).toMatchObject({ name: 'Two', color: '111111' })
    expect(await last()).toEqual(second)
    await undo(second.id)
    expect((await site.call(boards.show, { url: 'ideas' })).board).toMatchObject({ name: 'One' })
    await undo(first.id)
    expect((await site.call(boards.show, { url: 'ideas' })).board).toMatchObject({ name: 'Ideas' })
    await site.call(posts.update, { id, roadmapId: 'planned', partial: true })
    const moved = await last()
    await site.call(posts.remove, { id })
    expect((await failure(undo(moved.id))).message).toContain('(post.deleted by')
  })

  it('says in a sentence why something cannot be undone', async () => {
    const { site, last, undo, id, author, comment } = await makeWorld(engine)
    const refusal = async () => {
      const { message, code } = await failure(undo((await last()).id))
      expect(code).toBe('UNDO_REFUSED')
      return message
    }
    await site.call(posts.update, { id, contentMarkdown: 'Now with text', partial: true })
    expect(await refusal()).toContain('the log keeps no texts')
    await site.call(settings.update, { customCss: `a { color: red } ${'/* long */ '.repeat(90)}` })
    expect(await refusal(), 'a newer change could be lost').toContain('only its start')
    await site.call(settings.update, { customCss: '' })
    expect(await refusal()).toContain('only its start')
    await site.call(moderation.decide, { id, decision: 'spam' })
    expect(await refusal(), 'what is hidden stays so').toContain('decided about again in the queue')
    await site.call(moderation.decide, { id, decision: 'keep' })
    expect(await refusal()).toContain('decided about again in the queue')
    await site.call(comments.update, { post_id: id, comment_id: comment, is_spam: true, partial: true })
    expect(await refusal()).toContain('decided about again in the queue')
    for (const name of ['one, two', 'one', 'two']) await site.call(tags.create, { name })
    await site.call(tag, { ids: [id], add: ['one', 'two'] })
    expect(await refusal(), 'one tag or two').toContain('does not keep what was there before')
    await site.call(boards.remove, { boardId: 'bugs' })
    expect(await refusal()).toContain('What was deleted is gone')
    await site.call(boards.create, { name: 'New' })
    expect(await refusal()).toContain('An undo deletes nothing')
    await site.http(`PUT /posts/${id}/follow`, { token: author.token })
    expect(await refusal()).toContain('Only that person')
  })

  it('needs event:read and what the opposite change needs, and a dry run changes nothing', async () => {
    const { site, last } = await makeWorld(engine)
    await site.call(boards.update, { boardId: 'ideas', name: 'Bright', partial: true })
    const { id } = await last()
    const undo = async (...permissions: Permission[]) => {
      const { token } = await site.member(permissions)
      return site.http(`POST /events/${id}/undo`, { token })
    }
    expect(await undo('board:update')).toMatchObject({ status: 403, body: { code: 'NOT_ENOUGH_PERMISSION' } })
    expect(await undo('event:read')).toMatchObject({ status: 403, body: { message: expect.stringContaining('board:update') } }) // prettier-ignore
    expect((await last()).id).toBe(id)
    expect((await undo('event:read', 'board:update')).body).toMatchObject({ event: { id }, undone_by: [id + 1] })
    expect((await last()).details).toEqual([
      { field: 'name', before: 'Bright', after: 'Ideas' },
      { field: 'undoes', before: null, after: String(id) },
    ])
  })
})
