import type { Text } from '../../core/markdown/index.js'
import { links } from '../../core/pagelinks.js'
import type { Activity } from '../../service/lib/commentshapes.js'
import * as boards from '../../service/boards.js'
import * as comments from '../../service/comments.js'
import * as legal from '../../service/legal.js'
import * as posts from '../../service/posts.js'
import * as roadmaps from '../../service/roadmaps.js'
import type { View } from '../kit/page.js'
import type { Document } from '../kit/routes.js'
import { nameOf } from '../parts/person.js'
import { postAt } from './posts.js'

interface Entry {
  id: string
  title: string
  path: string
  author: string
  at: string
  updated: string
  /** Markdown. */
  text: string
}

/** Entries of a feed, and characters of the text of each: so a feed has a bound, whatever is in it. */
const SIZE = 30
const MAX_TEXT = 2000

/** The beginning of a text, in whole lines. */
function shown({ text }: Entry): Text {
  if (text.length <= MAX_TEXT) return { markdown: text, level: 2 }
  const start = text.slice(0, MAX_TEXT).toWellFormed()
  const end = start.lastIndexOf('\n')
  return { markdown: `${end > 0 ? start.slice(0, end) : start}\n\n…`, level: 2 }
}

/** Atom, RFC 4287. XML takes no control characters, whatever they are escaped as. */
const xml = (text: string): string =>
  text
    .replaceAll(/[^\P{C}\n\t]|[\ufffe\uffff]/gu, '')
    .replaceAll(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

async function atom(
  view: View,
  { title, path, entries }: { title: string; path: string; entries: readonly Entry[] },
): Promise<string> {
  const html = await view.render(entries.map(shown))
  const address = view.absolute(path)
  const updated = entries.map((entry) => entry.updated).toSorted().at(-1) ?? '1970-01-01T00:00:00.000Z' // prettier-ignore
  const lines = entries.map(
    (entry) => `<entry>
<id>urn:uuid:${entry.id}</id>
<title>${xml(entry.title)}</title>
<link rel="alternate" type="text/html" href="${xml(view.absolute(entry.path))}"/>
<author><name>${xml(entry.author)}</name></author>
<published>${entry.at}</published>
<updated>${entry.updated}</updated>
<content type="html" xml:base="${xml(view.absolute(entry.path))}">${xml(html(shown(entry)))}</content>
</entry>
`,
  )
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${xml(address)}</id>
<title>${xml(title)}</title>
<link rel="self" type="application/atom+xml" href="${xml(view.absolute(view.path))}"/>
<link rel="alternate" type="text/html" href="${xml(address)}"/>
<updated>${updated}</updated>
${lines.join('')}</feed>
`
}

const ATOM = 'application/atom+xml; charset=utf-8'

async function postEntries(view: View, boardId?: string): Promise<Entry[]> {
  const { posts: newest } = await view.call(posts.list, {
    limit: SIZE,
    page: 1,
    votes: false,
    ...(boardId && { boardId: [boardId] }),
  })
  return newest.map((post) => ({
    id: post.postId,
    title: post.title,
    path: links.post(post.slug),
    author: nameOf(view, post.author),
    at: post.createdAt,
    updated: post.updatedAt,
    text: post.contentMarkdown ?? '',
  }))
}

export const siteFeed: Document = {
  type: ATOM,
  cache: 'visitor',
  make: async (view) => atom(view, { title: view.settings.title, path: '/', entries: await postEntries(view) }),
}

export const boardFeed: Document = {
  type: ATOM,
  cache: 'visitor',
  async make(view) {
    const { board } = await view.call(boards.show, { url: view.params.url })
    const title = `${board.name} · ${view.settings.title}`
    return atom(view, {
      title,
      path: links.board(board.url),
      entries: await postEntries(view, board.boardId),
    })
  },
}

/** Such as `Complete: Update by Ada`. */
function entryTitle({ t, words }: View, { is_update, roadmap }: Activity['comment'], name: string): string {
  const by = t(is_update ? 'feed.update' : 'feed.comment', { name })
  return roadmap ? words.labelled(roadmap.name, by) : by
}

/** The post, and its newest comments. */
export const postFeed: Document = {
  type: ATOM,
  cache: 'visitor',
  async make(view) {
    const post = await postAt(view)
    const { activity } = await view.call(comments.list, { post_id: post.postId, page: 1, limit: SIZE })
    const path = links.post(post.slug)
    const entries = activity.map(({ comment, author }) => ({
      id: comment.id,
      title: entryTitle(view, comment, nameOf(view, author)),
      path: links.comment(post.slug, comment.id),
      author: nameOf(view, author),
      at: comment.created_at,
      updated: comment.updated_at,
      text: comment.body,
    }))
    const itself = { id: post.postId, title: post.title, path, author: nameOf(view, post.author), at: post.createdAt, updated: post.updatedAt, text: post.contentMarkdown ?? '' } // prettier-ignore
    return atom(view, { title: `${post.title} · ${view.settings.title}`, path, entries: [...entries, itself] })
  },
}

/** Posts in the sitemap; crawlers reach older ones over the pages of the boards. */
const MAX_POSTS = 5000
const PAGE = 100

export const sitemap: Document = {
  type: 'application/xml; charset=utf-8',
  cache: 'visitor',
  async make(view) {
    const lines = ['/', '/boards', '/roadmaps'].map((path) => line(view, path))
    for (let page = 1, pages = 1; page <= pages; page++) {
      const list = await view.call(boards.list, { page, limit: PAGE })
      pages = Math.min(list.total_pages, 10)
      lines.push(...list.boards.map(({ url }) => line(view, links.board(url))))
    }
    const { roadmaps: stages } = await view.call(roadmaps.list, { limit: PAGE })
    lines.push(...stages.map(({ url }) => line(view, links.roadmap(url))))
    const { pages: legalPages } = await view.call(legal.list, {})
    lines.push(...legalPages.map(({ name, updatedAt }) => line(view, links.legal(name), updatedAt)))
    for (let page = 1, pages = 1; page <= pages; page++) {
      const list = await view.call(posts.list, { page, limit: PAGE, votes: false })
      pages = Math.min(list.total_pages, MAX_POSTS / PAGE)
      lines.push(...list.posts.map(({ slug, updatedAt }) => line(view, links.post(slug), updatedAt)))
    }
    return `<?xml version="1.0" encoding="utf-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${lines.join('')}</urlset>\n`
  },
}

const line = (view: View, path: string, at?: string): string =>
  `<url><loc>${xml(view.absolute(path))}</loc>${at === undefined ? '' : `<lastmod>${at}</lastmod>`}</url>\n`

/** Lists that only repeat others, and pages of accounts, are of no use to search engines. A copy has none. */
const UNLISTED = [
  '/search',
  '/login',
  '/join',
  '/settings',
  '/setup',
  '/password-reset',
  '/email-verify',
  links.newPost,
  '/api',
]

export const robots: Document = {
  type: 'text/plain; charset=utf-8',
  cache: 'visitor',
  make: async (view) =>
    [
      'User-agent: *',
      ...(view.copiedAt === undefined ? UNLISTED.map((path) => `Disallow: ${view.href(path)}`) : ['Disallow:']),
      '',
      `Sitemap: ${view.absolute('/sitemap.xml')}`,
      '',
    ].join('\n'),
}
