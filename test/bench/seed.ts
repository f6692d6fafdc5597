/**
 * Fills a database with a large site, always the same for the same numbers:
 *   npm run seed -- --database-url sqlite:/tmp/large.db --posts 2000000 --votes 10000000
 * Indexes and triggers are taken off meanwhile; the counts they keep are written from what was inserted.
 */
import { parseArgs } from 'node:util'
import { connect, isPostgres } from '../../src/db/connect.js'
import { weight } from '../../src/db/migrations/0017_trending.js'
import { migrate } from '../../src/db/migrate.js'
import { writeCounts } from './counts.js'
import { tablesOf } from './rows.js'
import { openTarget } from './target.js'

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
