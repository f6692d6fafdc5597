import type { LegalPage } from './legal.js'

const within = (path: string, name: string | number, verb = ''): string =>
  `${path}/${encodeURIComponent(name)}${verb && `/${verb}`}`

const asking = (path: string, field: string, value: string): string =>
  `${path}?${new URLSearchParams({ [field]: value }).toString()}`

/** The addresses of pages and forms about rows, without the base path. Nothing else puts a name into a path. */
export const links = {
  newPost: '/posts/new',
  /** `slug` may also be a number or an id; the page leads to its present address. */
  post: (slug: string): string => within('/posts', slug),
  /** Whom a comment on a post can mention. */
  people: (slug: string): string => within('/posts', slug, 'people'),
  /** Whom a new post can mention. */
  team: '/posts/people',
  comment: (slug: string, id: string): string => within(`${links.post(slug)}/comments`, id),
  board: (url: string): string => within('/boards', url),
  roadmap: (url: string): string => within('/roadmaps', url),
  /** The posts that have a tag. */
  tag: (url: string): string => asking('/search', 'q', `tag:${url}`),
  /** The same among those of the team. */
  teamTag: (url: string): string => asking('/dashboard/posts', 'tag', url),
  /** The public profile of a person. */
  profile: (username: string, tab?: 'votes' | 'comments'): string => within('/users', username, tab),
  /** How to write Markdown. */
  formatting: '/formatting',
  legal: (name: LegalPage): string => within('/legal', name),
  /** Takes back what was done. */
  undo: (id: string): string => within('/undo', id),
  notification: (id: number): string => within('/notifications', id),
  /** Ends a session of whoever is signed in. */
  endSession: (id: string): string => within('/settings/sessions', id),
  /** Removes a way to sign in. */
  removeWay: (identityId: string): string => within('/settings/ways', identityId),
  /** Pages and forms of the dashboard. */
  teamPost: (slug: string): string => within('/dashboard/posts', slug),
  /** Whom an event about a post was told. */
  told: (slug: string, eventId: number): string => within(`${links.teamPost(slug)}/told`, eventId),
  viewForm: (viewId: string, verb: 'settings' | 'delete'): string => within('/dashboard/views', viewId, verb),
  boardForm: (url: string, verb: 'settings' | 'delete'): string => within('/dashboard/boards', url, verb),
  roadmapForm: (url: string, verb: 'settings' | 'delete' | 'position'): string => within('/dashboard/roadmaps', url, verb), // prettier-ignore
  tagForm: (url: string, verb: 'settings' | 'delete' | 'merge'): string => within('/dashboard/tags', url, verb),
  /** `verb` is one of its forms. */
  person: (username: string, verb?: string): string => within('/dashboard/users', username, verb),
  removeRole: (username: string, roleId: string): string => within(links.person(username, 'roles'), roleId, 'remove'),
  peopleWithTag: (tag: string): string => `/dashboard/users?tag=${encodeURIComponent(tag)}`,
  invitation: (username: string, verb: 'resend' | 'revoke'): string => within('/dashboard/invitations', username, verb),
  role: (id: string): string => within('/dashboard/settings/roles', id),
  revokeKey: (keyId: string): string => within('/dashboard/settings/keys', keyId, 'revoke'),
  undoEvent: (id: number): string => within('/dashboard/settings/log', id, 'undo'),
  mail: (mailId: string, verb: 'retry' | 'cancel'): string => within('/dashboard/settings/mail', mailId, verb),
  /** Lets mails to a person be sent again. */
  allowMail: (userId: string): string => within('/dashboard/settings/mail/refused', userId, 'remove'),
  legalForm: (name: LegalPage): string => within('/dashboard/settings/legal', name),
  /** All posts of a list as CSV. The query is that of the list. */
  postsFile: '/export/posts',
  /** The preview image of a post. */
  card: (slug: string): string => within('/posts', slug, 'card.png'),
  /** The feed of the page at this address. */
  feed: (of: string): string => `${of === '/' ? '' : of}/feed.atom`,
}
