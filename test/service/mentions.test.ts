import { describe, expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as follows from '../../src/service/follows.js'
import * as mentions from '../../src/service/mentions.js'
import * as moderation from '../../src/service/moderation.js'
import * as posts from '../../src/service/posts.js'
import { engines } from '../support/site.js'
import { world, type World } from '../support/told.js'

const say = (w: World, body: string, more: object = {}) => w.as(w.bea)(comments.create, { ...w.inPost, body, ...more })
const edit = (w: World, comment: { id: string }, change: object) =>
  w.site.call(comments.update, { ...w.inPost, comment_id: comment.id, partial: true, ...change })
const prefer = (w: World, who: { userId: string }, choices: object) =>
  w.site.db.insertInto('notification_settings').values({ userId: who.userId, ...choices }).execute() // prettier-ignore
const noteBy = async (w: World, body: string, more: object = {}) => {
  const team = await w.site.member(['comment:view_internal', 'comment:create_internal'])
  return (await w.as(team)(comments.create, { ...w.inPost, body, is_internal: true, ...more })).activity
}

/** Who is told of a mention: each line is a site of its own. Ann wrote the post, and is told of each comment on it. */
const CASES: Record<string, [(w: World) => Promise<unknown>, Record<string, string[]>]> = {
  'in a comment': [(w) => say(w, 'Ask @dan'), { ann: ['reply Ask @dan'], dan: ['mention Ask @dan'] }],
  'in a post': [(w) => w.as(w.bea)(posts.create, { title: 'New', contentMarkdown: '@dan?', boardId: w.board.boardId }), { dan: ['mention'] }], // prettier-ignore
  'in an update of the team: who is not told of it anyway': [
    (w) => w.site.call(posts.update, { id: w.post.postId, partial: true, message: 'Thanks @bea and @dan' }),
    {
      ann: ['update Thanks @bea and @dan'],
      bea: ['update Thanks @bea and @dan'],
      cleo: ['update Thanks @bea and @dan'],
      dan: ['mention Thanks @bea and @dan'],
    },
  ],
  'in a quiet update: nobody': [
    (w) => w.site.call(posts.update, { id: w.post.postId, partial: true, message: 'Hm @dan', quiet: true }),
    {},
  ],
  'twice in one text: once': [(w) => say(w, '@dan @dan'), { ann: ['reply @dan @dan'], dan: ['mention @dan @dan'] }],
  'of somebody who is told of the reply: once': [
    (w) => say(w, '@cleo @ann', { parent_id: w.comment.id }),
    { cleo: ['reply @cleo @ann'], ann: ['mention @cleo @ann'] },
  ],
  'of oneself: not': [(w) => say(w, 'I, @bea'), { ann: ['reply I, @bea'] }],
  'of somebody else in the text of another, by who edits it': [
    (w) => edit(w, w.comment, { body: '@cleo and @dan' }),
    { dan: ['mention @cleo and @dan'] },
  ],
  'in another case: nobody': [(w) => say(w, '@Dan'), { ann: ['reply @Dan'] }],
  'of nobody': [(w) => say(w, '@nobody'), { ann: ['reply @nobody'] }],
  'of somebody blocked': [
    async (w) => {
      await w.site.db.updateTable('users').set({ isBlocked: 1 }).where('userId', '=', w.dan.userId).execute()
      await say(w, '@dan')
      await w.run()
      await w.site.db.updateTable('users').set({ isBlocked: 0 }).where('userId', '=', w.dan.userId).execute()
    },
    { ann: ['reply @dan'] },
  ],
  'of somebody who unfollowed the post': [
    async (w) => {
      await w.as(w.dan)(follows.unfollow, w.inPost)
      await say(w, '@dan')
    },
    { ann: ['reply @dan'] },
  ],
  'of somebody who wants no mentions': [
    async (w) => {
      await prefer(w, w.dan, { ways: JSON.stringify({ mention: 'none' }) })
      await say(w, '@dan')
    },
    { ann: ['reply @dan'] },
  ],
  'in an internal note: only who may read it': [
    async (w) => {
      const reader = await w.site.member(['comment:view_internal'])
      await w.site.db.updateTable('users').set({ username: 'reader' }).where('userId', '=', reader.userId).execute()
      Object.assign(w.people, { reader })
      await noteBy(w, '@dan @reader')
    },
    { reader: ['mention @dan @reader'] },
  ],
  'in an internal note that becomes public: the others too': [
    async (w) => {
      const note = await noteBy(w, '@dan')
      await w.run()
      await edit(w, note, { is_internal: false })
    },
    { dan: ['mention @dan'] },
  ],
  'in a post of a private board: nobody who may not read it': [
    async (w) => {
      const { board } = await w.site.call(boards.create, { name: 'Secret', display: false })
      await w.site.call(posts.create, { title: 'New', contentMarkdown: '@dan', boardId: board.boardId })
    },
    {},
  ],
  'in a comment that is spam by now: nobody': [
    async (w) => {
      const { activity } = await say(w, '@dan')
      await w.site.call(moderation.decide, { id: activity.id, decision: 'spam' })
    },
    {},
  ],
  'in a post that is shown after all: then': [
    async (w) => {
      const { post } = await w.as(w.bea)(posts.create, { title: 'New', contentMarkdown: '@dan', boardId: w.board.boardId }) // prettier-ignore
      await w.site.call(moderation.decide, { id: post.postId, decision: 'spam' })
      await w.run()
      await w.site.call(moderation.decide, { id: post.postId, decision: 'keep' })
    },
    { dan: ['mention'] },
  ],
  'added by an edit: only who is new': [
    async (w) => {
      const { activity } = await say(w, '@dan')
      await w.run()
      await edit(w, activity, { body: '@dan @cleo' })
    },
    { ann: ['reply @dan @cleo'], dan: ['mention @dan @cleo'], cleo: ['mention @dan @cleo'] },
  ],
  'taken out and put back: once': [
    async (w) => {
      const { activity } = await say(w, '@dan')
      for (const body of ['nobody', '@dan']) {
        await w.run()
        await edit(w, activity, { body })
      }
    },
    { ann: ['reply @dan'], dan: ['mention @dan'] },
  ],
  'in a text that stands there since before the upgrade: nobody, whatever else changes': [
    async (w) => {
      await w.site.db.updateTable('posts').set({ contentMarkdown: '@dan' }).execute()
      await w.site.call(posts.update, { id: w.post.postId, title: 'Dark theme', partial: true })
    },
    {},
  ],
  'by an edit of a post': [
    (w) => w.as(w.ann)(posts.update, { id: w.post.postId, contentMarkdown: '@dan', partial: true }),
    { dan: ['mention'] },
  ],
}

describe.each(engines)('mentions on %s', (engine) => {
  it.each(Object.entries(CASES))('%s', async (_name, [happens, expected]) => {
    const w = await world(engine)
    await happens(w)
    expect(await w.told()).toEqual(expected)
  })

  it('make people follow the post, unless they switched that off or the comment is hidden', async () => {
    const w = await world(engine)
    const follow = async () => (await w.as(w.dan)(follows.followed, w.inPost)).following
    const { activity } = await say(w, '@dan')
    await w.run()
    expect(await follow()).toBe(true)
    const { followers, total_count: total } = await w.site.call(follows.followers, w.inPost)
    expect(followers.find(({ userId }) => userId === w.dan.userId)?.reason).toBe('mentioned')
    expect([total, followers.length]).toEqual([4, 4])
    await w.site.call(moderation.decide, { id: activity.id, decision: 'spam' })
    expect(await follow()).toBe(false)
    await w.site.call(moderation.decide, { id: activity.id, decision: 'keep' })
    expect(await follow()).toBe(true)
    await prefer(w, w.dan, { followsMentioned: 0 })
    expect(await follow()).toBe(false)
    expect((await w.site.call(follows.followers, w.inPost)).total_count).toBe(3)
  })

  it('are told once where an event is handled again', async () => {
    const w = await world(engine)
    await say(w, '@dan @cleo')
    const before = await w.told()
    await w.site.db.updateTable('event_cursors').set({ last_id: 0 }).where('consumer', '=', 'notifications').execute()
    const { dan, cleo } = await w.told()
    expect({ dan, cleo }).toEqual({ dan: before.dan, cleo: before.cleo })
  })
})

describe.each(engines)('people to mention on %s', (engine) => {
  const namesFor = async (w: World, who: { token: string }) =>
    (await w.as(who)(mentions.people, w.inPost)).people.map(({ username }) => username)

  it('are who wrote, who commented and the team, without voters, the blocked and oneself', async () => {
    const w = await world(engine)
    const team = await w.site.member(['dashboard:read'])
    await w.site.db.updateTable('users').set({ username: 'team' }).where('userId', '=', team.userId).execute()
    const owner = await w.site.db.selectFrom('users').select('username').where('isOwner', '=', 1).executeTakeFirstOrThrow() // prettier-ignore
    expect(await namesFor(w, w.dan)).toEqual(['cleo', 'ann', owner.username, 'team'])
    expect(await namesFor(w, w.ann)).toEqual(['cleo', owner.username, 'team'])
    await w.site.db.updateTable('users').set({ isBlocked: 1 }).where('userId', '=', w.cleo.userId).execute()
    await w.site.db.updateTable('users').set({ username: 'ann.' }).where('userId', '=', w.ann.userId).execute()
    expect(await namesFor(w, w.dan)).toEqual([owner.username, 'team'])
    const { status, text } = await w.site.http(`GET /posts/${w.post.postId}/people`, { token: w.dan.token })
    expect([status, text.includes('@')]).toEqual([200, false])
  })

  it('name who wrote an internal note or what is spam only to those who may read it', async () => {
    const w = await world(engine)
    const { activity } = await w.as(w.dan)(comments.create, { ...w.inPost, body: 'Buy!' })
    await w.site.call(moderation.decide, { id: activity.id, decision: 'spam' })
    const note = await w.site.member(['comment:view_internal', 'comment:create_internal'])
    await w.site.db.updateTable('users').set({ username: 'note' }).where('userId', '=', note.userId).execute()
    await w.as(note)(comments.create, { ...w.inPost, body: 'Hm', is_internal: true })
    const reader = await w.site.member(['comment:view_internal'])
    expect((await namesFor(w, w.ann)).slice(0, 1)).toEqual(['cleo'])
    expect((await namesFor(w, reader)).slice(0, 2)).toEqual(['note', 'cleo'])
  })

  it('are in the data that the person gets, each once', async () => {
    const w = await world(engine)
    const { activity } = await say(w, '@dan, and again @dan')
    const { post } = await w.as(w.bea)(posts.create, { title: 'New', contentMarkdown: '@dan?' })
    await w.run()
    const { body } = await w.site.http('GET /users/profile/data', { token: w.dan.token })
    expect(body.mentions).toHaveLength(2)
    expect(body.mentions).toEqual(expect.arrayContaining([
      { postId: w.post.postId, commentId: activity.comment.id, createdAt: expect.any(String) },
      { postId: post.postId, commentId: null, createdAt: expect.any(String) },
    ])) // prettier-ignore
  })
})
