import { sql, type CompiledQuery } from 'kysely'
import { describe, expect, it } from 'vitest'
import { visitor, type Actor } from '../../src/service/lib/access.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import { operations } from '../../src/service/index.js'
import type { AnyOperation } from '../../src/service/lib/operation.js'
import * as posts from '../../src/service/posts.js'
import { AppError } from '../../src/core/errors.js'
import { engines, makeSite, type TestSite } from '../support/site.js'

/** Tables that stay small on every site. */
const SMALL = ['settings', 'counters', 'roles', 'role_permissions', 'roadmaps']

/** Returns the statements that the work executes. */
async function statementsOf(site: TestSite, work: () => Promise<unknown>): Promise<CompiledQuery[]> {
  const executor = site.db.getExecutor()
  const original = executor.executeQuery
  const statements: CompiledQuery[] = []
  executor.executeQuery = (query) => {
    statements.push(query)
    return original.call(executor, query) as never // the same promise for any type of rows
  }
  try {
    await work()
  } finally {
    executor.executeQuery = original
  }
  return statements
}

interface Step {
  id: number
  parent: number
  detail: string
}

/** Faults of a plan: scans of whole tables, and sorts that an index could avoid. */
async function sqliteFaults(site: TestSite, query: CompiledQuery): Promise<string[]> {
  const { rows } = await site.db.executeQuery<Step>({ ...query, sql: `explain query plan ${query.sql}` })
  const inside = (step: Step) => rows.filter((other) => other.parent === step.parent && other !== step)
  const isSubquery = (name: string) =>
    rows.some(({ detail }) => new RegExp(`^(CO-ROUTINE|MATERIALIZE) ${name}$`).test(detail))
  return rows
    .filter((step) => {
      const scanned = /^SCAN (\S+)(?!.*USING (COVERING )?INDEX)/.exec(step.detail)?.[1]
      if (scanned !== undefined) return scanned !== 'CONSTANT' && !SMALL.includes(scanned) && !isSubquery(scanned)
      // Sorting the rows of a single page is fine.
      return (
        step.detail.startsWith('USE TEMP B-TREE FOR ORDER BY') &&
        !inside(step).some(({ detail }) => /^(CO-ROUTINE|MATERIALIZE|COMPOUND)/.test(detail))
      )
    })
    .map((step) => `${step.detail}: ${query.sql}`)
}

interface Node {
  'Node Type': string
  'Relation Name'?: string
  Plans?: Node[]
}

async function postgresFaults(site: TestSite, query: CompiledQuery): Promise<string[]> {
  const { rows } = await site.db.transaction().execute(async (db) => {
    // PostgreSQL prefers to scan small tables. This shows whether it could use an index.
    for (const method of ['seqscan', 'bitmapscan', 'sort', 'hashjoin', 'mergejoin'])
      await sql.raw(`set local enable_${method} = off`).execute(db)
    return db.executeQuery<{ 'QUERY PLAN': { Plan: Node }[] }>({ ...query, sql: `explain (format json) ${query.sql}` })
  })
  const faults: string[] = []
  const isLimited = (node: Node): boolean => node['Node Type'] === 'Limit' || (node.Plans ?? []).some(isLimited)
  const walk = (node: Node) => {
    const table = node['Relation Name'] ?? ''
    if (node['Node Type'] === 'Seq Scan' && !SMALL.includes(table)) faults.push(`Seq Scan on ${table}: ${query.sql}`)
    if (/Sort/.test(node['Node Type']) && !isLimited(node)) faults.push(`${node['Node Type']}: ${query.sql}`)
    node.Plans?.forEach(walk)
  }
  for (const row of rows) for (const { Plan } of row['QUERY PLAN']) walk(Plan)
  return faults
}

async function filled(engine: (typeof engines)[number]) {
  const site = await makeSite(engine)
  const owner = await site.owner()
  for (const name of ['Ideas', 'Bugs', 'Plans']) await site.call(boards.create, { name, display: name !== 'Plans' })
  const created = []
  for (let number = 0; number < 12; number++)
    created.push(
      (
        await site.call(posts.create, {
          title: `Post ${number}`,
          boardId: ['ideas', 'bugs', 'plans'][number % 4] ?? null,
        })
      ).post,
    )
  const [post] = created
  await site.db
    .insertInto('roadmaps')
    .values({
      id: '01900003-0000-7000-8000-000000000001',
      name: 'Soon',
      nameFolded: 'soon',
      url: 'soon',
      index: 1,
      color: 'aaaaaa',
      display: 1,
      created_at: '',
      updated_at: '',
    })
    .execute()
  await site.call(posts.update, { id: post!.postId, roadmapId: 'soon', partial: true })
  const { activity } = await site.call(comments.create, { post_id: post!.postId, body: 'x' })
  return { site, owner, post: post!, comment: activity.id }
}

