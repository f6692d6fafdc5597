import type { LegalPage } from './legal.js'

const within = (path: string, name: string | number, verb = ''): string =>
  `${path}/${encodeURIComponent(name)}${verb && `/${verb}`}`

const asking = (path: string, field: string, value: string): string =>
  `${path}?${new URLSearchParams({ [field]: value }).toString()}`

/** The paths of pages and forms, without the base path. No other module builds a path from a name. */
export const links = {
  newPost: '/posts/new',
  /** Also takes a number or an id: the page redirects to the current slug. */
  post: (slug: string): string => within('/posts', slug),
  /** The list of people that a comment can mention. */
  people: (slug: string): string => within('/posts', slug, 'people'),
  /** The list of people that a new post can mention. */
  team: '/posts/people',
  comment: (slug: string, id: string): string => within(`${links.post(slug)}/comments`, id),
  board: (url: string): string => within('/boards', url),
  roadmap: (url: string): string => within('/roadmaps', url),
  /** The search for posts with a tag. */
  tag: (url: string): string => asking('/search', 'q', `tag:${url}`),
  /** The team's table of posts with a tag. */
  teamTag: (url: string): string => asking('/dashboard/posts', 'tag', url),
  /** The public profile of a person. */
  profile: (username: string, tab?: 'votes' | 'comments'): string => within('/users', username, tab),
  /** The help page for Markdown. */
  formatting: '/formatting',
  legal: (name: LegalPage): string => within('/legal', name),
  /** The form that undoes a bulk change. */
  undo: (id: string): string => within('/undo', id),
  notification: (id: number): string => within('/notifications', id),
  /** The form that ends a session of the reader. */
  endSession: (id: string): string => within('/settings/sessions', id),
  /** The form that removes a way to sign in. */
  removeWay: (identityId: string): string => within('/settings/ways', identityId),
  /** Pages and forms of the dashboard. */
  teamPost: (slug: string): string => within('/dashboard/posts', slug),
  /** The list of people who were notified of an event. */
  told: (slug: string, eventId: number): string => within(`${links.teamPost(slug)}/told`, eventId),
  viewForm: (viewId: string, verb: 'settings' | 'delete'): string => within('/dashboard/views', viewId, verb),
  boardForm: (url: string, verb: 'settings' | 'delete'): string => within('/dashboard/boards', url, verb),
  roadmapForm: (url: string, verb: 'settings' | 'delete' | 'position'): string => within('/dashboard/roadmaps', url, verb), // prettier-ignore
  tagForm: (url: string, verb: 'settings' | 'delete' | 'merge'): string => within('/dashboard/tags', url, verb),
  /** A person in the dashboard, or the form named by `verb`. */
  person: (username: string, verb?: string): string => within('/dashboard/users', username, verb),
  removeRole: (username: string, roleId: string): string => within(links.person(username, 'roles'), roleId, 'remove'),
  peopleWithTag: (tag: string): string => `/dashboard/users?tag=${encodeURIComponent(tag)}`,
  invitation: (username: string, verb: 'resend' | 'revoke'): string => within('/dashboard/invitations', username, verb),
  role: (id: string): string => within('/dashboard/settings/roles', id),
  revokeKey: (keyId: string): string => within('/dashboard/settings/keys', keyId, 'revoke'),
  undoEvent: (id: number): string => within('/dashboard/settings/log', id, 'undo'),
  mail: (mailId: string, verb: 'retry' | 'cancel'): string => within('/dashboard/settings/mail', mailId, verb),
  /** The form that allows mail to a refused address again. */
  allowMail: (userId: string): string => within('/dashboard/settings/mail/refused', userId, 'remove'),
  legalForm: (name: LegalPage): string => within('/dashboard/settings/legal', name),
  /** The CSV file of a list of posts. Add the query of the list. */
  postsFile: '/export/posts',
  /** The preview image of a post. */
  card: (slug: string): string => within('/posts', slug, 'card.png'),
  /** The feed of a page. */
  feed: (of: string): string => `${of === '/' ? '' : of}/feed.atom`,
}
