import { sql, type RawBuilder } from 'kysely'
import { isPostgres } from './dialect.js'
import type { Db } from './tables.js'

/** Voters of a post that are looked at: those who voted last. */
export const MOST_VOTERS = 10_000

/** People of a segment among the voters. A null name is for those in none. */
export interface Counted {
  name: string | null
  votes: number
}

/** Who voted last. */
const voters = (postId: string) =>
  sql`(select "userId" from votes where "postId" = ${postId} order by "createdAt" desc, "voteId" desc limit ${sql.lit(MOST_VOTERS)}) as voters`

const read = async (db: Db, counted: RawBuilder<Counted>, limit: number): Promise<Counted[]> =>
  (
    await sql<Counted>`select name, cast(votes as bigint) as votes from (${counted}) as segments
      order by votes desc, coalesce(key, ''), coalesce(name, '') limit ${limit}`.execute(db)
  ).rows

/** The domains of their addresses. */
export const domainsOfVoters = (db: Db, postId: string, limit: number): Promise<Counted[]> => {
  const at = isPostgres(db) ? sql`strpos(users.email, '@')` : sql`instr(users.email, '@')`
  const domain = sql`substr(users.email, ${at} + 1)`
  const counted = sql<Counted>`select ${domain} as key, ${domain} as name, count(*) as votes
    from ${voters(postId)} inner join users on users."userId" = voters."userId" group by ${domain}`
  return read(db, counted, limit)
}

/** The roles that they were given. Who has several counts in each. */
export const rolesOfVoters = (db: Db, postId: string, limit: number): Promise<Counted[]> => {
  const given = sql`roles_users cross join roles where roles_users.user_id = voters."userId" and roles.id = roles_users.role_id and roles."isSystem" = 0`
  const counted = sql<Counted>`select min(roles.name) as key, min(roles.name) as name, count(*) as votes
    from ${voters(postId)} cross join ${given} group by roles.id
    union all select null, null, count(*) from ${voters(postId)} where not exists (select 1 from ${given}) having count(*) > 0`
  return read(db, counted, limit)
}

/** What the team calls them. */
export const tagsOfVoters = (db: Db, postId: string, limit: number): Promise<Counted[]> => {
  const counted = sql<Counted>`select user_tags."tagFolded" as key, min(user_tags.tag) as name, count(*) as votes
    from ${voters(postId)} left join user_tags on user_tags."userId" = voters."userId" group by user_tags."tagFolded"`
  return read(db, counted, limit)
}

export async function countVoters(db: Db, postId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select cast(count(*) as bigint) as count from ${voters(postId)}`.execute(db) // prettier-ignore
  return rows[0]?.count ?? 0
}
