/**
 * Fills a database with a large site, always the same for the same numbers:
 *   npm run seed -- --database-url sqlite:/tmp/large.db --posts 2000000 --votes 10000000
 * Indexes and triggers are taken off meanwhile; the counts they keep are written from what was inserted.
 */
import { parseArgs } from 'node:util'
import { connect, isPostgres } from '../../src/db/connect.js'
import { weight } from '../../src/db/migrations/0017_trending.js'
import { migrate } from '../../src/db/migrate.js'
import { tablesOf } from './rows.js'
import { openTarget, type Target } from './target.js'

const { values } = parseArgs({
  options: {
    'database-url': { type: 'string' },
    users: { type: 'string', default: '20000' },
    boards: { type: 'string', default: '20' },
    roadmaps: { type: 'string', default: '6' },
    posts: { type: 'string', default: '2000000' },
    votes: { type: 'string', default: '10000000' },
  },
})
const url = values['database-url']
if (!url) throw new Error('Where? Give --database-url sqlite:PATH or postgres://…')
const size = {
  users: +values.users,
  boards: +values.boards,
  roadmaps: +values.roadmaps,
  posts: +values.posts,
  votes: +values.votes,
}

/** What the triggers would have counted. */
async function writeCounts(target: Target, weight: (time: string) => string): Promise<void> {
  const counted = (board: string, roadmap: string) =>
    `insert into post_counts (board, roadmap, display, value) select ${board}, ${roadmap}, display, count(*) from posts group by 1, 2, 3`
  const [board, roadmap] = [`coalesce("boardId", '')`, "coalesce(roadmap_id, '')"]
  for (const [b, r] of [[board, roadmap], [board, `'*'`], [`'*'`, roadmap], [`'*'`, `'*'`]] as const) await target.run(counted(b, r)) // prettier-ignore
  await target.run(
    `update boards set post_count = coalesce((select sum(value) from post_counts where board = "boardId" and roadmap = '*'), 0)`,
  )
  await target.run(`create table counted as select "userId" as person, count(*) as value from posts group by 1`)
  await target.run(`update users set post_count = coalesce((select value from counted where person = "userId"), 0)`)
  await target.run('drop table counted')
  await target.run(`create table counted as select "userId" as person, count(*) as value from votes group by 1`)
  await target.run(`update users set vote_count = coalesce((select value from counted where person = "userId"), 0)`)
  await target.run('drop table counted')
  await target.run(`create table weighed as select "postId" as post, sum(${weight('votes."createdAt"')}) as value from votes group by 1`) // prettier-ignore
  await target.run(`create unique index weighed_post on weighed (post)`)
  await target.run(
    `update posts set trending = ${weight('posts."createdAt"')} + coalesce((select value from weighed where post = "postId"), 0)`,
  )
  await target.run('drop table weighed')
  await target.run(`update counters set value = (select count(*) from boards) where name = 'boards'`)
  await target.run(
    `update counters set value = (select coalesce(sum(display), 0) from boards) where name = 'boards.public'`,
  )
  await target.run(`update counters set value = (select count(*) from users) where name = 'users'`)
  await target.run(`update counters set value = (select count(*) from roadmaps) where name in ('roadmaps', 'roadmaps.public')`) // prettier-ignore
  await target.run(`update counters set value = (select coalesce(max(number), 0) from posts) where name = 'post_numbers'`) // prettier-ignore
}

const started = performance.now()
const done = (what: string) =>
  console.error(`${((performance.now() - started) / 1000).toFixed(0).padStart(5)} s  ${what}`)

const db = await connect(url)
await migrate(db)
await db.destroy()
const target = await openTarget(url, isPostgres(url))
try {
  await target.unhook()
  for (const [table, rows] of Object.entries(tablesOf(size, isPostgres(url) ? 'number' : 'rowid'))) {
    await target.insert(table, rows)
    done(table)
  }
  await target.run(
    `insert into roles_users (user_id, role_id) select "userId", (select id from roles where name = '@everyone') from users`,
  )
  await writeCounts(target, (time) => weight(db, time))
  done('counts')
  await target.hook()
  done('indexes and triggers')
} finally {
  await target.close()
}
