import { seededRandom } from '../../src/core/random.js'
import { connect, isPostgres } from '../../src/db/connect.js'
import { migrate } from '../../src/db/migrate.js'
import { weight } from '../../src/db/migrations/0017_trending.js'
import { tokensOf } from '../../src/db/search.js'
import { writeCounts } from './counts.js'
import { id, tablesOf, time, type Size } from './rows.js'
import { openTarget, type Row } from './target.js'

/** A site whose texts have words as a language has them: few are in most texts, and most in few. */
export interface Written extends Size {
  comments: number
}

const [CONSONANTS, VOWELS] = ['bcdfghjklmnprstvwyz', 'aeiou']
const SYLLABLES = [...CONSONANTS].flatMap((one) => [...VOWELS].map((other) => one + other))
const EACH = SYLLABLES.length

/** Words of the vocabulary, from the most frequent to the rarest. */
export const VOCABULARY = 200_000
const SIGNS = 3000

/** The word of a rank, of two or three syllables: the frequent ones begin some of the rare ones. */
export function wordOf(rank: number): string {
  const last = Math.floor(rank / EACH / EACH)
  return `${SYLLABLES[rank % EACH]}${SYLLABLES[Math.floor(rank / EACH) % EACH]}${last > 0 ? SYLLABLES[last % EACH] : ''}`
}

const signOf = (rank: number): string => String.fromCodePoint(0x4e00 + rank)

/** Ranks, each as often as its place among the frequent ones says. */
const ranks = (next: () => number, count: number): number => Math.floor(count ** next()) - 1

/** So many of the posts, and their comments, are written in signs without spaces: one of each ten. */
const isSigns = (post: number): boolean => post % 10 === 4

function sentence(seed: number, post: number, words: number): string {
  const next = seededRandom(seed)
  return isSigns(post)
    ? Array.from({ length: words * 2 }, () => signOf(ranks(next, SIGNS))).join('')
    : Array.from({ length: words }, () => wordOf(ranks(next, VOCABULARY))).join(' ')
}

export const titleOf = (post: number): string => sentence(post * 4 + 1, post, 6)
export const textOf = (post: number): string => `${sentence(post * 4 + 2, post, 30)}.`

/** Comments are spread over the posts, in the order of time. */
const commentOf = (comment: number, posts: number) => {
  const post = (comment * 7919) % posts
  return { post, body: `${sentence(comment * 4 + 3, post, 12)}.` }
}

/** Fills an empty database. Returns how many bytes its texts have. */
export async function write(url: string, size: Written): Promise<number> {
  const db = await connect(url)
  await migrate(db)
  const key = isPostgres(url) ? 'number' : 'rowid'
  const target = await openTarget(url, isPostgres(url))
  const tables = tablesOf(size, key)
  let bytes = 0
  const written = function* (rows: Iterable<Row>): Generator<Row> {
    const next = seededRandom(29)
    let post = 0
    for (const row of rows) {
      const [title, contentMarkdown] = [titleOf(post), textOf(post)]
      bytes += Buffer.byteLength(title) + Buffer.byteLength(contentMarkdown)
      yield { ...row, title, contentMarkdown, votesCount: Math.floor(1000 ** next()) - 1, commentsCount: Math.floor(size.comments / size.posts) } // prettier-ignore
      post += 1
    }
  }
  const ofPosts = function* (): Generator<Row> {
    for (let n = 0; n < size.posts; n++) yield { [key]: n + 1, words: tokensOf(db, textOf(n), titleOf(n)).join(' ') }
  }
  const comments = function* (): Generator<Row> {
    for (let n = 0; n < size.comments; n++) {
      const { post, body } = commentOf(n, size.posts)
      bytes += Buffer.byteLength(body)
      const at = time(n / size.comments)
      yield { id: idOf(n), post_id: id('post', post), parent_id: null, author_id: id('user', n % size.users), body, is_internal: 0, created_at: at, updated_at: at, ...(isPostgres(url) ? {} : { number: n + 1 }) } // prettier-ignore
    }
  }
  const numbers = function* (): Generator<Row> {
    for (let n = 0; n < size.comments; n++) yield { number: n + 1, comment_id: idOf(n) }
  }
  const ofComments = function* (): Generator<Row> {
    for (let n = 0; n < size.comments; n++)
      yield { [key]: n + 1, words: tokensOf(db, commentOf(n, size.posts).body).join(' ') }
  }
  const began = performance.now()
  const done = (what: string) => console.error(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${what}`) // prettier-ignore
  const inserted = async (table: string, rows: Iterable<Row>) => {
    await target.insert(table, rows)
    done(table)
  }
  try {
    await target.unhook()
    for (const table of ['users', 'sessions', 'boards', 'roadmaps']) await inserted(table, tables[table] ?? [])
    await inserted('posts', written(tables.posts ?? []))
    await inserted('post_search', ofPosts())
    await inserted('comments', comments())
    if (isPostgres(url)) await inserted('indexed_comments', numbers())
    await inserted('comment_search', ofComments())
    if (isPostgres(url)) await target.run(`select setval(pg_get_serial_sequence('indexed_comments', 'number'), ${size.comments})`) // prettier-ignore
    await target.run(`insert into roles_users (user_id, role_id) select "userId", (select id from roles where name = '@everyone') from users`) // prettier-ignore
    await writeCounts(target, (column) => weight(db, column))
    done('counts')
    await target.run(`update users set "isOwner" = 1 where "userId" = '${id('user', 0)}'`)
    await target.hook()
    done('indexes and triggers')
  } finally {
    await target.close()
    await db.destroy()
  }
  return bytes
}

const idOf = (comment: number): string => id('vote', 500_000_000 + comment)
