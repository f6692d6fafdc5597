/**
 * Fills a database with a large site, always the same for the same numbers:
 *   npm run seed -- --database-url sqlite:/tmp/large.db --posts 2000000 --votes 10000000
 * Indexes and triggers are taken off meanwhile; the counts they keep are written from what was inserted.
 */
import { parseArgs } from 'node:util'
import { seededRandom } from '../../src/core/random.js'
import { connect, isPostgres } from '../../src/db/connect.js'
import { migrate } from '../../src/db/schema.js'
import { openTarget, type Row, type Target } from './target.js'

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
const size = { users: +values.users, boards: +values.boards, roadmaps: +values.roadmaps, posts: +values.posts, votes: +values.votes }

const START = Date.UTC(2023, 0, 1)
const YEARS = 3 * 365 * 24 * 3600 * 1000

const KINDS = { user: '1', board: '2', roadmap: '3', post: '4', vote: '5' }
const id = (kind: keyof typeof KINDS, number: number) => `0190000${KINDS[kind]}-0000-7000-8000-${number.toString(16).padStart(12, '0')}`
const time = (share: number) => new Date(START + Math.floor(share * YEARS)).toISOString()

const WORDS = 'dark mode export search slow login mobile sync offline report chart print share team invite colour theme keyboard filter sort archive'.split(' ')
const COLORS = ['c2410c', '15803d', '1d4ed8', '6d28d9']

function* users(): Generator<Row> {
  for (let n = 0; n < size.users; n++) {
    const createdAt = time(n / size.users)
    yield { userId: id('user', n), name: `Person ${n}`, username: `person_${n}`, email: `person${n}@example.org`, password: '!', avatar: '', isVerified: 1, isOwner: 0, isBlocked: 0, createdAt, updatedAt: createdAt } // prettier-ignore
  }
}

function* boards(): Generator<Row> {
  for (let n = 0; n < size.boards; n++) {
    const createdAt = time(n / size.boards)
    yield { boardId: id('board', n), name: `Board ${n}`, nameFolded: `board ${n}`, url: `board-${n}`, color: COLORS[n % 4], display: isPrivate(n) ? 0 : 1, view_voters: 1, post_count: 0, createdAt, updatedAt: createdAt } // prettier-ignore
  }
}

const isPrivate = (board: number) => board % 10 === 9

function* roadmaps(): Generator<Row> {
  for (let n = 0; n < size.roadmaps; n++)
    yield { id: id('roadmap', n), name: `Roadmap ${n}`, nameFolded: `roadmap ${n}`, url: `roadmap-${n}`, index: n + 1, color: COLORS[n % 4], display: 1, created_at: time(0), updated_at: time(0) } // prettier-ignore
}

/** Person by person and post by post, which is the order of the largest index; some posts are much more liked than others. */
function* votes(counts: Int32Array): Generator<Row> {
  const next = seededRandom(5)
  const each = Math.ceil(size.votes / size.users)
  for (let user = 0, made = 0; user < size.users; user++) {
    const liked = new Set<number>()
    for (let tries = 0; liked.size < each && tries < each * 4; tries++) liked.add(Math.floor(next() ** 2 * size.posts))
    for (const post of [...liked].toSorted((a, b) => a - b)) {
      if (made === size.votes) return
      counts[post] = (counts[post] ?? 0) + 1
      yield { voteId: id('vote', made++), userId: id('user', user), postId: id('post', post), createdAt: time(next()) }
    }
  }
}

function* posts(counts: Int32Array): Generator<Row> {
  const next = seededRandom(7)
  const word = () => WORDS[Math.floor(next() * WORDS.length)]
  for (let n = 0; n < size.posts; n++) {
    const board = next() < 0.05 ? undefined : Math.floor(next() ** 2 * size.boards)
    const createdAt = time(n / size.posts)
    const slugId = n.toString(36).padStart(20, '0')
    const title = `${word()} ${word()} ${word()}`
    yield {
      postId: id('post', n),
      title,
      slug: `${title.replaceAll(' ', '-')}-${slugId}`,
      slugId,
      contentMarkdown: `We need **${word()}** with ${word()}, because ${word()} is not enough for ${word()}.`,
      userId: id('user', Math.floor(next() * size.users)),
      boardId: board === undefined ? null : id('board', board),
      roadmap_id: next() < 0.2 ? id('roadmap', Math.floor(next() * size.roadmaps)) : null,
      votesCount: counts[n],
      display: board !== undefined && isPrivate(board) ? 0 : 1,
      createdAt,
      updatedAt: createdAt,
    }
  }
}

/** What the triggers would have counted. */
async function writeCounts(target: Target): Promise<void> {
  const counted = (board: string, roadmap: string) =>
    `insert into post_counts (board, roadmap, display, value) select ${board}, ${roadmap}, display, count(*) from posts group by 1, 2, 3`
  const [board, roadmap] = [`coalesce("boardId", '')`, "coalesce(roadmap_id, '')"]
  for (const [b, r] of [[board, roadmap], [board, `'*'`], [`'*'`, roadmap], [`'*'`, `'*'`]] as const) await target.run(counted(b, r)) // prettier-ignore
  await target.run(`update boards set post_count = coalesce((select sum(value) from post_counts where board = "boardId" and roadmap = '*'), 0)`)
  await target.run(`create table counted as select "userId" as person, count(*) as value from posts group by 1`)
  await target.run(`update users set post_count = coalesce((select value from counted where person = "userId"), 0)`)
  await target.run('drop table counted')
  await target.run(`create table counted as select "userId" as person, count(*) as value from votes group by 1`)
  await target.run(`update users set vote_count = coalesce((select value from counted where person = "userId"), 0)`)
  await target.run('drop table counted')
  await target.run(`update counters set value = (select count(*) from boards) where name = 'boards'`)
  await target.run(`update counters set value = (select coalesce(sum(display), 0) from boards) where name = 'boards.public'`)
  await target.run(`update counters set value = (select count(*) from users) where name = 'users'`)
}

const started = performance.now()
const done = (what: string) => console.error(`${((performance.now() - started) / 1000).toFixed(0).padStart(5)} s  ${what}`)

const db = await connect(url)
await migrate(db)
await db.destroy()
const target = await openTarget(url, isPostgres(url))
try {
  await target.unhook()
  const counts = new Int32Array(size.posts)
  for (const [table, rows] of Object.entries({ users: users(), boards: boards(), roadmaps: roadmaps(), votes: votes(counts), posts: posts(counts) })) {
    await target.insert(table, rows)
    done(table)
  }
  await writeCounts(target)
  done('counts')
  await target.hook()
  done('indexes and triggers')
} finally {
  await target.close()
}