describe.each(engines)('plans on %s', (engine) => {
  const faults = engine === 'sqlite' ? sqliteFaults : postgresFaults

  it('lists of posts use an index and do not sort, with any order and filter', async () => {
    const { site, post } = await filled(engine)
    const guest: Actor = { ...visitor(new AppError('INVALID_AUTH_HEADER', '')), userId: post.userId }
    const filters = [
      {},
      { boardId: ['ideas'] },
      { boardId: ['ideas', 'bugs'] },
      { roadmapId: 'soon' },
      { boardId: ['ideas'], roadmapId: 'soon' },
    ]
    const found: string[] = []
    for (const call of [site.call, site.callAs(guest)])
      for (const filter of filters)
        for (const sort of ['newest', 'oldest', 'votes'])
          for (const page of [{}, { page: 2, limit: 2 }, { after: post.postId, limit: 2 }]) {
            const queries = await statementsOf(site, () => call(posts.list, { ...filter, sort, ...page }))
            for (const query of queries) found.push(...(await faults(site, query)))
          }
    for (const call of [site.call, site.callAs(guest)])
      for (const query of await statementsOf(site, () => call(posts.search, { title: 'post' })))
        found.push(...(await faults(site, query)))
    expect([...new Set(found)]).toEqual([])
  })

  it('all other reads use an index and do not sort', async () => {
    const { site, owner, post, comment } = await filled(engine)
    const paths: Record<string, string> = {
      post_id: post.postId,
      comment_id: comment,
      url: 'ideas',
      name: 'ide',
      user: 'ada@example.org',
    }
    const reads = operations.filter((op) => op.http.startsWith('GET') || op.id === 'posts.show')
    expect(reads.length).toBeGreaterThan(7)
    const found: string[] = []
    for (const op of reads) {
      for (const input of inputsOf(op)) {
        const [method, path] = op.http.split(' ') as [string, string]
        const url = path.replaceAll(/:(\w+)/g, (_, name: string) => paths[name] ?? 'x')
        const query = new URLSearchParams(input).toString()
        const queries = await statementsOf(site, async () => {
          const { status } = await site.http(method === 'GET' ? `GET ${url}?${query}` : `${method} ${url}`, { token: owner, ...(method !== 'GET' && { body: { id: post.postId } }) }) // prettier-ignore
          expect([op.id, [200, 404]]).toEqual([op.id, expect.arrayContaining([status])])
        })
        for (const each of queries)
          if (/^\s*select/i.test(each.sql))
            found.push(...(await faults(site, each)).map((fault) => `${op.id}: ${fault}`))
      }
    }
    expect([...new Set(found)]).toEqual([])
  })

  it('a scan of a table and a sort are detected', async () => {
    const { site } = await filled(engine)
    const [whole] = await statementsOf(site, () =>
      site.db.selectFrom('posts').selectAll().where('title', '=', 'x').execute(),
    )
    const [sorted] = await statementsOf(site, () =>
      site.db.selectFrom('posts').selectAll().orderBy('title').limit(3).execute(),
    )
    for (const query of [whole, sorted]) expect(await faults(site, query!)).not.toEqual([])
  })
})

/** Inputs of a read: none, and for a list both directions and a page number. */
function inputsOf({ input: { properties } }: AnyOperation): Record<string, string>[] {
  const inputs: Record<string, string>[] = [{}]
  if ('created' in properties) inputs.push({ created: 'asc' }, { created: 'desc' })
  if ('page' in properties) inputs.push({ page: '2', limit: '1' })
  return inputs
}

it('a list of boards reads the index of each board on sqlite, not that of all public posts', async () => {
  const { site } = await filled('sqlite')
  const all = await site.call(boards.list, {})
  const statements = await statementsOf(site, async () => {
    for (const sort of ['newest', 'votes'] as const)
      await site.callAs(visitor(new AppError('INVALID_AUTH_HEADER', 'A visitor.')))(posts.list, {
        sort,
        boardId: all.boards.map(({ boardId }) => boardId),
      })
  })
  const plans = await Promise.all(
    statements
      .filter(({ sql: text }) => text.includes('as part'))
      .map((query) => site.db.executeQuery<Step>({ ...query, sql: `explain query plan ${query.sql}` })),
  )
  const used = plans.flatMap(({ rows }) => rows.flatMap(({ detail }) => /posts_by_\w+/.exec(detail)?.[0] ?? []))
  expect(new Set(used)).toEqual(new Set(['posts_by_age_of_board', 'posts_by_votes_of_board']))
})
