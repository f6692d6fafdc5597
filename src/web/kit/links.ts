import type { LegalPage } from '../../core/legal.js'
import { withQuery } from './addresses.js'

/** The addresses of pages about rows, without the base path. Nothing else puts a name into a path. */
export const links = {
  /** `slug` may also be a number or an id; the page leads to its present address. */
  post: (slug: string): string => `/posts/${encodeURIComponent(slug)}`,
  /** Whom a comment on a post can mention. */
  people: (slug: string): string => `${links.post(slug)}/people`,
  comment: (slug: string, id: string): string => `${links.post(slug)}/comments/${encodeURIComponent(id)}`,
  board: (url: string): string => `/boards/${encodeURIComponent(url)}`,
  roadmap: (url: string): string => `/roadmaps/${encodeURIComponent(url)}`,
  /** The posts that have a tag. */
  tag: (url: string): string => withQuery('/search', { q: `tag:${url}` }),
  /** The same among those of the team. */
  teamTag: (url: string): string => withQuery('/dashboard/posts', { tag: url }),
  /** The public profile of a person. */
  profile: (username: string): string => `/users/${encodeURIComponent(username)}`,
  /** How to write Markdown. */
  formatting: '/formatting',
  legal: (name: LegalPage): string => `/legal/${name}`,
  /** Pages of the dashboard. */
  teamPost: (slug: string): string => `/dashboard/posts/${encodeURIComponent(slug)}`,
  person: (username: string): string => `/dashboard/users/${encodeURIComponent(username)}`,
  peopleWithTag: (tag: string): string => `/dashboard/users?tag=${encodeURIComponent(tag)}`,
  role: (id: string): string => `/dashboard/settings/roles/${encodeURIComponent(id)}`,
  /** All posts of a list as CSV. The query is that of the list. */
  postsFile: '/export/posts',
  /** The preview image of a post. */
  card: (slug: string): string => `/posts/${encodeURIComponent(slug)}/card.png`,
  /** The feed of the page at this address. */
  feed: (of: string): string => `${of === '/' ? '' : of}/feed.atom`,
}
