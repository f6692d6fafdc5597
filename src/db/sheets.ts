import { HELD, MERGED, SPAM } from '../core/hidden.js'
import type { BACKED_UP, Snapshot, Value } from './carried.js'

/** A table for a spreadsheet: each row says in words what the database says in ids. */
export interface Sheet {
  /** The name of its file without the ending. */
  name: string
  heads: readonly string[]
  rows(this: void, snapshot: Snapshot): AsyncIterable<Value[][]>
}

interface Drawn {
  name: string
  /** The SQL of each column by its heading. Both engines read it. */
  columns: Readonly<Record<string, string>>
  /** What follows `from`. Rows of other tables never add a row or hide one. */
  from: string
  /** Ends with what no two rows share, so that two sheets of the same data are equal. */
  order: string
}

/** What other sheets have in a column, or what nobody reads in a table of its own. */
type Elsewhere = (typeof NO_SHEETS)[number]
const NO_SHEETS = [
  'api_key_uses',
  'api_keys',
  'counters',
  'deliveries',
  'event_cursors',
  'event_erasures',
  'event_seals',
  'former_paths',
  'former_usernames',
  'identities',
  'image_parts',
  'image_uses',
  'imported_rows',
  'legal_pages',
  'limits',
  'mentions',
  'merged_votes',
  'notification_settings',
  'notifications',
  'one_time_tokens',
  'post_counts',
  'post_tags',
  'recovery_codes',
  'reviews',
  'role_permissions',
  'roles_users',
  'session_uses',
  'sessions',
  'settings',
  'totp',
  'user_tags',
  'user_uses',
] as const

/** When somebody was last seen who never was. */
const NEVER = new Date(0).toISOString()

/** The columns of a table by their own names. */
const own = (table: string, ...names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, `${table}."${name}"`]))

const user = (id: string, alias: string): string => `left join users ${alias} on ${alias}."userId" = ${id}`
const post = (id: string, alias = 'p'): string => `left join posts ${alias} on ${alias}."postId" = ${id}`

const hidden = (column: string): string =>
  `case ${column} when ${SPAM} then 'spam' when ${HELD} then 'held' when ${MERGED} then 'merged' end`

/** The names that belong to a row, in one cell. Their order is that of ids: engines sort names in different ways. */
const names = (column: string, id: string, from: string): string =>
  `(select string_agg(${column}, ', ' order by ${id}) from ${from})`

