import { describe, expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as events from '../../src/service/events.js'
import * as follows from '../../src/service/follows.js'
import * as merges from '../../src/service/merges.js'
import * as posts from '../../src/service/posts.js'
import { audience } from '../../src/service/audience.js'
import { told } from '../../src/service/told.js'
import { toldPeople } from '../../src/service/toldpeople.js'
import * as users from '../../src/service/users.js'
import * as votes from '../../src/service/votes.js'
import { engines } from '../support/site.js'
import { world, type World } from '../support/told.js'

/** The newest event of an action, who was told of it, and who was not and why. */
async function shown(w: World, action: string) {
  await w.run()
  const { id } = await w.site.db.selectFrom('events').select('id').where('action', '=', action).orderBy('id', 'desc').limit(1).executeTakeFirstOrThrow() // prettier-ignore
  const { people } = await w.site.call(toldPeople, { id })
  const { people: others } = await w.site.call(toldPeople, { id, told: false })
  return {
    id,
    told: people.map(({ username }) => username).toSorted(),
    untold: Object.fromEntries(others.map(({ username, reason }) => [username, reason])),
  }
}

const CASES: Record<string, [(w: World) => Promise<unknown>, string, string[], Record<string, string>]> = {
  'all who follow the post': [(w) => w.ship(), 'post.updated', ['ann', 'bea', 'cleo'], {}],
  'who did it': [
    async (w) => {
      const eve = await w.site.member(['post:update'])
      await w.site.db.updateTable('users').set({ username: 'eve' }).where('userId', '=', eve.userId).execute()
      await w.as(eve)(follows.follow, w.inPost)
      await w.as(eve)(posts.update, { id: w.post.postId, roadmapId: w.shipped.id, partial: true })
    },
    'post.updated',
    ['ann', 'bea', 'cleo'],
    { eve: 'own' },
  ],
  'who owned the site when it was changed at the command line': [
    async (w) => {
      await w.as({ token: w.token })(follows.follow, w.inPost)
      await w.site.db.updateTable('users').set({ username: 'owner' }).where('isOwner', '=', 1).execute()
      await w.ship()
      await w.run()
      await w.site.db.updateTable('users').set({ isOwner: 0 }).where('isOwner', '=', 1).execute()
      await w.site.db.updateTable('users').set({ isOwner: 1 }).where('userId', '=', w.dan.userId).execute()
    },
    'post.updated',
    ['ann', 'bea', 'cleo'],
    { owner: 'own' },
  ],
  'a quiet change': [(w) => w.ship({ quiet: true }), 'post.updated', [], { ann: 'quiet', bea: 'quiet', cleo: 'quiet' }],
  'who is blocked, unfollowed the post, follows no votes, or chose not to be told': [
    async (w) => {
      await w.site.call(users.block, { user: w.cleo.userId })
      await w.as(w.ann)(follows.unfollow, w.inPost)
      await w.as(w.dan)(votes.add, { postId: w.post.postId })
      const none = { userId: w.bea.userId, ways: '{"status":"none"}' }
      const votesNot = { userId: w.dan.userId, followsVoted: 0 }
      for (const row of [none, votesNot]) await w.site.db.insertInto('notification_settings').values(row).execute()
      await w.ship()
    },
    'post.updated',
    [],
    { ann: 'muted', bea: 'off', cleo: 'blocked', dan: 'unfollowed' },
  ],
  'who may not read it, and who came later': [
    async (w) => {
      await w.site.call(boards.update, { ...w.board, display: false })
      await w.ship()
      await w.run()
      await w.site.call(boards.update, { ...w.board, display: true })
      w.site.clock.now = new Date(w.site.clock.now.getTime() + 1000)
      await w.as(w.dan)(votes.add, { postId: w.post.postId })
      await w.site.call(boards.update, { ...w.board, display: false })
    },
    'post.updated',
    [],
    { ann: 'unreadable', bea: 'unreadable', cleo: 'unreadable', dan: 'later' },
  ],
  'who could be told by now': [
    async (w) => {
      await w.site.call(boards.update, { ...w.board, display: false })
      await w.ship()
      await w.run()
      await w.site.call(boards.update, { ...w.board, display: true })
    },
    'post.updated',
    [],
    { ann: 'unknown', bea: 'unknown', cleo: 'unknown' },
  ],
  'a comment': [async (w) => w.as(w.dan)(comments.create, { ...w.inPost, body: 'Hm' }), 'comment.created', ['ann'], {}],
  'a comment of who wrote the post': [
    async (w) => w.as(w.ann)(comments.create, { ...w.inPost, body: 'Hm' }),
    'comment.created',
    [],
    { ann: 'own' },
  ],
  'a merge': [
    async (w) => w.site.call(merges.merge, { ids: [w.post.postId], into: await w.other() }),
    'post.merged',
    ['ann', 'bea', 'cleo'],
    {},
  ],
}

describe.each(engines)('who was told on %s', (engine) => {
  it.each(Object.entries(CASES))('%s', async (_name, [act, action, told, untold]) => {
    const w = await world(engine)
    await act(w)
    const { id: _, ...found } = await shown(w, action)
    expect(found).toEqual({ told, untold })
  })

  it('is listed page by page, and shown to nobody who may not know', async () => {
    const w = await world(engine)
    await w.ship()
    const { id } = await shown(w, 'post.updated')
    const first = await w.site.call(toldPeople, { id, limit: 2 })
    expect(first.page_info).toMatchObject({ has_next_page: true })
    const rest = await w.site.call(toldPeople, { id, limit: 2, after: first.people.at(-1)?.userId })
    expect([...first.people, ...rest.people].map(({ username }) => username).toSorted()).toEqual(['ann', 'bea', 'cleo'])
    const staff = await w.site.member(['post:update'])
    expect((await w.as(staff)(toldPeople, { id })).people).toHaveLength(3)
    await w.site.call(boards.update, { ...w.board, display: false })
    const { id: about } = await w.site.db.selectFrom('events').select('id').where('action', '=', 'board.created').executeTakeFirstOrThrow() // prettier-ignore
    for (const none of [id, about, 999_999])
      await expect(w.as(staff)(toldPeople, { id: none })).rejects.toMatchObject({ code: 'EVENT_NOT_FOUND' })
    const { activity } = await w.site.call(comments.create, { ...w.inPost, body: 'Note', is_internal: true })
    await w.site.call(boards.update, { ...w.board, display: true })
    const note = await w.site.db.selectFrom('events').select('id').where('subject_id', '=', activity.id).executeTakeFirstOrThrow() // prettier-ignore
    await expect(w.as(staff)(toldPeople, { id: note.id })).rejects.toMatchObject({ code: 'EVENT_NOT_FOUND' })
  })
})

describe.each(engines)('who does not see the votes of a post, on %s', (engine) => {
  it('cannot guess them by who is told, nor find a voter among those who are', async () => {
    const w = await world(engine)
    await w.ship()
    await w.run()
    const event = await w.site.db.selectFrom('events').select('id').where('action', '=', 'post.updated').executeTakeFirstOrThrow() // prettier-ignore
    const [editor, team] = [
      await w.site.member(['post:update']),
      await w.site.member(['post:update', 'dashboard:read']),
    ]
    const answers = async (who: { token: string }) => {
      const tries = [
        w.as(who)(audience, w.inPost),
        w.as(who)(audience, { post_id: other, also: [w.post.postId] }),
        w.as(who)(told, w.inPost),
        w.as(who)(toldPeople, { id: event.id }),
        w.as(who)(toldPeople, { id: event.id, told: false }),
      ]
      return (await Promise.allSettled(tries)).map((each) => (each.status === 'fulfilled' ? 'ok' : (each.reason as { code: string }).code)) // prettier-ignore
    }
    const other = await w.other()
    const [all, none] = [Array(5).fill('ok'), Array(5).fill('NOT_ENOUGH_PERMISSION')]
    expect(await answers(editor)).toEqual(all)
    await w.site.call(boards.update, { boardId: w.board.boardId, view_voters: false, partial: true })
    expect(await answers(editor)).toEqual([...all.slice(0, 3), ...none.slice(3)])
    await w.site.call(boards.update, { boardId: w.board.boardId, hides_votes: true, partial: true })
    expect(await answers(editor)).toEqual(none)
    expect(await answers(team)).toEqual(all)
  })

  it('cannot guess them by the number that an event has told either, with the log alone', async () => {
    const w = await world(engine)
    await w.ship()
    await w.run()
    const event = await w.site.db.selectFrom('events').select('id').where('action', '=', 'post.updated').executeTakeFirstOrThrow() // prettier-ignore
    const [auditor, team] = [
      await w.site.member(['event:read']),
      await w.site.member(['event:read', 'dashboard:read', 'board:read']),
    ]
    const toldTo = async (who: { token: string }) => (await w.as(who)(events.show, { id: event.id })).told
    const three = { people: 3 }
    expect([await toldTo(auditor), await toldTo(team)]).toMatchObject([three, three])
    await w.site.call(boards.update, { boardId: w.board.boardId, hides_votes: true, partial: true })
    expect([await toldTo(auditor), await toldTo(team)]).toMatchObject([null, three])
    await w.site.call(boards.update, { boardId: w.board.boardId, hides_votes: false, display: false, partial: true })
    expect([await toldTo(auditor), await toldTo(team)]).toMatchObject([null, three])
  })
})
