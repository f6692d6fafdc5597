import type { Permission } from '../../src/core/permissions.js'
import { putNotificationSettings } from '../../src/db/notificationsettings.js'
import { notificationMails } from '../../src/jobs/notificationmails.js'
import { notifications as job } from '../../src/jobs/notifications.js'
import type { MailSettings } from '../../src/mail/transport.js'
import * as boards from '../../src/service/boards.js'
import type { Call } from '../../src/service/lib/operation.js'
import { actorOf } from '../../src/service/lib/sessions.js'
import * as merges from '../../src/service/merges.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as votes from '../../src/service/votes.js'
import { makeSite, type Engine } from './site.js'

const nothing = (_fields: object) => {}
const log = { info: nothing, warn: nothing, error: nothing }
export const MINUTE = 60_000
const MAIL: MailSettings = { url: 'sendmail:', from: '' }

/** A site with a post of Ann, for which Bea voted, and whose news are mailed. */
export async function newsSite(engine: Engine, siteUrl = 'https://ideas.example.org') {
  const site = await makeSite(engine, { siteUrl })
  await site.owner()
  const run = { db: site.db, now: () => site.clock.now, log, signal: new AbortController().signal }
  const writer = notificationMails(site.base)
  const tell = async ({ mail = MAIL }: { mail?: MailSettings | null } = {}) => {
    const teller = job({ mail })
    while ((await teller.run(run)) === 'more');
  }
  const person = async (email: string, permissions: Permission[] = []) => {
    const one = await site.member(permissions, { email })
    await site.db.updateTable('users').set({ isVerified: 1 }).where('userId', '=', one.userId).execute()
    return { ...one, email }
  }
  const [ann, bea, cleo] = [
    await person('ann@example.org'),
    await person('bea@example.org'),
    await person('cleo@example.org'),
  ]
  const as = ({ token }: { token: string }): Call => async (...request) => site.callAs(await actorOf(`Bearer ${token}`, site.base))(...request) // prettier-ignore
  const { board } = await site.call(boards.create, { name: 'Ideas', display: true })
  const { roadmap: shipped } = await site.call(roadmaps.create, { name: 'Shipped', color: '22aa44', display: true })
  const { roadmap: planned } = await site.call(roadmaps.create, { name: 'Planned', display: true })
  const { post } = await as(ann)(posts.create, { title: 'Dark mode', boardId: board.boardId })
  await as(bea)(votes.add, { postId: post.postId })
  await tell() // begins at the newest event
  const later = (ms: number) => void (site.clock.now = new Date(site.clock.now.getTime() + ms))
  /** Writes what is due, and returns all that is queued: to whom, and the subject. */
  const write = async (given: Partial<typeof log> = {}) => {
    while ((await writer.run({ ...run, log: { ...log, ...given } })) === 'more');
    if (await writer.isDue?.(run)) throw new Error('a mail is still due')
    return site.db
      .selectFrom('deliveries')
      .selectAll()
      .where('priority', '=', 1)
      .orderBy('recipient')
      .orderBy('deliveryId')
      .execute()
  }
  /** After what is told now has waited for its five minutes. */
  const mails = async () => {
    await tell()
    later(5 * MINUTE)
    return write()
  }
  const ship = (roadmap = shipped, more: object = {}) =>
    site.call(posts.update, { id: post.postId, roadmapId: roadmap.id, partial: true, ...more })
  const choose = (one: { userId: string }, choices: Parameters<typeof putNotificationSettings>[2]) =>
    putNotificationSettings(site.db, one.userId, choices)
  /** Merges the post into one of the owner. */
  const mergeIt = async () => {
    const { post: into } = await site.call(posts.create, { title: 'Night theme', boardId: board.boardId })
    await site.call(merges.merge, { ids: [post.postId], into: into.postId })
  }
  return {
    site,
    as,
    person,
    mergeIt,
    ann,
    bea,
    cleo,
    board,
    shipped,
    planned,
    post,
    tell,
    later,
    write,
    mails,
    ship,
    choose,
  }
}

export type NewsSite = Awaited<ReturnType<typeof newsSite>>
