import { describe, expect, it } from 'vitest'
import { carrierOf, mail } from '../../src/delivery/mail.js'
import { deliver } from '../../src/delivery/queue.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as follows from '../../src/service/follows.js'
import * as maillinks from '../../src/service/maillinks.js'
import * as notifications from '../../src/service/notifications.js'
import * as settings from '../../src/service/notificationsettings.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as users from '../../src/service/users.js'
import type { Letter } from '../../src/mail/transport.js'
import { MINUTE, newsSite, type NewsSite } from '../support/newssite.js'
import { engines } from '../support/site.js'

/** Sends what waits, and returns what the mail server got. */
async function send({ site }: NewsSite): Promise<Letter[]> {
  const letters: Letter[] = []
  const carrier = carrierOf({
    send: async (letter) => void letters.push(letter),
    verify: async () => {},
    close: () => {},
  })
  for await (const { error } of deliver(site.db, { kind: mail, carrier, now: () => site.clock.now })) expect(error).toBeUndefined() // prettier-ignore
  return letters.filter(({ headers }) => headers?.['List-Id'])
}

const BOTH = ['ann@example.org', 'bea@example.org']
const ANN = ['ann@example.org']

/** What happens while a mail to Ann and Bea waits for the mail server, and who gets it then. */
const CASES: Record<string, [(w: NewsSite) => Promise<unknown>, string[]]> = {
  nothing: [async () => {}, BOTH],
  'a person is blocked': [(w) => w.site.call(users.block, { user: w.bea.userId }), ANN],
  'a person is deleted': [(w) => w.site.call(users.remove, { user: w.bea.userId }), ANN],
  'a person reads it on the page': [(w) => w.as(w.bea)(notifications.read, {}), ANN],
  'a person does not follow the post any more': [(w) => w.as(w.bea)(follows.unfollow, { post_id: w.post.postId }), ANN],
  'a person chooses the page alone': [(w) => w.as(w.bea)(settings.update, { status: 'page' }), ANN],
  'the site mails nothing any more': [(w) => w.site.call(settings.updateSite, { status: 'page' }), []],
  'the board is made private': [(w) => w.site.call(boards.update, { ...w.board, display: false }), []],
  'the post is deleted': [(w) => w.site.call(posts.remove, { id: w.post.postId }), []],
  'the status is taken back': [(w) => w.site.call(posts.update, { id: w.post.postId, roadmapId: null, partial: true }), []], // prettier-ignore
  'the roadmap is made private': [(w) => w.site.call(roadmaps.update, { ...w.shipped, display: false }), []],
}

