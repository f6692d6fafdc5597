import { KINDS, type NotificationKind } from '../../core/notificationkinds.js'
import { links } from '../../core/pagelinks.js'
import type { Look } from '../../mail/frame.js'

/** The mails about news, and who gets them. */
const NEWS = {
  status: 'who follows a post that has a new status',
  update: 'who follows a post about which the team says something',
  answer: 'who follows a post of which a comment is the answer',
  reply: 'who wrote the comment, or the post, that somebody replies to',
  mention: 'who is mentioned',
  merged: 'who followed a post that is merged into another',
  published: 'who wrote what was held, and is shown now',
  post: 'who follows the board of a new post',
  report: 'who decides about reports',
  digest: 'who chose digests',
} as const satisfies Record<NotificationKind | 'digest', string>

export type NewsName = keyof typeof NEWS

export const newsMails = Object.entries(NEWS).map(([name, to]) => ({ name: name as NewsName, to }))

const TITLES = ['Dark mode', 'Sign in with a passkey', 'Export as CSV', 'Keyboard shortcuts', 'A calendar of what is planned'] // prettier-ignore
const TEXT = 'It is there, in the settings.\n\nPlease tell us what is missing.'
const HAS_STATUS: readonly NotificationKind[] = ['status']
const HAS_NO_TEXT: readonly NotificationKind[] = ['merged', 'published', 'post']

/** A mail about news as it would be written now, to nobody. A digest is about so many posts. */
export async function sampleNews(
  template: NewsName,
  { siteUrl, look, language, name, posts: count }: { siteUrl: string; look: Look; language: string; name: string; posts: number }, // prettier-ignore
): Promise<{ subject: string; text: string; html: string }> {
  const { notificationMail } = await import('../../mail/notificationmail.js')
  const { MOST_POSTS } = await import('./notificationmails.js')
  const isDigest = template === 'digest'
  const all = isDigest ? count : 1
  const posts = Array.from({ length: Math.min(all, MOST_POSTS) }, (_, index) => {
    const kind = isDigest ? (KINDS[index % KINDS.length] ?? 'status') : template
    const number = all - index
    const title = TITLES[index % TITLES.length] ?? ''
    const link = siteUrl + links.post(`example-${number}`)
    const news = {
      kind,
      by: HAS_STATUS.includes(kind) ? undefined : 'Grace Hopper',
      status: HAS_STATUS.includes(kind) ? { name: 'Shipped', color: '15803d' } : undefined,
      merged: kind === 'merged' ? { title: 'A dark theme', number: all + 1 } : undefined,
      link,
      text: HAS_NO_TEXT.includes(kind) ? '' : TEXT,
    }
    return { title, number, link, news: [news], earlier: 0 }
  })
  return notificationMail({
    look,
    language,
    name,
    isDigest,
    posts,
    left: all - posts.length,
    links: { all: `${siteUrl}/notifications`, settings: `${siteUrl}/notifications/mail?token=EXAMPLE` },
  })
}
