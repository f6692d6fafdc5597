import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { recordBounce } from '../../src/db/mailbounces.js'
import { queueMail } from '../../src/delivery/mail.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as follows from '../../src/service/follows.js'
import * as merges from '../../src/service/merges.js'
import * as notifications from '../../src/service/notifications.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as votes from '../../src/service/votes.js'
import * as users from '../../src/service/users.js'
import { MINUTE, newsSite, type NewsSite } from '../support/newssite.js'
import { cleanup, engines } from '../support/site.js'

const recipients = (rows: { recipient: string }[]) => rows.map(({ recipient }) => recipient)
const BOTH = ['ann@example.org', 'bea@example.org']

/** Who is mailed after five minutes: each line is a site of its own. */
const CASES: Record<string, [(w: NewsSite) => Promise<unknown>, string[]]> = {
  'a new status': [(w) => w.ship(), BOTH],
  'twice in five minutes: once': [async (w) => (await w.ship(w.planned), await w.tell(), w.later(MINUTE), await w.ship()), BOTH], // prettier-ignore
  'a status that was taken back before the mail': [
    async (w) => {
      await w.ship()
      await w.tell()
      await w.site.call(posts.update, { id: w.post.postId, roadmapId: null, partial: true })
    },
    [],
  ],
  'who read it on the page': [
    async (w) => (await w.ship(), await w.tell(), await w.as(w.bea)(notifications.read, {})),
    ['ann@example.org'],
  ],
  'who does not follow it any more': [
    async (w) => (await w.ship(), await w.tell(), await w.as(w.ann)(follows.unfollow, { post_id: w.post.postId })),
    ['bea@example.org'],
  ],
  'who is blocked before the mail': [
    async (w) => (await w.ship(), await w.tell(), await w.site.call(users.block, { user: w.bea.userId })),
    ['ann@example.org'],
  ],
  'who is deleted before the mail': [
    async (w) => (await w.ship(), await w.tell(), await w.site.call(users.remove, { user: w.bea.userId })),
    ['ann@example.org'],
  ],
  'an unconfirmed address': [
    async (w) => (
      await w.site.db.updateTable('users').set({ isVerified: 0 }).where('userId', '=', w.bea.userId).execute(),
      await w.ship()
    ),
    ['ann@example.org'],
  ],
  'a board that is private before the mail': [
    async (w) => (await w.ship(), await w.tell(), await w.site.call(boards.update, { ...w.board, display: false })),
    [],
  ],
  'a post that is deleted before the mail': [
    async (w) => (await w.ship(), await w.tell(), await w.site.call(posts.remove, { id: w.post.postId })),
    [],
  ],
  'whose role is lost before the mail about a private board': [
    async (w) => {
      const eve = await w.person('eve@example.org', ['board:read'])
      const zoe = await w.person('zoe@example.org', ['board:read'])
      for (const one of [eve, zoe]) await w.as(one)(follows.follow, { post_id: w.post.postId })
      await w.site.call(boards.update, { ...w.board, display: false })
      await w.ship()
      await w.tell()
      await w.site.db.deleteFrom('roles_users').where('user_id', '=', eve.userId).execute()
    },
    ['zoe@example.org'],
  ],
  'a post that is merged before the mail: once, of both': [
    async (w) => (await w.ship(), await w.tell(), await w.mergeIt()),
    BOTH,
  ],
  'a post that is merged and taken apart before the mail': [
    async (w) => {
      await w.ship()
      await w.tell()
      await w.mergeIt()
      await w.tell()
      await w.site.call(merges.unmerge, { ids: [w.post.postId] })
    },
    BOTH,
  ],
  'who chose the page alone, or nothing': [
    async (w) => (await w.choose(w.ann, { ways: '{"status":"page"}' }), await w.choose(w.bea, { ways: '{"status":"none"}' }), await w.ship()), // prettier-ignore
    [],
  ],
  'who switched off to follow what they voted for': [
    async (w) => (await w.choose(w.bea, { followsVoted: 0 }), await w.ship()),
    ['ann@example.org'],
  ],
  'who withdrew the vote before the mail': [
    async (w) => (await w.ship(), await w.tell(), await w.as(w.bea)(votes.remove, { postId: w.post.postId })),
    ['ann@example.org'],
  ],
  'who withdrew the vote, and votes again': [
    async (w) => {
      await w.ship()
      await w.tell()
      await w.as(w.bea)(votes.remove, { postId: w.post.postId })
      await w.as(w.bea)(votes.add, { postId: w.post.postId })
    },
    BOTH,
  ],
  'an address that refuses mail': [
    async (w) => {
      const row = { userId: w.bea.userId, bounces: 3, reason: '550', bouncedAt: w.site.clock.now.toISOString() }
      await w.site.db
        .insertInto('mail_bounces')
        .values({ ...row, suppressedAt: row.bouncedAt })
        .execute()
      await w.ship()
    },
    ['ann@example.org'],
  ],
}

