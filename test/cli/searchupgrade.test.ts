import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import { indexTokens } from '../../src/core/search/words.js'
import { connect } from '../../src/db/connect.js'
import { makeOlder } from '../support/backups.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { engines, type Engine } from '../support/site.js'

const BEFORE = '0081_spam_counts'
const AT = '2026-03-02T10:00:00.000Z'

const POSTS = [
  ['Exported settings', 'A wombat, to begin with'],
  ['ダークモードを追加', ''],
  ['To do', "Don't forget the quokka"],
  ['어두운다크모드', 'Einstellungen'],
  ['Gone', 'A dingo'],
] as const
const COMMENTS = [
  [0, 'An echidna.'],
  [2, 'Two numbats'],
  [3, 'A dingo'],
  [0, '👍'], // it has no words
] as const

/** Queries with the posts that they find. */
const FOUND: readonly (readonly [string, readonly number[]])[] = [
  ['ex', [1]],
  ['exp', [1]],
  ['exporting', [1]],
  ['to', [3, 1]],
  ['do', [3]],
  ['wo', [1]],
  ['wom', [1]],
  ['モード', [2]],
  ['モ', [2]],
  ['dont', [3]],
  ['qu', [3]],
  ['다크', [4]],
  ['einstellung', [4]],
  ['ec', [1]],
  ['echidnas', [1]],
  ['nu', [3]],
  ['dingo', [4]],
  ['zz', []],
]

/** What a program of the version before has written. Returns the ids of the comments. */
async function fill({ databaseUrl }: Machine, engine: Engine): Promise<string[]> {
  const db = await connect(databaseUrl)
  const [key, words] = engine === 'postgres' ? ['number', (all: string[]) => sql`array_to_tsvector(${all}::text[])`] as const : ['rowid', (all: string[]) => sql`${all.join(' ')}`] as const // prettier-ignore
  const index = (table: string, number: number, all: string[]) =>
    sql`insert into ${sql.table(table)} (${sql.ref(key)}, words) values (${number}, ${words(all)})`.execute(db)
  const ids = POSTS.map(() => newId())
  for (const [at, [title, text]] of POSTS.entries()) {
    const postId = ids[at] ?? ''
    await db.insertInto('posts').values({ postId, number: at + 1, title, slug: `s-${at}`, slugId: `${at}`, contentMarkdown: text, userId: null, boardId: null, roadmap_id: null, display: 1, createdAt: AT, updatedAt: AT }).execute() // prettier-ignore
    await index('post_search', at + 1, indexTokens(text, title))
  }
  const written = COMMENTS.map(() => newId())
  for (const [at, [post, body]] of COMMENTS.entries()) {
    const id = written[at] ?? ''
    await sql`insert into comments (id, post_id, body, is_internal, created_at, updated_at) values (${id}, ${ids[post]}, ${body}, 0, ${AT}, ${AT})`.execute(db) // prettier-ignore
    await sql`insert into indexed_comments (number, comment_id) values (${(at + 1) * 10}, ${id})`.execute(db)
    await index('comment_search', (at + 1) * 10, indexTokens(body))
  }
  await sql`delete from posts where number = ${POSTS.length}`.execute(db)
  await sql`delete from post_search where ${sql.ref(key)} = ${POSTS.length}`.execute(db)
  await db.destroy()
  return written
}

describe.each(engines)('the search index of an earlier version on %s', (engine) => {
  it('finds all that it found, and what is written since', async () => {
    const machine = await makeMachine(engine)
    await makeOlder(machine, BEFORE, 'Moonbase')
    const [echidna] = await fill(machine, engine)
    expect(await machine.run('migrate --no-backup')).toMatchObject({ code: 0 })
    const found = async (query: string) => {
      const { stdout } = await machine.run(`search ${query} --json`)
      return (JSON.parse(stdout) as { hits: { post: { number: number } }[] }).hits.map(({ post }) => post.number)
    }
    const sorted = (numbers: readonly number[]) => numbers.toSorted((one, other) => one - other)
    for (const [query, numbers] of FOUND) expect([query, sorted(await found(query))]).toEqual([query, sorted(numbers)])
    expect(await machine.run('doctor search')).toMatchObject({ code: 0, stdout: expect.stringContaining('Search finds all posts and comments.') }) // prettier-ignore
    await machine.setup()
    for (const command of ['comments create 2 --body Kookaburra', `comments update ${echidna} --body Lorikeet`])
      expect(await machine.run(command)).toMatchObject({ code: 0 })
    expect([await found('ko'), await found('lo'), await found('echidna')]).toEqual([[2], [1], []])
    expect(await machine.run(`comments delete ${echidna} --yes`)).toMatchObject({ code: 0 })
    expect([await found('lorikeet'), await found('kookaburra')]).toEqual([[], [2]])
  })
})
