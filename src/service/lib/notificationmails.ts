import { randomBytes } from 'node:crypto'
import { groupedBy } from '../../core/grouped.js'
import { LANGUAGES } from '../../core/language.js'
import { proseOf } from '../../core/markdown/excerpt.js'
import { links } from '../../core/pagelinks.js'
import { transaction } from '../../db/connect.js'
import {
  claimPending,
  dropPending,
  pendingMails,
  receiversOfMail,
  recordMailed,
  showOnPage,
  type PendingMail,
} from '../../db/notificationmails.js'
import { mergedBy, type MergedPost } from '../../db/mergednews.js'
import { claimMailKey } from '../../db/notificationsettings.js'
import { readSettings } from '../../db/settings.js'
import type { Db } from '../../db/tables.js'
import { queueMail } from '../../delivery/mail.js'
import { COUNT_HEADER, followedIn, isNews, rightsOf, type MayRead } from '../../delivery/mailednews.js'
import type { Look } from '../../mail/frame.js'
import { notificationMail, type MailedNews, type MailedPost } from '../../mail/notificationmail.js'

/** News of a person that are read. Before those, nothing would be in a mail. */
const MOST_READ = 1000
/** Posts in a mail. */
export const MOST_POSTS = 30
/** News about a post in a mail, the newest. */
const MOST_NEWS = 10
/** Characters of what was said. What the team says is rarely more. */
const LONGEST_TEXT = 1500
/** Characters of the texts of a mail. */
const LONGEST_MAIL = 20_000

interface Site {
  now: Date
  siteUrl: string
  siteLanguage?: string | undefined
}

type Receiver = Awaited<ReturnType<typeof receiversOfMail>>[number]

/**
 * Writes the mails that are due to some people, and what waits beside them about the same posts: each thing once, in one
 * transaction. What they have read meanwhile, may not read now, or do not follow any more is left out. Returns how many
 * mails were queued.
 */
export const writeMails = (db: Db, userIds: readonly string[], site: Site): Promise<number> =>
  transaction(db, async (inside) => {
    const settings = await readSettings(inside)
    const { notificationWays } = settings
    const receivers = new Map((await receiversOfMail(inside, userIds)).map((each) => [each.userId, each]))
    const mayRead = await rightsOf(inside, userIds)
    let written = 0
    // In one order, so that two servers do not wait for each other
    for (const userId of userIds.toSorted()) {
      const receiver = receivers.get(userId)
      const rows = await pendingMails(inside, userId, MOST_READ)
      const [oldest] = rows
      if (oldest && rows.length === MOST_READ) await dropPending(inside, userId, oldest.eventId)
      const claimed = await claimPending(inside, userId, dueOf(rows, site.now).map(({ eventId }) => eventId)) // prettier-ignore
      if (!receiver) {
        if (claimed.size > 0) await showOnPage(inside, userId, [...claimed])
        continue
      }
      const due = rows.filter(({ eventId }) => claimed.has(eventId))
      const followed = await followedIn(inside, userId, due)
      const news = due.filter((row) => isNews(row, { mayRead, followed, site: notificationWays, now: site.now }))
      if (news.length === 0) continue
      const key = await claimMailKey(inside, userId, randomBytes(24).toString('base64url'))
      const merged = await mergedBy(inside, news, { userId, hidden: mayRead(userId, 'board:read') })
      for (const [index, together] of mailsOf(news).entries()) {
        const at = new Date(site.now.getTime() + index) // each mail has its own
        await queue(inside, { rows: together.map((row) => withoutSecrets(row, mayRead)), merged, receiver, key, look: settings, site: { ...site, now: at } }) // prettier-ignore
        await recordMailed(inside, userId, together.map(({ eventId }) => eventId), at.toISOString()) // prettier-ignore
        written++
      }
    }
    return written
  })

/** Milliseconds. The notifications of one bulk change become due one after another; within this time they share a mail. */
const ONE_ACT_MS = 30_000

/** Which of the rows of a person are to be mailed now: those that are due, and soon ones that go into the same mails. */
function dueOf(rows: readonly PendingMail[], now: Date): PendingMail[] {
  const dueBy = (time: string) => rows.filter(({ mailAt }) => (mailAt ?? '') <= time)
  const due = new Set(dueBy(now.toISOString()))
  const posts = new Set([...due].filter(isSoon).map(({ postId }) => postId))
  const begun = new Set([...due].filter(isSoon).map(({ actorId }) => actorId))
  const actors = actorsOf(dueBy(new Date(now.getTime() + ONE_ACT_MS).toISOString()))
  const isBeside = (row: PendingMail) => posts.has(row.postId) || (begun.has(row.actorId) && actors.has(row.actorId))
  return rows.filter((row) => due.has(row) || (isSoon(row) && isBeside(row)))
}

