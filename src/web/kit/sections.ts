import type { Key } from '../../core/catalogue.js'
import * as backups from '../../service/backups.js'
import * as boards from '../../service/boards.js'
import * as comments from '../../service/comments.js'
import * as events from '../../service/events.js'
import { file as importFile } from '../../service/importfiles.js'
import * as invitations from '../../service/invitations.js'
import * as keys from '../../service/keys.js'
import * as legal from '../../service/legal.js'
import * as mails from '../../service/mails.js'
import type { AnyOperation } from '../../service/lib/operation.js'
import * as notifications from '../../service/notificationsettings.js'
import * as moderation from '../../service/moderation.js'
import * as roadmaps from '../../service/roadmaps.js'
import * as settings from '../../service/settings.js'
import * as site from '../../service/site.js'
import * as roles from '../../service/roles.js'
import * as tags from '../../service/tags.js'
import * as users from '../../service/userlists.js'
import * as views from '../../service/views.js'

/** A part of the dashboard. It is offered to those who may run one of the operations. */
interface SectionOf {
  path: string
  label: Key
  group: 'work' | 'site' | 'settings'
  operations: readonly AnyOperation[]
}

/** The parts of the dashboard, in the order of its menu. */
export const SECTIONS = {
  inbox: { path: '/dashboard', label: 'inbox.title', group: 'work', operations: [moderation.list] },
  posts: { path: '/dashboard/posts', label: 'nav.posts', group: 'work', operations: [views.list] },
  comments: { path: '/dashboard/comments', label: 'comments.title', group: 'work', operations: [comments.listAll] },
  boards: {
    path: '/dashboard/boards',
    label: 'nav.boards',
    group: 'site',
    operations: [boards.create, boards.update, boards.remove],
  },
  roadmaps: {
    path: '/dashboard/roadmaps',
    label: 'nav.roadmaps',
    group: 'site',
    operations: [roadmaps.create, roadmaps.update, roadmaps.remove],
  },
  tags: {
    path: '/dashboard/tags',
    label: 'tag.label',
    group: 'site',
    operations: [tags.create, tags.update, tags.remove],
  },
  overview: { path: '/dashboard/overview', label: 'overview.title', group: 'settings', operations: [site.overview] },
  general: {
    path: '/dashboard/settings/general',
    label: 'general.title',
    group: 'settings',
    operations: [settings.update],
  },
  legal: {
    path: '/dashboard/settings/legal',
    label: 'legal.title',
    group: 'settings',
    operations: [legal.set],
  },
  domains: {
    path: '/dashboard/settings/domains',
    label: 'domains.title',
    group: 'settings',
    operations: [settings.blockedDomains],
  },
  notifications: {
    path: '/dashboard/settings/notifications',
    label: 'notifications.title',
    group: 'settings',
    operations: [notifications.updateSite],
  },
  backups: {
    path: '/dashboard/settings/backups',
    label: 'backups.title',
    group: 'settings',
    operations: [backups.list],
  },
  import: {
    path: '/dashboard/settings/import',
    label: 'import.title',
    group: 'settings',
    operations: [importFile],
  },
  mail: { path: '/dashboard/settings/mail', label: 'mails.title', group: 'settings', operations: [mails.list] },
  log: { path: '/dashboard/settings/log', label: 'log.title', group: 'settings', operations: [events.list] },
  keys: { path: '/dashboard/settings/keys', label: 'keys.title', group: 'settings', operations: [keys.create] },
  users: { path: '/dashboard/users', label: 'nav.users', group: 'site', operations: [users.list] },
  invitations: {
    path: '/dashboard/invitations',
    label: 'nav.invitations',
    group: 'site',
    operations: [invitations.list],
  },
  roles: { path: '/dashboard/settings/roles', label: 'nav.roles', group: 'settings', operations: [roles.list] },
} as const satisfies Record<string, SectionOf>

export type Section = keyof typeof SECTIONS
