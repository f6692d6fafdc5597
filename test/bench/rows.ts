import { seededRandom } from '../../src/core/random.js'
import { indexTokens, indexTokensWithBeginnings } from '../../src/core/search/words.js'
import type { Row } from './target.js'

/** How much of what a site has. Every tenth board is private. */
export interface Size {
  users: number
  boards: number
  roadmaps: number
  posts: number
  votes: number
}

/**
 * The rows of a large site, always the same for the same numbers: of each table, in the order in which they are
 * inserted.
 */
export function tablesOf(size: Size, searchKey: 'rowid' | 'number'): Record<string, Iterable<Row>> {
  const counts = new Int32Array(size.posts) // filled by the votes, which come before the posts
  return {
    users: users(size),
    user_uses: uses(size),
    sessions: sessions(size),
    boards: boards(size),
    roadmaps: roadmaps(size),
    votes: votes(size, counts),
    posts: posts(size, counts),
    post_search: search(size, counts, searchKey),
  }
}

const START = Date.UTC(2023, 0, 1)
const YEARS = 3 * 365 * 24 * 3600 * 1000

/** Ids tell what they belong to, and which one it is: whoever measures can name a row without looking it up. */
export const id = (kind: keyof typeof KINDS, number: number): string =>
  `0190000${KINDS[kind]}-0000-7000-8000-${number.toString(16).padStart(12, '0')}`

const KINDS = { user: '1', board: '2', roadmap: '3', post: '4', vote: '5', session: '6' }
export const time = (share: number) => new Date(START + Math.floor(share * YEARS)).toISOString()

export const WORDS =
  'dark mode export search slow login mobile sync offline report chart print share team invite colour theme keyboard filter sort archive'.split(
    ' ',
  )
const COLORS = ['c2410c', '15803d', '1d4ed8', '6d28d9']

function* users(size: Size): Generator<Row> {
  for (let n = 0; n < size.users; n++) {
    const createdAt = time(n / size.users)
    yield { userId: id('user', n), name: `Person ${n}`, username: `person_${n}`, email: `person${n}@example.org`, password: '!', avatar: '', isVerified: 1, isOwner: 0, isBlocked: 0, searchText: `person ${n}\nperson_${n}\nperson${n}@example.org`, createdAt, updatedAt: createdAt } // prettier-ignore
  }
}

function* uses(size: Size): Generator<Row> {
  for (let n = 0; n < size.users; n++)
    yield { userId: id('user', n), usedAt: time(((n * 7919) % size.users) / size.users) }
}

function* sessions(size: Size): Generator<Row> {
  for (let n = 0; n < size.users; n++)
    yield { sessionId: id('session', n), userId: id('user', n), userAgent: '', createdAt: time(1), expiresAt: '9999' }
}

function* boards(size: Size): Generator<Row> {
  for (let n = 0; n < size.boards; n++) {
    const createdAt = time(n / size.boards)
    yield { boardId: id('board', n), name: `Board ${n}`, nameFolded: `board ${n}`, url: `board-${n}`, color: COLORS[n % 4], display: isPrivate(n) ? 0 : 1, view_voters: 1, post_count: 0, createdAt, updatedAt: createdAt } // prettier-ignore
  }
}

const isPrivate = (board: number) => board % 10 === 9

function* roadmaps(size: Size): Generator<Row> {
  for (let n = 0; n < size.roadmaps; n++)
    yield { id: id('roadmap', n), name: `Roadmap ${n}`, nameFolded: `roadmap ${n}`, url: `roadmap-${n}`, index: n + 1, color: COLORS[n % 4], display: 1, created_at: time(0), updated_at: time(0) } // prettier-ignore
}

/**
 * So many of the newest posts share one vote of each person: a list of the newest shows votes, and to some their own.
 */
const FRESH = 40

/**
 * Person by person and post by post, which is the order of the largest index; some posts are much more liked than
 * others.
 */
function* votes(size: Size, counts: Int32Array): Generator<Row> {
  const next = seededRandom(5)
  const each = Math.ceil(size.votes / size.users)
  for (let user = 0, made = 0; user < size.users; user++) {
    const liked = new Set(size.posts > 0 ? [size.posts - 1 - (user % Math.min(FRESH, size.posts))] : [])
    for (let tries = 0; liked.size < each && tries < each * 4; tries++) liked.add(Math.floor(next() ** 2 * size.posts))
    for (const post of [...liked].toSorted((a, b) => a - b)) {
      if (made === size.votes) return
      counts[post] = (counts[post] ?? 0) + 1
      yield { voteId: id('vote', made++), userId: id('user', user), postId: id('post', post), createdAt: time(next()) }
    }
  }
}

function* posts(size: Size, counts: Int32Array): Generator<Row> {
  const next = seededRandom(7)
  const word = () => WORDS[Math.floor(next() * WORDS.length)]
  for (let n = 0; n < size.posts; n++) {
    const board = next() < 0.05 ? undefined : Math.floor(next() ** 2 * size.boards)
    const createdAt = time(n / size.posts)
    const slugId = n.toString(36).padStart(20, '0')
    const title = `${word()} ${word()} ${word()}`
    yield {
      postId: id('post', n),
      number: n + 1,
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

/** The full-text index: its key is another column on each engine. */
function* search(size: Size, counts: Int32Array, key: 'rowid' | 'number'): Generator<Row> {
  const tokensOf = key === 'rowid' ? indexTokensWithBeginnings : indexTokens
  for (const { number, title, contentMarkdown } of posts(size, counts))
    yield { [key]: number, words: tokensOf(`${contentMarkdown}`, `${title}`).join(' ') }
}