describe.each(engines)('mails about notifications on %s', (engine) => {
  it.each(Object.entries(CASES))('%s', async (_name, [act, expected]) => {
    const w = await newsSite(engine)
    await act(w)
    expect(recipients(await w.mails())).toEqual(expected)
    expect(recipients(await w.mails())).toEqual(expected) // and not again
  })

  it('waits for five minutes, and says all that happened to the post meanwhile', async () => {
    const w = await newsSite(engine)
    await w.ship(w.shipped, { message: 'It **is** there.\n\nEnjoy <b>it</b>!' })
    await w.tell()
    w.later(4 * MINUTE)
    expect(await w.write()).toEqual([])
    await w.as(w.cleo)(comments.create, { post_id: w.post.postId, body: 'Thanks' })
    await w.tell()
    w.later(MINUTE)
    const [ann, bea] = await w.write()
    expect(ann).toMatchObject({ subject: `[Moonbase] Dark mode (#${w.post.number})`, priority: 1 })
    expect(ann?.text).toContain('* Now Shipped\n  > It is there.\n  >\n  > Enjoy <b>it</b>!\n')
    expect(ann?.text).toContain('replied to you\n  > Thanks\n')
    expect(ann?.html).toContain('Enjoy &lt;b&gt;it&lt;&#x2F;b&gt;!')
    expect(bea?.text).not.toContain('Thanks')
    w.later(60 * MINUTE)
    expect(await w.write()).toHaveLength(2)
  })

  it.each([[0], [2], [60]])('waits for as long as the operator says: %i minutes', async (minutes) => {
    const w = await newsSite(engine)
    await w.ship()
    await w.tell({ mail: { url: 'sendmail:', from: '', gather: minutes * 60 } })
    w.later(Math.max(minutes * MINUTE - 1, 0))
    expect(await w.write()).toHaveLength(minutes === 0 ? 2 : 0)
    w.later(1)
    expect(await w.write()).toHaveLength(2)
  })

  it('has the headers for one click out and for a thread', async () => {
    const w = await newsSite(engine)
    await w.ship()
    const [first] = await w.mails()
    await w.ship(w.planned)
    const [, second] = await w.mails()
    const [headers, again] = [first, second].map((each) => JSON.parse(each?.headers ?? '{}') as Record<string, string>)
    expect(headers).toEqual({
      'X-News-Count': '1',
      'List-Id': '<notifications.ideas.example.org>',
      'List-Unsubscribe': expect.stringMatching(
        /^<https:\/\/ideas\.example\.org\/notifications\/mail\/unsubscribe\?token=[\w-]{32}>$/,
      ),
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      'In-Reply-To': `<post.${w.post.postId}@ideas.example.org>`,
      References: `<post.${w.post.postId}@ideas.example.org>`,
    })
    expect(again).toEqual(headers)
    expect(first?.subject).toBe(second?.subject)
  })

  it('is about an update, for who may not see the new status', async () => {
    const w = await newsSite(engine)
    const { roadmap: secret } = await w.site.call(roadmaps.create, { name: 'Secret plan', display: false })
    await w.ship(secret, { message: 'We are on it.' })
    const [ann] = await w.mails()
    expect(ann?.text).toContain('* Ada posted an update\n  > We are on it.\n')
    expect(`${ann?.subject}${ann?.text}${ann?.html}`).not.toContain('Secret plan')
  })

  it('names a thread without the port of the site', async () => {
    const w = await newsSite(engine, 'http://[::1]:8000')
    await w.ship()
    const [mail] = await w.mails()
    const headers = JSON.parse(mail?.headers ?? '{}') as Record<string, string>
    expect(headers).toMatchObject({ 'List-Id': '<notifications.[::1]>', References: `<post.${w.post.postId}@[::1]>` })
    expect(headers).not.toHaveProperty('List-Unsubscribe-Post') // for https alone
  })

  it('says how much of the news of a post it leaves out', async () => {
    const w = await newsSite(engine)
    await w.choose(w.ann, { ways: '{"reply":"digest"}' })
    for (let n = 0; n < 12; n++) await w.as(w.cleo)(comments.create, { post_id: w.post.postId, body: `Idea ${n}` })
    await w.tell()
    w.later(25 * 60 * MINUTE)
    const [digest] = await w.write()
    expect(digest?.text).toContain(`${w.post.slug}\n\nThere are 2 earlier news items about it.\n\n* `)
    expect(digest?.text).not.toMatch(/Idea [01]\n/)
    expect(digest?.text).toContain('Idea 2\n')
    expect(digest?.html).toContain('There are 2 earlier news items about it.')
  })

  it('gathers what one person did to several posts in one mail', async () => {
    const w = await newsSite(engine)
    const more = []
    for (const title of ['One', 'Two', 'Three']) more.push((await w.as(w.ann)(posts.create, { title })).post)
    await w.ship()
    for (const { postId } of more) await w.site.call(posts.update, { id: postId, roadmapId: w.shipped.id, partial: true }) // prettier-ignore
    const [ann, bea, ...rest] = await w.mails()
    expect(rest).toEqual([])
    expect(ann?.subject).toBe('[Moonbase] News about 4 posts')
    expect(bea?.subject).toContain('Dark mode')
    expect(JSON.parse(ann?.headers ?? '{}')).not.toHaveProperty('References')
  })

  it('gathers what one person did to several posts also where that was told in steps', async () => {
    const w = await newsSite(engine)
    const { post } = await w.as(w.ann)(posts.create, { title: 'One' })
    await w.ship()
    await w.tell()
    w.later(500)
    await w.site.call(posts.update, { id: post.postId, roadmapId: w.shipped.id, partial: true })
    await w.tell()
    w.later(5 * MINUTE - 500)
    expect((await w.write()).map(({ subject }) => subject)).toEqual(['[Moonbase] News about 2 posts', '[Moonbase] Dark mode (#1)']) // prettier-ignore
    w.later(MINUTE)
    expect(await w.write()).toHaveLength(2)
  })

  it('writes a digest at its hour, and none without news', async () => {
    const w = await newsSite(engine)
    w.site.clock.now = new Date('2026-03-28T12:00:00Z')
    w.cleo.token = await w.site.signIn(w.cleo.userId)
    await w.choose(w.ann, { ways: '{"status":"page,digest","reply":"digest"}', hour: 7, timeZone: 'Europe/Berlin' })
    for (const one of [w.bea, w.cleo]) await w.choose(one, { ways: '{"status":"none"}' })
    await w.ship()
    await w.as(w.cleo)(comments.create, { post_id: w.post.postId, body: 'Thanks' })
    await w.tell()
    w.site.clock.now = new Date('2026-03-29T04:59:00Z') // summer time began in the night
    expect(await w.write()).toEqual([])
    w.later(MINUTE)
    const [digest, ...rest] = await w.write()
    expect(rest).toEqual([])
    expect(digest).toMatchObject({ recipient: 'ann@example.org', subject: '[Moonbase] Your digest: 1 post' })
    expect(digest?.text).toContain('Now Shipped')
    expect(digest?.text).toContain('> Thanks')
    w.later(48 * 60 * MINUTE)
    expect(await w.write()).toHaveLength(1)
  })

  it('wait for the end of the quiet hours of a person, and are one mail then', async () => {
    const w = await newsSite(engine)
    w.site.clock.now = new Date('2026-03-28T21:30:00Z') // 22:30 in Berlin, where summer begins in the night
    for (const one of [w.ann, w.cleo]) one.token = await w.site.signIn(one.userId)
    await w.choose(w.ann, { quietFrom: 22, quietUntil: 7, timeZone: 'Europe/Berlin', ways: '{"post":"page,mail"}' })
    const { post: other } = await w.as(w.ann)(posts.create, { title: 'Other' })
    await w.ship()
    expect(recipients(await w.mails())).toEqual(['bea@example.org'])
    w.later(3 * 60 * MINUTE)
    await w.as(w.cleo)(comments.create, { post_id: other.postId, body: 'In the night' })
    await w.as(w.cleo)(comments.create, { post_id: w.post.postId, body: 'Thanks' })
    await w.mails()
    w.site.clock.now = new Date('2026-03-29T04:59:59Z')
    expect(recipients(await w.write())).toEqual(['bea@example.org'])
    w.later(1000)
    const [ann, bea, ...rest] = await w.write()
    expect([ann?.recipient, bea?.recipient, rest]).toEqual(['ann@example.org', 'bea@example.org', []])
    expect(ann?.subject).toBe('[Moonbase] News about 2 posts')
    for (const text of ['Now Shipped', '> In the night', '> Thanks']) expect(ann?.text).toContain(text)
    await w.ship(w.planned) // in the day again
    expect(recipients(await w.mails()).filter((each) => each === 'ann@example.org')).toHaveLength(2)
  })

  it('shows thirty posts of a long digest, and bounds its length', async () => {
    const w = await newsSite(engine)
    await w.choose(w.ann, { ways: '{"status":"digest"}' })
    for (let n = 0; n < 35; n++) {
      const { post } = await w.as(w.ann)(posts.create, { title: `Post ${n} ${'🦄'.repeat(90)}` })
      await w.site.call(posts.update, { id: post.postId, roadmapId: w.shipped.id, partial: true, message: '| a |\n|---|\n'.repeat(40) + 'x '.repeat(250) }) // prettier-ignore
    }
    await w.tell()
    w.later(25 * 60 * MINUTE)
    const [digest] = (await w.write()).filter(({ recipient }) => recipient === 'ann@example.org')
    expect(digest?.subject).toBe('[Moonbase] Your digest: 35 posts')
    expect(digest?.text.match(/Now Shipped/g)).toHaveLength(30)
    expect(digest?.text).toContain('There is news about 5 more posts.')
    expect(digest?.text.length).toBeLessThan(60_000)
    expect(digest?.html.length).toBeLessThan(120_000)
  })

  it('are told on the page where no mail can tell them', async () => {
    const w = await newsSite(engine)
    const onPage = async (one: { token: string }) =>
      (await w.as(one)(notifications.list, {})).notifications.map(({ roadmap }) => roadmap?.name)
    for (const one of [w.ann, w.bea]) await w.choose(one, { ways: '{"status":"mail"}' })
    const stop = { userId: w.bea.userId, bounces: 3, reason: '550', bouncedAt: '', suppressedAt: w.site.clock.now.toISOString() } // prettier-ignore
    await w.ship()
    await w.tell()
    expect([await onPage(w.ann), await onPage(w.bea)]).toEqual([[], []])
    await w.site.db.insertInto('mail_bounces').values(stop).execute() // before the mail is written
    expect(recipients(await w.mails())).toEqual(['ann@example.org'])
    expect(await onPage(w.bea)).toEqual(['Shipped'])
    await w.ship(w.planned) // while mail is stopped
    await w.mails()
    expect([await onPage(w.ann), await onPage(w.bea)]).toEqual([[], ['Planned', 'Shipped']])
    for (let refusal = 0; refusal < 3; refusal++)
      await recordBounce(w.site.db, { address: 'ann@example.org', reason: '550', at: stop.suppressedAt, most: 3 })
    expect(await onPage(w.ann)).toEqual(['Planned', 'Shipped']) // whose mails are cancelled
    await w.site.db.deleteFrom('mail_bounces').execute()
    await w.ship()
    await w.tell({ mail: null })
    expect(await onPage(w.bea)).toEqual(['Shipped', 'Planned', 'Shipped'])
  })

  it('are written to everybody else where one cannot be written', async () => {
    const w = await newsSite(engine)
    const letter = { recipient: 'ann@example.org', subject: '', text: '', html: '' }
    await queueMail(w.site.db, w.site.clock.now, letter)
    // So that no other mail to Ann can be queued
    await sql`create unique index refuses on deliveries (recipient) where recipient = 'ann@example.org'`.execute(w.site.db) // prettier-ignore
    cleanup(async () => void (await sql`drop index if exists refuses`.execute(w.site.db)))
    await w.ship()
    await w.tell()
    w.later(5 * MINUTE)
    const warnings: object[] = []
    expect(recipients(await w.write({ warn: (fields) => void warnings.push(fields) }))).toEqual(['bea@example.org'])
    expect(warnings).toEqual([{ userId: w.ann.userId, err: expect.anything() }])
    await sql`drop index refuses`.execute(w.site.db)
    w.later(60 * MINUTE)
    expect(recipients(await w.write())).toEqual(BOTH)
  })

  it('takes any number of news of one person, and holds nobody else up', async () => {
    const w = await newsSite(engine)
    const { post } = await w.as(w.cleo)(posts.create, { title: 'Many' })
    await w.as(w.ann)(follows.follow, { post_id: post.postId })
    const at = w.site.clock.now.toISOString()
    const row = { userId: w.ann.userId, kind: 'update', postId: post.postId, commentId: null, roadmapId: null, actorId: null, createdAt: at, readAt: null, mail: 'digest', mailAt: at } as const // prettier-ignore
    for (let begin = 0; begin < 70_000; begin += 1000)
      await w.site.db
        .insertInto('notifications')
        .values(Array.from({ length: 1000 }, (_, n) => ({ ...row, eventId: 1_000_000 + begin + n })))
        .execute()
    await w.ship()
    const [ann, bea, ...rest] = await w.mails()
    expect([ann?.subject, bea?.recipient, rest]).toEqual(['[Moonbase] Your digest: 1 post', 'bea@example.org', []])
    expect(await w.mails()).toHaveLength(2)
  })
})
