import { sql } from 'kysely'
import { COUNTED_AS_SPAM, SPAM } from '../core/hidden.js'
import { NOUNS } from '../core/nouns.js'
import { transaction } from './connect.js'
import { isPostgres } from './dialect.js'
import type { Db } from './tables.js'
import type { CountedColumns } from './triggers/logged.js'

/** A count that triggers keep, and the rows that it counts. */
interface Count {
  /** What is counted, for people. */
  what: string
  count: string
}

/** Each column that `triggers/logged.ts` says is counted, or this does not compile. */
const COUNTS: { [Table in keyof CountedColumns]: Record<CountedColumns[Table], Count> } = {
  posts: {
    votesCount: {
      what: 'votes of posts',
      count: 'select posts."importedVotes" + count(*) from votes where votes."postId" = posts."postId"',
    },
    commentsCount: {
      what: 'comments of posts',
      count:
        'select count(*) from comments where comments.post_id = posts."postId" and is_internal = 0 and is_spam = 0',
    },
  },
  boards: {
    post_count: {
      what: 'posts of boards',
      count: 'select count(*) from posts where posts."boardId" = boards."boardId" and is_spam = 0',
    },
  },
  users: {
    post_count: {
      what: 'posts of users',
      count: 'select count(*) from posts where posts."userId" = users."userId"',
    },
    vote_count: {
      what: 'votes of users',
      count: 'select count(*) from votes where votes."userId" = users."userId"',
    },
  },
}
const KEYS = { posts: NOUNS.post.id, boards: NOUNS.board.id, users: NOUNS.user.id }

const DERIVED = (Object.keys(COUNTS) as (keyof typeof COUNTS)[]).flatMap((table) =>
  Object.entries<Count>(COUNTS[table]).map(([column, each]) => ({ ...each, table, key: KEYS[table], column })),
)

/** The rows of `counters` that count; the others are locks, and the last number of a post. */
const TOTALS: Readonly<Record<string, string>> = {
  boards: 'select count(*) from boards',
  'boards.public': 'select coalesce(sum(display), 0) from boards',
  roadmaps: 'select count(*) from roadmaps',
  'roadmaps.public': 'select coalesce(sum(display), 0) from roadmaps',
  users: 'select count(*) from users',
}

const COUNTED_DISPLAY = `case when is_spam = ${SPAM} then ${COUNTED_AS_SPAM} else display end`
/** What `post_counts` should have: '*' stands for all boards or roadmaps, '' for none. */
const POST_COUNTS = `
  select b.key as board, r.key as roadmap, p.display as display, count(*) as value
  from (select "boardId", roadmap_id, ${COUNTED_DISPLAY} as display from posts) p
  join (select distinct coalesce("boardId", '') as own, coalesce("boardId", '') as key from posts union all select distinct coalesce("boardId", ''), '*' from posts) b on b.own = coalesce(p."boardId", '')
  join (select distinct coalesce(roadmap_id, '') as own, coalesce(roadmap_id, '') as key from posts union all select distinct coalesce(roadmap_id, ''), '*' from posts) r on r.own = coalesce(p.roadmap_id, '')
  group by b.key, r.key, p.display`
const STORED = 'select board, roadmap, display, value from post_counts where value <> 0'

/** A stored count that is not that of the rows. */
export interface Miscount {
  what: string
  /** How many are wrong. The others are of one of them. */
  wrong: number
  stored: number
  counted: number
}

/** Counts the rows of all tables that have a count. Takes about a second for a million votes. */
export async function miscounts(db: Db): Promise<Miscount[]> {
  const found: Miscount[] = []
  for (const { what, table, column, count } of DERIVED)
    found.push(
      ...(await read(
        db,
        what,
        `select "${column}" as stored, counted from (select "${column}", (${count}) as counted from ${table}) as each where "${column}" <> counted`,
      )),
    )
  for (const [name, count] of Object.entries(TOTALS))
    found.push(
      ...(await read(
        db,
        name.replace(/^(\w+)\.public$/, 'public $1'),
        `select coalesce((select value from counters where name = '${name}'), 0) as stored, (${count}) as counted where coalesce((select value from counters where name = '${name}'), 0) <> (${count})`,
      )),
    )
  found.push(
    ...(await read(
      db,
      'posts in lists',
      `select coalesce(s.value, 0) as stored, coalesce(c.value, 0) as counted from (${STORED}) s full join (${POST_COUNTS}) c on s.board = c.board and s.roadmap = c.roadmap and s.display = c.display where coalesce(s.value, 0) <> coalesce(c.value, 0)`,
    )),
  )
  return found
}

async function read(db: Db, what: string, wrong: string): Promise<Miscount[]> {
  const { rows } = await sql<Omit<Miscount, 'what'>>`
    select stored, counted, count(*) over () as wrong from (${sql.raw(wrong)}) as wrongs limit 1`.execute(db)
  return rows.map((row) => ({ what, ...row }))
}

/** Stores what `miscounts` counts. Writers wait meanwhile. */
export const recount = (db: Db): Promise<void> =>
  transaction(db, async (inside) => {
    if (isPostgres(inside))
      await sql`lock table counters, users, boards, roadmaps, posts, votes, comments in share row exclusive mode`.execute(
        inside,
      )
    for (const { table, key, column, count } of DERIVED) {
      const wrong = `"${column}" <> (${count})`
      // The log of changes has what people write, so no trigger logs a count
      await sql.raw(`insert into row_changes (topic, ref) select '${table}', "${key}" from ${table} where ${wrong}`).execute(inside) // prettier-ignore
      await sql.raw(`update ${table} set "${column}" = (${count}) where ${wrong}`).execute(inside)
    }
    for (const [name, count] of Object.entries(TOTALS)) {
      await sql.raw(`insert into row_changes (topic, ref) values ('${name.replace('.public', '')}', 'recounted')`).execute(inside) // prettier-ignore
      await sql.raw(`insert into counters (name, value) values ('${name}', (${count})) on conflict (name) do update set value = excluded.value`).execute(inside) // prettier-ignore
    }
    await sql`insert into row_changes (topic, ref) values ('posts', 'recounted')`.execute(inside)
    await sql`delete from post_counts`.execute(inside)
    await sql.raw(`insert into post_counts (board, roadmap, display, value) ${POST_COUNTS}`).execute(inside)
  })
