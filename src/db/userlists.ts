import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { isPostgres } from './dialect.js'
import { countAfter, pageOf, within, type Direction, type Page, type Period } from './paging.js'
import type { Db, Tables, UserRow } from './tables.js'
import { userTotal } from './users.js'

/** The first that holds. The invited have no password, and have not confirmed their address. */
export const USER_STATES = ['owner', 'blocked', 'active', 'invited', 'unverified'] as const
export type UserState = (typeof USER_STATES)[number]

/** As the indexes of the states have it, one for each. */
const STATE = sql`(case when users."isOwner" = 1 then 'owner' when users."isBlocked" = 1 then 'blocked'
  when users."isVerified" = 1 then 'active' when coalesce(users.password, '!') = '!' then 'invited' else 'unverified' end)`

/** The same of a row. */
export function stateOf({
  isOwner,
  isBlocked,
  isVerified,
  password,
}: Pick<UserRow, 'isOwner' | 'isBlocked' | 'isVerified' | 'password'>): UserState {
  if (isOwner) return 'owner'
  if (isBlocked) return 'blocked'
  if (isVerified) return 'active'
  return (password ?? '!') === '!' ? 'invited' : 'unverified' // ! is of servers of earlier versions
}

interface Order {
  table: 'users' | 'user_uses'
  by: 'createdAt' | 'searchText' | 'post_count' | 'vote_count' | 'usedAt'
  direction: Direction
}

/** Each has an index. */
const ORDERS = {
  oldest: { table: 'users', by: 'createdAt', direction: 'asc' },
  newest: { table: 'users', by: 'createdAt', direction: 'desc' },
  name: { table: 'users', by: 'searchText', direction: 'asc' },
  posts: { table: 'users', by: 'post_count', direction: 'desc' },
  votes: { table: 'users', by: 'vote_count', direction: 'desc' },
  seen: { table: 'user_uses', by: 'usedAt', direction: 'desc' },
} as const satisfies Record<string, Order>

export type UserSort = keyof typeof ORDERS
export const USER_SORTS = Object.keys(ORDERS) as UserSort[]
/** By time: nothing that people do moves a user in these. */
export const STEADY_USER_SORTS = ['oldest', 'newest'] as const satisfies readonly UserSort[]

/** Which users. Those of a period signed up in it. */
export interface UserFilter extends Period {
  states?: readonly UserState[] | undefined
  /** Unique ids of roles, and null for users without a role. */
  roles?: readonly (string | null)[] | undefined
  /** Unique folded tags: a user has one of them. */
  tags?: readonly string[] | undefined
  /** One of these texts is in the text of the user that is searched. */
  texts?: readonly string[] | undefined
  /** When they were last seen. */
  seen?: Period | undefined
}

/** The time is there in the order by it. */
export type ListedUser = UserRow & Partial<Pick<Tables['user_uses'], 'usedAt'>>

/** So many users of a list are sorted here. More of them are found on a walk through the index of the order. */
const FEW = 1000

/** Users of a filter that are looked at one by one in less time than it takes to search the texts of all. */
const FEWER_THAN_TEXTS = 4000

/** A list of users, with how many it has. `most` is for tests. */
export async function userList(db: Db, filter: UserFilter, sort: UserSort, most = FEW) {
  const parts = partsOf(db, filter)
  const isByTime = ORDERS[sort].by === 'createdAt'
  if (parts.every(({ isPeriod }) => isPeriod && isByTime))
    return { total: await userTotal(db, filter), ...walk(db, filter, sort) }
  const { first, count } = await firstOf(parts)
  const total = parts.length === 1 ? count : undefined // of the texts it is not known
  if (total !== undefined && total > most) return { total, ...walk(db, filter, sort) }
  const passing = conditionsOf(parts, first)
  const found = await keysOf(db, passing, sort, most + 1)
  if (found.length <= most) return { total: found.length, ...few(db, found, sort) }
  return { total: await countPassing(db, passing), ...walk(db, filter, sort) }
}

/**
 * A filter that is given. `set` is written so that an index finds the users who pass, `row` so that each user who comes
 * along is checked: no index has a column with something appended.
 */
interface Part {
  set: RawBuilder<SqlBool>
  row: RawBuilder<SqlBool>
  /** Absent where it takes as long as finding them. */
  count?(this: void): Promise<number>
  isPeriod?: true
}