/** Columns named as an export names them; `board.url` is that of another row. */
const SHEETS: Readonly<Record<Exclude<(typeof BACKED_UP)[number], Elsewhere>, Drawn>> = {
  boards: {
    name: 'boards',
    columns: own('b', 'url', 'name', 'display', 'view_voters', 'description', 'template', 'posting', 'sort', 'archived', 'hides_votes', 'post_count', 'color', 'createdAt', 'updatedAt', 'boardId'), // prettier-ignore
    from: 'boards b',
    order: 'b."createdAt", b."boardId"',
  },
  roadmaps: {
    name: 'roadmaps',
    columns: {
      ...own('r', 'index', 'url', 'name', 'kind', 'display'),
      post_count: '(select count(*) from posts where posts.roadmap_id = r.id)',
      ...own('r', 'color', 'created_at', 'updated_at', 'id'),
    },
    from: 'roadmaps r',
    order: 'r."index", r.id',
  },
  tags: {
    name: 'tags',
    columns: {
      ...own('t', 'url', 'name', 'display'),
      post_count: '(select count(*) from post_tags where post_tags."tagId" = t."tagId")',
      ...own('t', 'color', 'createdAt', 'updatedAt', 'tagId'),
    },
    from: 'tags t',
    order: 't."createdAt", t."tagId"',
  },
  posts: {
    name: 'posts',
    columns: {
      ...own('p', 'number', 'title', 'contentMarkdown'),
      'board.url': 'b.url',
      'roadmap.url': 'r.url',
      'author.username': 'u.username',
      ...own('p', 'votesCount', 'importedVotes', 'commentsCount'),
      tags: names('tags.name', 'tags."tagId"', 'post_tags join tags on tags."tagId" = post_tags."tagId" where post_tags."postId" = p."postId"'), // prettier-ignore
      hidden: hidden('p.is_spam'),
      ...own('p', 'pinned', 'locked', 'createdAt', 'updatedAt', 'slug', 'postId'),
    },
    from: `posts p left join boards b on b."boardId" = p."boardId" left join roadmaps r on r.id = p.roadmap_id ${user('p."userId"', 'u')}`,
    order: 'p.number, p."postId"',
  },
  votes: {
    name: 'votes',
    columns: {
      'post.number': 'p.number',
      'post.title': 'p.title',
      'voter.username': 'u.username',
      ...own('v', 'createdAt', 'voteId'),
    },
    from: `votes v ${post('v."postId"')} ${user('v."userId"', 'u')}`,
    order: 'v."createdAt", v."voteId"',
  },
  comments: {
    name: 'comments',
    columns: {
      'post.number': 'p.number',
      'post.title': 'p.title',
      'author.username': 'u.username',
      ...own('c', 'body', 'is_internal', 'is_edited', 'official'),
      hidden: hidden('c.is_spam'),
      'roadmap.url': 'r.url',
      ...own('c', 'created_at', 'updated_at', 'parent_id', 'id'),
    },
    from: `comments c ${post('c.post_id')} ${user('c.author_id', 'u')} left join roadmaps r on r.id = c.roadmap_id`,
    order: 'c.created_at, c.id',
  },
  users: {
    name: 'users',
    columns: {
      ...own('u', 'username', 'name', 'email', 'isOwner', 'isVerified', 'isBlocked'),
      roles: names('roles.name', 'roles.id', 'roles_users join roles on roles.id = roles_users.role_id where roles."isSystem" = 0 and roles_users.user_id = u."userId"'), // prettier-ignore
      tags: names('tag', '"tagFolded"', 'user_tags where user_tags."userId" = u."userId"'),
      ...own('u', 'post_count', 'vote_count', 'language', 'notes', 'createdAt', 'updatedAt', 'userId'),
      usedAt: `nullif(l."usedAt", '${NEVER}')`,
    },
    from: 'users u left join user_uses l on l."userId" = u."userId"',
    order: 'u."createdAt", u."userId"',
  },
  roles: {
    name: 'roles',
    columns: {
      ...own('r', 'name', 'description', 'isSystem', 'require_totp'),
      permissions: names('permission', 'permission', 'role_permissions where role_id = r.id'),
      user_count: '(select count(*) from roles_users where role_id = r.id)',
      ...own('r', 'created_at', 'updated_at', 'id'),
    },
    from: 'roles r',
    order: 'r.created_at, r.id',
  },
  invitations: {
    name: 'invitations',
    columns: {
      'user.username': 'u.username',
      'invitedBy.username': 'i.username',
      ...own('v', 'createdAt', 'sentAt', 'expiresAt', 'acceptedAt'),
    },
    from: `invitations v ${user('v."userId"', 'u')} ${user('v."invitedBy"', 'i')}`,
    order: 'v."createdAt", v."userId"',
  },
  follows: {
    name: 'follows',
    columns: { 'post.number': 'p.number', 'user.username': 'u.username', ...own('f', 'isFollowing', 'createdAt') },
    from: `follows f ${post('f."postId"')} ${user('f."userId"', 'u')}`,
    order: 'f."createdAt", f."postId", f."userId"',
  },
  board_follows: {
    name: 'board_follows',
    columns: { 'board.url': 'b.url', 'user.username': 'u.username', ...own('f', 'createdAt') },
    from: `board_follows f left join boards b on b."boardId" = f."boardId" ${user('f."userId"', 'u')}`,
    order: 'f."createdAt", f."boardId", f."userId"',
  },
  merges: {
    name: 'merges',
    columns: { 'post.number': 'p.number', 'into.number': 'i.number', 'mergedBy.username': 'u.username', ...own('m', 'mergedAt') }, // prettier-ignore
    from: `merges m ${post('m."postId"')} ${post('m."intoId"', 'i')} ${user('m."mergedBy"', 'u')}`,
    order: 'm."mergedAt", m."postId"',
  },
  post_moves: {
    name: 'post_moves',
    columns: {
      'post.number': 'p.number',
      ...own('m', 'kind'),
      from: 'coalesce(fb.url, fr.url)',
      to: 'coalesce(tb.url, tr.url)',
      'actor.username': 'u.username',
      ...own('m', 'movedAt', 'id'),
    },
    from: `post_moves m ${post('m."postId"')} ${user('m."actorId"', 'u')}
      left join boards fb on fb."boardId" = m."fromId" left join roadmaps fr on fr.id = m."fromId"
      left join boards tb on tb."boardId" = m."toId" left join roadmaps tr on tr.id = m."toId"`,
    order: 'm.id',
  },
  reports: {
    name: 'reports',
    columns: {
      'post.number': 'p.number',
      ...own('r', 'commentId'),
      'user.username': 'u.username',
      ...own('r', 'reason', 'isOpen', 'createdAt', 'reportId'),
    },
    from: `reports r left join comments c on c.id = r."commentId" ${post('coalesce(r."postId", c.post_id)')} ${user('r."userId"', 'u')}`,
    order: 'r."createdAt", r."reportId"',
  },
  images: {
    name: 'images',
    columns: { ...own('i', 'imageId', 'mediaType', 'width', 'height', 'bytes'), 'user.username': 'u.username', ...own('i', 'createdAt') }, // prettier-ignore
    from: `images i ${user('i."userId"', 'u')}`,
    order: 'i."createdAt", i."imageId"',
  },
  views: {
    name: 'views',
    columns: { ...own('v', 'name', 'isShared', 'filter'), 'user.username': 'u.username', ...own('v', 'createdAt', 'updatedAt', 'viewId') }, // prettier-ignore
    from: `views v ${user('v."userId"', 'u')}`,
    order: 'v."createdAt", v."viewId"',
  },
  mail_bounces: {
    name: 'mail_bounces',
    columns: { 'user.username': 'u.username', ...own('m', 'bounces', 'reason', 'bouncedAt', 'suppressedAt') },
    from: `mail_bounces m ${user('m."userId"', 'u')}`,
    order: 'm."bouncedAt", m."userId"',
  },
  events: {
    name: 'events',
    columns: {
      ...own('e', 'id', 'action', 'subject'),
      'person.username': 'p.username',
      'actor.username': 'a.username',
      ...own('e', 'origin', 'address', 'created_at', 'details', 'subject_id'),
    },
    from: `events e ${user('e.person_id', 'p')} ${user('e.actor_id', 'a')}`,
    order: 'e.id',
  },
}

/** All sheets, in the order of their names. */
export const sheets: readonly Sheet[] = Object.values(SHEETS)
  .toSorted((one, other) => (one.name < other.name ? -1 : 1))
  .map(({ name, columns, from, order }) => ({
    name,
    heads: Object.keys(columns),
    rows: (snapshot) => snapshot.query(`select ${Object.values(columns).join(', ')} from ${from} order by ${order}`),
  }))
