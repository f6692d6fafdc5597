import { sql } from 'kysely'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { groupedBy } from '../../../src/core/grouped.js'
import { seededRandom } from '../../../src/core/random.js'
import { searchWords } from '../../../src/core/search/words.js'
import { connect, isPostgres } from '../../../src/db/connect.js'
import { endMerges, mergePost, unmergePost } from '../../../src/db/merges.js'
import { migrate } from '../../../src/db/migrate.js'
import { tokensOf } from '../../../src/db/search.js'
import type { Db } from '../../../src/db/tables.js'
import { findSimilar } from '../../../src/service/lib/similar.js'
import type { Bench, Case, Row } from '../cases.js'
import { id, tablesOf } from '../rows.js'
import { openTarget } from '../target.js'

interface Issue {
  number: number
  title: string
}
interface Pair {
  language: string
  repository: string
  duplicate: Issue
  of: Issue
  half: 'building' | 'end'
}
interface Labelled {
  pairs: Pair[]
  others: (Issue & { repository: string })[]
}

const read = () =>
  JSON.parse(readFileSync(path.join(import.meta.dirname, '../duplicates/pairs.json'), 'utf8')) as Labelled

/** Similar posts: how many duplicates are found, and how long it takes on a large site. */
export const similar = (): Case[] => [recall(), recallAmongMany(), speed('SQLite'), speed('PostgreSQL')]

const FOUND = 5
const FILTER = { boards: [], roadmaps: undefined, author: undefined, hidden: false } as const

/** Makes a site with these titles, posts 1, 2, 3 and so on. */
async function fill(url: string, titles: readonly string[], text: (n: number) => string): Promise<Db> {
  const db = await connect(url)
  await migrate(db)
  const target = await openTarget(url, isPostgres(url))
  await target.unhook()
  const key = isPostgres(url) ? 'number' : 'rowid'
  const tables = tablesOf({ users: 10, boards: 0, roadmaps: 0, posts: titles.length, votes: 0 }, key)
  const mapped = function* (rows: Iterable<Record<string, unknown>>, change: (n: number) => object) {
    let n = 0
    for (const row of rows) yield { ...row, ...change(n++) } as Parameters<typeof target.insert>[1] extends Iterable<infer Each> ? Each : never // prettier-ignore
  }
  const titleOf = (n: number) => titles[n] ?? ''
  await target.insert('users', tables.users ?? [])
  await target.insert('posts', mapped(tables.posts ?? [], (n) => ({ title: titleOf(n), contentMarkdown: text(n), boardId: null, display: 1 }))) // prettier-ignore
  await target.insert('post_search', mapped(tables.post_search ?? [], (n) => ({ words: tokensOf(db, text(n), titleOf(n)).join(' ') }))) // prettier-ignore
  await target.hook()
  await target.close()
  return db
}