function partsOf(db: Db, { states, roles, tags, texts, seen = {}, ...period }: UserFilter): Part[] {
  const parts: Part[] = []
  if (hasEnd(period))
    parts.push({
      set: rangeOf(sql`users."createdAt"`, period),
      row: rangeOf(sql`users."createdAt" || ''`, period),
      count: () => userTotal(db, period),
      isPeriod: true,
    })
  if (states) parts.push(stateFilter(db, states))
  if (roles) parts.push(roleFilter(db, roles))
  if (tags) {
    const rows = sql`user_tags where "tagFolded" in (${sql.join(tags)})`
    parts.push({
      ...among('userId', rows),
      count: () => countOf(db, sql`select count(distinct "userId") as count from ${rows}`),
    })
  }
  if (hasEnd(seen)) {
    const rows = sql`user_uses where ${rangeOf(sql`user_uses."usedAt"`, seen)}`
    parts.push({ ...among('userId', rows), count: () => countOf(db, sql`select count(*) as count from ${rows}`) })
  }
  if (texts) {
    const position = isPostgres(db) ? sql`strpos` : sql`instr`
    const row = anyOf(texts.map((text) => sql`${position}(users."searchText", ${text}) > 0`))
    parts.push({ set: sql`users."searchText" > '' and ${row}`, row }) // the whole index, which has all that is searched
  }
  return parts
}

function stateFilter(db: Db, states: readonly UserState[]): Part {
  const some = states.map((state) => sql`select users."userId" from users where ${STATE} = ${sql.lit(state)}`)
  return {
    set: sql`users."userId" in (${sql.join(some, sql` union all `)})`,
    row: sql`${STATE} || '' in (${sql.join(states)})`,
    count: async () =>
      sumOf(states.map((state) => countOf(db, sql`select count(*) as count from users where ${STATE} = ${sql.lit(state)}`))), // prettier-ignore
  }
}

/** Without a role is who has none but those of the system. */
function roleFilter(db: Db, roles: readonly (string | null)[]): Part {
  const assigned = sql`roles_users where role_id in (select id from roles where "isSystem" = 0)`
  const filters = roles.map((role) => {
    const { set, row } = among('user_id', role === null ? assigned : sql`roles_users where role_id = ${role}`)
    return role === null ? { set: sql<SqlBool>`not ${set}`, row: sql<SqlBool>`not ${row}` } : { set, row }
  })
  const countOfRole = async (role: string | null) =>
    role === null
      ? (await userTotal(db)) - (await countOf(db, sql`select count(distinct user_id) as count from ${assigned}`))
      : countOf(db, sql`select count(*) as count from roles_users where role_id = ${role}`)
  return {
    set: anyOf(filters.map(({ set }) => set)),
    row: anyOf(filters.map(({ row }) => row)),
    ...(roles.length === 1 && { count: async () => sumOf(roles.map(countOfRole)) }),
  }
}

/** Whether some rows have the user. */
const among = (column: 'user_id' | 'userId', rows: RawBuilder<unknown>): Pick<Part, 'set' | 'row'> => ({
  set: sql`users."userId" in (select ${sql.ref(column)} from ${rows})`,
  row: sql`exists (select 1 from ${rows} and ${sql.ref(column)} = users."userId")`,
})

const countOf = async (db: Db, query: RawBuilder<{ count: number }>): Promise<number> =>
  (await query.execute(db)).rows[0]?.count ?? 0

const sumOf = async (counts: readonly Promise<number>[]): Promise<number> =>
  (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)

const hasEnd = ({ since, until }: Period): boolean => since !== undefined || until !== undefined

const rangeOf = (column: RawBuilder<unknown>, { since, until }: Period): RawBuilder<SqlBool> =>
  sql.join(
    [
      ...(since === undefined ? [] : [sql`${column} >= ${since}`]),
      ...(until === undefined ? [] : [sql`${column} < ${until}`]),
    ],
    sql` and `,
  )

const anyOf = (conditions: readonly RawBuilder<unknown>[]): RawBuilder<SqlBool> =>
  conditions.length === 0 ? sql`1 = 0` : sql`(${sql.join(conditions, sql` or `)})`

/** The filter whose index finds the fewest users, with how many, and the uncounted one where all others find many. */
async function firstOf(parts: readonly Part[]): Promise<{ first: Part | undefined; count: number | undefined }> {
  let best: { first: Part | undefined; count: number | undefined } = { first: undefined, count: undefined }
  for (const part of parts) {
    const count = await part.count?.()
    if (count !== undefined && count < (best.count ?? Infinity)) best = { first: part, count }
  }
  const uncounted = parts.find((part) => !part.count)
  return uncounted && (best.count ?? Infinity) > FEWER_THAN_TEXTS ? { first: uncounted, count: undefined } : best
}