const isSoon = ({ mail }: PendingMail): boolean => mail !== 'digest'

/** Who has done something to several posts: what one person decides about many posts is one mail. */
function actorsOf(rows: readonly PendingMail[]): Set<string | null> {
  const byActor = groupedBy(rows.filter(isSoon), ({ actorId }) => actorId)
  return new Set([...byActor].filter(([, each]) => new Set(each.map(({ postId }) => postId)).size > 1).map(([id]) => id)) // prettier-ignore
}

/** An update is told of also where the status that it has is not shown. */
const withoutSecrets = (row: PendingMail, mayRead: MayRead): PendingMail =>
  row.roadmapDisplay === 1 || mayRead(row.userId, 'roadmap:read') ? row : { ...row, roadmapName: null }

/**
 * The mails to a person: their digest, one about what the same person did to several posts, and one for each other post.
 * After quiet hours all but the digest is one mail.
 */
function mailsOf(rows: readonly PendingMail[]): PendingMail[][] {
  const actors = actorsOf(rows)
  const wasQuiet = rows.some(({ mail }) => mail === 'quiet')
  return [
    ...groupedBy(rows, (row) => {
      if (!isSoon(row)) return 'digest'
      if (wasQuiet) return 'quiet'
      return actors.has(row.actorId) ? `actor ${row.actorId}` : `post ${row.postId}`
    }).values(),
  ]
}

interface Written {
  rows: readonly PendingMail[]
  /** The merged posts that the receiver may read, by event id. */
  merged: ReadonlyMap<number, MergedPost>
  receiver: Receiver
  key: string
  look: Look
  site: Site
}

async function queue(db: Db, { rows, merged, receiver, key, look, site }: Written): Promise<void> {
  const { siteUrl, now } = site
  const isDigest = rows.some((row) => !isSoon(row))
  const posts = [...groupedBy(rows, ({ postId }) => postId).values()].toReversed() // the newest first
  const [only] = posts.length === 1 && !isDigest ? (posts[0] ?? []) : []
  // In the query: servers and proxies log paths
  const manage = (path = '') => `${siteUrl}/notifications/mail${path}?token=${key}`
  const content = notificationMail({
    look,
    language: receiver.language ?? site.siteLanguage ?? LANGUAGES[0],
    name: receiver.name,
    isDigest,
    posts: postsOf(posts.slice(0, MOST_POSTS), { siteUrl, merged }),
    left: Math.max(posts.length - MOST_POSTS, 0),
    links: { all: `${siteUrl}/notifications`, settings: only ? `${manage()}&post=${only.number}` : manage() },
  })
  const { hostname, protocol } = new URL(siteUrl)
  const thread = only && `<post.${only.postId}@${hostname}>`
  await queueMail(
    db,
    now,
    { recipient: receiver.email, ...content },
    {
      priority: AFTER_SIGN_IN,
      headers: {
        [COUNT_HEADER]: String(rows.length),
        'List-Id': `<notifications.${hostname}>`,
        'List-Unsubscribe': `<${manage('/unsubscribe')}>`,
        // RFC 8058 is for https alone
        ...(protocol === 'https:' && { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
        ...(thread && { 'In-Reply-To': thread, References: thread }),
      },
    },
  )
}

/** The priority of these mails: those that somebody waits for leave before them. */
const AFTER_SIGN_IN = 1

function postsOf(
  posts: readonly (readonly PendingMail[])[],
  { siteUrl, merged }: { siteUrl: string; merged: Written['merged'] },
): MailedPost[] {
  let room = LONGEST_MAIL
  return posts.flatMap((rows) => {
    const [post] = rows
    if (!post) return []
    const { title, number, slug } = post
    const link = siteUrl + links.post(slug)
    const news = rows.slice(-MOST_NEWS).map((row): MailedNews => {
      const text = row.body === null ? '' : proseOf(row.body, Math.min(LONGEST_TEXT, room))
      room = Math.max(room - text.length, 100)
      return {
        kind: row.kind,
        by: row.actorId === null ? undefined : row.actorName || (row.actorUsername ?? undefined),
        status: row.roadmapName === null ? undefined : { name: row.roadmapName, color: row.roadmapColor ?? '' },
        merged: merged.get(row.eventId),
        link: row.commentId === null ? link : siteUrl + links.comment(slug, row.commentId),
        text,
      }
    })
    return { title, number, link, news, earlier: rows.length - news.length }
  })
}
