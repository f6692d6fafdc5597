import { sql } from 'kysely'
import { searchKey } from '../core/text.js'
import type { TableShape, Value } from './carried.js'
import { weight } from './migrations/0017_trending.js'
import { recount } from './recount.js'
import type { Db, TotpRow } from './tables.js'
import { putSecondFactor, secondFactorOf } from './totp.js'
import { searchTextOf } from './users.js'

type Row = Readonly<Record<string, Value>>

const folded = { nameFolded: (row: Row) => searchKey(String(row.name)) }
const none = () => null
const zero = () => 0

/** Values of the columns that an export leaves out. `deriveCounts` replaces the zeros. */
const LEFT_OUT: Readonly<Record<string, Readonly<Record<string, (row: Row) => Value>>>> = {
  settings: { secretFingerprint: none }, // the next start stores that of the secret here
  users: {
    password: none,
    post_count: zero,
    vote_count: zero,
    sessions: zero,
    searchText: ({ name, username, email }) =>
      searchTextOf({ name: String(name), username: String(username), email: String(email) }),
  },
  user_tags: { tagFolded: ({ tag }) => searchKey(String(tag)) },
  boards: { ...folded, post_count: zero },
  roadmaps: folded,
  tags: folded,
  views: folded,
  posts: { votesCount: zero, commentsCount: zero, trending: zero },
  notification_settings: { mailKey: none },
  notifications: { mail: none, mailAt: none, mailedAt: none }, // nobody is mailed again
}

/** Returns all values of a row, including those that an export leaves out. */
export const completed = ({ name, columns }: TableShape, row: Row): Value[] =>
  columns.map((column) => row[column] ?? LEFT_OUT[name]?.[column]?.(row) ?? null)

/** Computes the counts that an export leaves out. */
export async function deriveCounts(db: Db): Promise<void> {
  await sql`insert into counters (name, value) values ('post_counts', 0) on conflict (name) do nothing`.execute(db)
  await recount(db)
  await sql
    .raw(
      `update posts set trending = ${weight(db, 'posts."createdAt"')} + coalesce((select sum(${weight(db, 'votes."createdAt"')}) from votes where votes."postId" = posts."postId"), 0)`,
    )
    .execute(db)
}

/**
 * Replaces the rows of a site that is open. Whoever owned it keeps the password and the second factor if the owner of the
 * new rows has the same address and none of their own; no export has second factors. The secret of the site stays the one that it knows. Returns the
 * owner that it has then.
 */
export async function keepOwnerAccount(
  db: Db,
  encryptedFor: (totp: TotpRow, userId: string) => string | undefined,
  replace: () => Promise<void>,
): Promise<{ email: string; hasPassword: boolean } | null> {
  const ownerOf = () => db.selectFrom('users').select(['userId', 'email', 'password']).where('isOwner', '=', 1).limit(1).executeTakeFirst() // prettier-ignore
  const fingerprint = await db.selectFrom('settings').select('secretFingerprint').executeTakeFirst()
  const before = await ownerOf()
  const factor = before && (await secondFactorOf(db, before.userId))
  await replace()
  if (fingerprint) await db.updateTable('settings').set(fingerprint).execute()
  const owner = await ownerOf()
  const isSame = owner !== undefined && owner.email.toLowerCase() === before?.email.toLowerCase()
  const password = owner?.password ?? (isSame ? (before?.password ?? null) : null)
  if (owner && password !== owner.password) await db.updateTable('users').set({ password }).where('userId', '=', owner.userId).execute() // prettier-ignore
  const secret = isSame && factor ? encryptedFor(factor.totp, owner.userId) : undefined
  if (owner && factor && secret !== undefined)
    await putSecondFactor(db, { ...factor.totp, secret, userId: owner.userId }, factor.codes)
  return owner ? { email: owner.email, hasPassword: password !== null } : null
}

/** Counts the content of a site by noun. All are zero on a new site. */
export async function contentOf(db: Db): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const [noun, from] of Object.entries(CONTENT)) {
    const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.raw(from)}`.execute(db)
    found[noun] = rows[0]?.count ?? 0
  }
  return found
}

const CONTENT = {
  board: 'boards',
  roadmap: 'roadmaps',
  tag: 'tags',
  user: 'users where "isOwner" = 0',
  role: 'roles where "isSystem" = 0',
  post: 'posts',
  view: 'views',
  'legal page': 'legal_pages',
}