const conditionsOf = (parts: readonly Part[], first: Part | undefined): RawBuilder<SqlBool> =>
  sql.join(
    parts.map((part) => (part === first ? part.set : part.row)),
    sql` and `,
  )

const countPassing = (db: Db, passing: RawBuilder<SqlBool>): Promise<number> =>
  countOf(db, sql`select count(*) as count from users where ${passing}`)

/** The users in their order, which an index has. */
function walk(db: Db, filter: UserFilter, sort: UserSort) {
  const order = orderOf(sort)
  const { seen = {}, since, until, ...others } = filter
  const isByTime = order.by[0] === 'createdAt'
  const period = { since, until }
  // What the index of the order has is a range of it
  const checked = partsOf(db, { ...others, ...(sort !== 'seen' && { seen }), ...(!isByTime && period) })
  const rows = () => {
    let query = within(tableOf(db, sort), 'users.createdAt', isByTime ? period : {})
    if (sort === 'seen') query = within(query, 'user_uses.usedAt', seen)
    for (const { row } of checked) query = query.where(row)
    return query
  }
  const whole = () =>
    rows()
      .selectAll('users')
      .$if(sort === 'seen', (query) => query.select('user_uses.usedAt'))
  return {
    find: (after: string): Promise<ListedUser | undefined> => whole().where('users.userId', '=', after).executeTakeFirst(), // prettier-ignore
    ...(checked.length === 0 && {
      countAfter: async (cursor: ListedUser) =>
        (await countAfter(rows(), order, cursor).executeTakeFirstOrThrow()).count,
    }),
    read: (page: Page<ListedUser>): Promise<ListedUser[]> => pageOf(whole(), order, page).execute(),
  }
}

const timed = (db: Db) => db.selectFrom('users').innerJoin('user_uses', 'user_uses.userId', 'users.userId')

/** Joined with the times for the order by them alone. */
const tableOf = (db: Db, sort: UserSort): ReturnType<typeof timed> =>
  sort === 'seen' ? timed(db) : db.selectFrom('users')

const orderOf = (sort: UserSort) => {
  const { table, by, direction } = ORDERS[sort]
  return { table, by: [by, 'userId'] as const, direction }
}

interface Key {
  userId: string
  key: string | number
}

/** Of some users that pass, what they are sorted by. */
async function keysOf(db: Db, passing: RawBuilder<SqlBool>, sort: UserSort, most: number): Promise<Key[]> {
  const { table, by } = ORDERS[sort]
  const { rows } = await sql<Key>`
    select "userId", ${sql.ref(by)} as key from ${sql.table(table)}
    where "userId" in (select users."userId" from users where ${passing} limit ${most})`.execute(db)
  return rows
}

/** A list that is sorted here: no index has all filters and orders together. */
function few(db: Db, found: readonly Key[], sort: UserSort) {
  const sign = ORDERS[sort].direction === 'desc' ? -1 : 1
  const ids = found
    .toSorted((one, other) => sign * (compare(one.key, other.key) || compare(one.userId, other.userId)))
    .map(({ userId }) => userId)
  const place = (userId: string) => ids.indexOf(userId) + 1
  return {
    find: async (after: string) => (ids.includes(after) ? (await usersByIds(db, [after]))[0] : undefined),
    countAfter: async ({ userId }: ListedUser) => ids.length - place(userId),
    read: ({ limit, offset = 0, after }: Page<ListedUser>) => {
      const start = after ? place(after.userId) : offset
      return usersByIds(db, ids.slice(start, start + limit))
    },
  }
}

const compare = (one: string | number, other: string | number): number => (one < other ? -1 : one > other ? 1 : 0)

/** These users, in the order of their ids here. */
async function usersByIds(db: Db, ids: readonly string[]): Promise<ListedUser[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('users')
    .selectAll()
    .where('userId', 'in', [...ids])
    .execute()
  const byId = new Map(rows.map((row) => [row.userId, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** The time of those who were never seen. */
const NEVER = '1970-01-01T00:00:00.000Z'

/** When each of these users was last seen, without those who never were. */
export async function lastSeen(db: Db, userIds: readonly string[]): Promise<Map<string, string>> {
  if (userIds.length === 0) return new Map()
  const rows = await db.selectFrom('user_uses').selectAll().where('userId', 'in', userIds).where('usedAt', '>', NEVER).execute() // prettier-ignore
  return new Map(rows.map(({ userId, usedAt }) => [userId, usedAt]))
}