describe.each(engines)('mails about notifications that wait on %s', (engine) => {
  it.each(Object.entries(CASES))('%s', async (_name, [act, expected]) => {
    const w = await newsSite(engine)
    await w.ship()
    expect(await w.mails()).toHaveLength(2)
    w.later(60 * MINUTE)
    await act(w)
    expect((await send(w)).map(({ recipient }) => recipient).toSorted()).toEqual(expected)
    await w.mails()
    expect(await send(w)).toEqual([]) // and not later
  })

  it('are written again after the quiet hours that have begun meanwhile', async () => {
    const w = await newsSite(engine)
    await w.ship()
    expect(await w.mails()).toHaveLength(2)
    const hour = w.site.clock.now.getUTCHours()
    await w.as(w.bea)(settings.update, { quietFrom: hour + 1, quietUntil: hour + 3, timeZone: 'UTC' })
    w.later(60 * MINUTE)
    expect((await send(w)).map(({ recipient }) => recipient)).toEqual(ANN)
    await w.mails()
    expect(await send(w)).toEqual([])
    w.later(120 * MINUTE)
    await w.mails()
    expect((await send(w)).map(({ recipient }) => recipient)).toEqual(['bea@example.org'])
  })

  it('are written again without what is gone by then, each thing once', async () => {
    const w = await newsSite(engine)
    await w.choose(w.ann, { ways: '{"status":"digest","reply":"mail"}' })
    const { post: other } = await w.as(w.ann)(posts.create, { title: 'Other', boardId: w.board.boardId })
    await w.ship()
    await w.site.call(posts.update, { id: other.postId, roadmapId: w.shipped.id, partial: true })
    await w.as(w.cleo)(comments.create, { post_id: w.post.postId, body: 'Thanks' })
    await w.tell()
    w.later(25 * 60 * MINUTE)
    await w.write()
    await w.site.call(posts.remove, { id: other.postId })
    const first = (await send(w)).filter(({ recipient }) => recipient === 'ann@example.org')
    expect(first.map(({ subject }) => subject)).toEqual([`[Moonbase] Dark mode (#${w.post.number})`])
    await w.write()
    const second = await send(w)
    expect(second.map(({ subject }) => subject)).toEqual(['[Moonbase] Your digest: 1 post'])
    expect(second[0]?.text).toContain('Now Shipped')
    expect(second[0]?.text).not.toMatch(/Thanks|Other/)
    w.later(48 * 60 * MINUTE)
    await w.write()
    expect(await send(w)).toEqual([])
  })

  it('say nothing of a comment that is deleted by then', async () => {
    const w = await newsSite(engine)
    await w.choose(w.cleo, { ways: '{"status":"none"}' })
    await w.ship()
    const { activity } = await w.as(w.cleo)(comments.create, { post_id: w.post.postId, body: 'Thanks' })
    await w.mails()
    await w.as(w.cleo)(comments.remove, { post_id: w.post.postId, comment_id: activity.comment.id })
    expect((await send(w)).map(({ recipient }) => recipient)).toEqual(['bea@example.org'])
    await w.write()
    const [ann, ...rest] = await send(w)
    expect([ann?.recipient, rest]).toEqual(['ann@example.org', []])
    expect(ann?.text).toContain('Now Shipped')
    expect(ann?.text).not.toContain('Thanks')
  })

  it('do not hold others up where one cannot be looked at', async () => {
    const w = await newsSite(engine)
    await w.ship()
    await w.mails()
    await w.site.db.updateTable('deliveries').set({ headers: '{' }).where('recipient', '=', 'ann@example.org').where('priority', '=', 1).execute() // prettier-ignore
    expect((await send(w)).map(({ recipient }) => recipient)).toEqual(['bea@example.org'])
    const { attempts, lastError } = await w.site.db.selectFrom('deliveries').selectAll().where('headers', '=', '{').executeTakeFirstOrThrow() // prettier-ignore
    expect([attempts, lastError]).toEqual([1, expect.stringContaining('JSON')])
  })

  it('are counted as written until they are cancelled', async () => {
    const w = await newsSite(engine)
    await w.ship()
    await w.mails()
    const written = async () =>
      (await w.site.db.selectFrom('notifications').select('mailedAt').execute()).filter(({ mailedAt }) => mailedAt !== null) // prettier-ignore
    expect(await written()).toHaveLength(2)
    await w.as(w.bea)(notifications.read, {})
    await send(w)
    expect(await written()).toHaveLength(1)
  })

  it('do not leave after all mail was stopped, even while they are written', async () => {
    const w = await newsSite(engine)
    await w.ship()
    const [, bea] = await w.mails()
    const token = /token=([\w-]+)/.exec(bea?.text ?? '')?.[1] ?? ''
    // Written by a transaction that ends after the one that stops
    const waiting = await w.site.db.selectFrom('deliveries').selectAll().where('recipient', '=', 'bea@example.org').where('priority', '=', 1).execute() // prettier-ignore
    await w.site.call(maillinks.stopMail, { token })
    await w.site.db.deleteFrom('deliveries').where('recipient', '=', 'bea@example.org').where('priority', '=', 1).execute() // prettier-ignore
    await w.site.db.insertInto('deliveries').values(waiting).execute()
    expect((await send(w)).map(({ recipient }) => recipient)).toEqual(ANN)
  })
})