async function inFolder<Result>(run: (url: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(path.join(tmpdir(), 'feedbackctl-similar-'))
  try {
    return await run(`sqlite:${path.join(folder, 'site.db')}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Whether the first is it, and whether it is among the first five. */
interface Hit {
  pair: Pair
  first: boolean
  five: boolean
}
const hitOf = (pair: Pair, found: readonly string[]): Hit => ({
  pair,
  first: found[0] === pair.of.title,
  five: found.slice(0, FOUND).includes(pair.of.title),
})

const share = (hits: readonly Hit[], of: 'first' | 'five') =>
  (100 * hits.filter((hit) => hit[of]).length) / (hits.length || 1)

const recall = (): Case => {
  const name = 'similar posts, labelled duplicates'
  return {
    name,
    run: () =>
      inFolder(async (url) => {
        const { pairs, others } = read()
        const originals = [...new Set(pairs.map(({ of }) => of.title))]
        const duplicates = pairs.map(({ duplicate }) => duplicate.title)
        const rest = others.map(({ title }) => title).filter((title) => !originals.includes(title) && !duplicates.includes(title)) // prettier-ignore
        const titles = shuffled([...originals, ...new Set(rest)])
        const db = await fill(url, titles, () => '')
        try {
          const foundBy = async (title: string, except?: string) =>
            (await findSimilar(db, FILTER, { title, except, limit: FOUND }, { hidden: false })).found.map(({ post }) => post.title) // prettier-ignore
          const plain: Hit[] = []
          const typed: Hit[] = []
          for (const pair of pairs) {
            plain.push(hitOf(pair, await foundBy(pair.duplicate.title)))
            typed.push(hitOf(pair, await foundBy(halfOf(pair.duplicate.title))))
          }
          const words = pairs.map((pair) => hitOf(pair, byWords(titles, pair.duplicate.title)))
          const remembered = await withMerges(db, pairs, titles, foundBy)
          return [
            ...rows('all', plain, words, { five: 80, first: 45 }),
            ...rows('of the half looked at while building', halfwise(plain, 'building'), halfwise(words, 'building')),
            ...rows('of the half measured only', halfwise(plain, 'end'), halfwise(words, 'end')),
            ...[...new Set(pairs.map(({ language }) => language))].flatMap((language) =>
              rows(language, of(plain, language), of(words, language)),
            ),
            ...rows('half of each title typed', typed, []),
            ...rows('with other duplicates merged before', remembered, [], { five: 88, first: 65 }),
          ]
        } finally {
          await db.destroy()
        }
      }),
  }

  function rows(what: string, hits: Hit[], words: Hit[], goals?: { five: number; first: number }): Row[] {
    return (['five', 'first'] as const).map((each) => ({
      name: `similar posts, duplicates found ${each === 'five' ? 'among five' : 'first'}: ${what}`,
      result: { value: share(hits, each), unit: '%', ...(goals && { goal: { least: goals[each] } }) },
      note: `${hits.length} pairs${words.length > 0 ? `; by words alone ${share(words, each).toFixed(1)} %` : ''}`,
    }))
  }
}

/** Whether old duplicates are found on a large site, whose other titles are made of the same words. */
const recallAmongMany = (): Case => {
  const name = `similar posts, labelled duplicates among ${POSTS.toLocaleString('en')} posts`
  return {
    name,
    long: true,
    run: () =>
      inFolder(async (url) => {
        const { pairs } = read()
        const originals = [...new Set(pairs.map(({ of }) => of.title))]
        const titles = shuffled([...originals, ...mixedTitles(POSTS - originals.length)])
        const db = await fill(url, titles, () => '')
        try {
          const hits: Hit[] = []
          for (const pair of pairs) {
            const { found } = await findSimilar(db, FILTER, { title: pair.duplicate.title, limit: FOUND }, { hidden: false }) // prettier-ignore
            hits.push(hitOf(pair, found.map(({ post }) => post.title))) // prettier-ignore
          }
          return (['five', 'first'] as const).map((each) => ({
            name: `${name}: ${each === 'five' ? 'among five' : 'first'}`,
            result: { value: share(hits, each), unit: '%' },
          }))
        } finally {
          await db.destroy()
        }
      }),
  }
}

/** Titles of random words of the labelled ones, each of the titles of one repository, or of one script without spaces. */
function mixedTitles(count: number): string[] {
  const { pairs, others } = read()
  const known = [...others, ...pairs.flatMap(({ repository, duplicate, of: original }) => [duplicate, original].map(({ title }) => ({ repository, title })))] // prettier-ignore
  const split = known.map(({ repository, title }) => {
    const script = /[\u3040-\u30ff]/.test(title) ? 'Japanese' : /\p{Script=Han}/u.test(title) ? 'Chinese' : undefined
    return { group: script ?? repository, words: script ? (title.match(/.{1,3}/gsu) ?? []) : title.split(/\s+/) }
  })
  const groups = groupedBy(split, ({ group }) => group)
  const next = seededRandom(5)
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(next() * items.length)]
  return Array.from({ length: count }, () => {
    const like = pick(split)
    return (like?.words ?? []).map(() => pick(pick(groups.get(like?.group ?? '') ?? [])?.words ?? [])).join(' ')
  })
}

const of = (hits: Hit[], language: string) => hits.filter(({ pair }) => pair.language === language)
const halfwise = (hits: Hit[], half: Pair['half']) => hits.filter(({ pair }) => pair.half === half)
const halfOf = (title: string) => {
  const signs = Array.from(title)
  return signs.slice(0, Math.ceil(signs.length / 2)).join('')
}

/** Of titles that are equally alike, neither originals nor others come first. */
function shuffled(titles: readonly string[]): string[] {
  const next = seededRandom(17)
  return titles
    .map((title) => ({ title, at: next() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ title }) => title)
}

/** The reference: titles with the most of the same words. */
function byWords(titles: readonly string[], title: string): string[] {
  const wanted = new Set(searchWords(title))
  return titles
    .map((each) => ({ each, shared: searchWords(each).filter((word) => wanted.has(word)).length }))
    .toSorted((one, other) => other.shared - one.shared)
    .map(({ each }) => each)
}

/** Of originals with several duplicates: each duplicate is looked for after the others were merged. */
async function withMerges(
  db: Db,
  pairs: readonly Pair[],
  titles: readonly string[],
  foundBy: (title: string, except?: string) => Promise<string[]>,
): Promise<Hit[]> {
  const hits: Hit[] = []
  const several = pairs.filter((pair) => pairs.some((each) => each !== pair && each.of.title === pair.of.title))
  const numbers = new Map<string, number>()
  for (const pair of several) {
    const postId = id('post', titles.length + numbers.size)
    await insert(db, postId, titles.length + numbers.size + 1, pair.duplicate.title)
    numbers.set(pair.duplicate.title, titles.length + numbers.size)
  }
  const rootOf = (pair: Pair) => id('post', titles.indexOf(pair.of.title))
  const idOf = (pair: Pair) => id('post', numbers.get(pair.duplicate.title) ?? 0)
  const merge = async (pair: Pair) => {
    await mergePost(db, { postId: idOf(pair), intoId: rootOf(pair), at: '2026-01-01T00:00:00.000Z', by: null })
    await endMerges(db, rootOf(pair))
  }
  for (const pair of several) await merge(pair)
  for (const pair of several) {
    const merged = await db.selectFrom('merges').selectAll().where('postId', '=', idOf(pair)).executeTakeFirstOrThrow()
    await unmergePost(db, merged)
    hits.push(hitOf(pair, await foundBy(pair.duplicate.title, idOf(pair))))
    await merge(pair)
  }
  return hits
}

async function insert(db: Db, postId: string, number: number, title: string): Promise<void> {
  const at = '2026-01-01T00:00:00.000Z'
  await db.insertInto('posts').values({ postId, number, title, slug: `s-${number}`, slugId: `${number}`.padStart(20, '0'), contentMarkdown: '', userId: id('user', 0), boardId: null, roadmap_id: null, display: 1, createdAt: at, updatedAt: at }).execute() // prettier-ignore
  const { indexPost } = await import('../../../src/db/search.js')
  await indexPost(db, { postId, title, contentMarkdown: '' })
}

const POSTS = 100_000
const QUERIES = 500

/** Titles of a large site: halves of the labelled ones, joined anew. */
function manyTitles(count: number): string[] {
  const { pairs, others } = read()
  const known = [...pairs.flatMap(({ duplicate, of: original }) => [duplicate.title, original.title]), ...others.map(({ title }) => title)] // prettier-ignore
  const next = seededRandom(11)
  const pick = () => Array.from(known[Math.floor(next() * known.length)] ?? '')
  return Array.from({ length: count }, () => {
    const [one, other] = [pick(), pick()]
    return [...one.slice(0, Math.ceil(one.length / 2)), ' ', ...other.slice(Math.floor(other.length / 2))].join('')
  })
}

const speed = (engine: 'SQLite' | 'PostgreSQL'): Case => {
  const name = `similar posts, ${POSTS.toLocaleString('en')} posts, ${engine}`
  return {
    name,
    long: true,
    async run({ postgres }) {
      const titles = manyTitles(POSTS)
      const measure = async (url: string): Promise<Row[]> => {
        const db = await fill(url, titles, (n) => titles.slice((n * 7) % (POSTS - 3)).slice(0, 3).join('. ')) // prettier-ignore
        try {
          // As a site has it after a while; entries that wait for the index would be read one by one
          if (engine === 'PostgreSQL') await sql`vacuum analyze`.execute(db)
          const times: number[] = []
          const next = seededRandom(13)
          for (let n = 0; n < QUERIES * 2; n++) {
            const asked = titles[Math.floor(next() * POSTS)] ?? ''
            const title = n % 4 === 0 ? halfOf(asked) : n % 4 === 1 ? asked.slice(0, 7) + asked.slice(8) : asked
            const began = performance.now()
            await findSimilar(db, FILTER, { title, limit: FOUND }, { hidden: false })
            if (n >= QUERIES) times.push(performance.now() - began)
          }
          times.sort((one, other) => one - other)
          const at = (quantile: number) => times[Math.floor(times.length * quantile)] ?? Number.NaN
          const note = `p50 ${at(0.5).toFixed(1)} ms, slowest ${at(0.9999).toFixed(1)} ms`
          return [{ name: `${name}: p99`, result: { value: at(0.99), unit: 'ms', goal: { below: 15 } }, note }]
        } finally {
          await db.destroy()
        }
      }
      return engine === 'SQLite' ? inFolder(measure) : onPostgres(postgres, measure)
    },
  }
}

async function onPostgres<Result>(postgres: Bench['postgres'], run: (url: string) => Promise<Result>): Promise<Result> {
  const { url, remove } = await (await postgres()).copyOf()
  try {
    return await run(url)
  } finally {
    await remove()
  }
}
