import { sql, type CompiledQuery, type QueryExecutor } from 'kysely'
import pg from 'pg'
import { describe, expect, it, vi } from 'vitest'
import { transaction } from '../../src/db/connect.js'
import { deleteImage, deleteUnused, deleteUnusedOf, imageData, imagesBefore, isShownToAll, recordUses, usesOf } from '../../src/db/images.js' // prettier-ignore
import { notesOf } from '../../src/db/moderation.js'
import { COUNTED_AS_SPAM } from '../../src/core/hidden.js'
import { newId } from '../../src/core/ids.js'
import { migrations } from '../../src/db/migrations/index.js'
import { countPosts } from '../../src/db/posts/count.js'
import { coverOf } from '../../src/db/posts/covered.js'
import { postFacets } from '../../src/db/posts/facets.js'
import type { PostFilter } from '../../src/db/posts/filter.js'
import { SORTS } from '../../src/db/posts/order.js'
import { MOST_FOUND } from '../../src/db/posts/read.js'
import { miscounts } from '../../src/db/recount.js'
import { userList, USER_SORTS, type UserFilter } from '../../src/db/userlists.js'
import { queueMail } from '../../src/delivery/mail.js'
import { operator, visitor, type Actor } from '../../src/service/lib/access.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import { operations } from '../../src/service/index.js'
import type { AnyOperation } from '../../src/service/lib/operation.js'
import * as names from '../../src/service/names.js'
import { NAMED_NOUNS } from '../../src/core/nouns.js'
import * as mailqueue from '../../src/service/mailqueue.js'
import { facets } from '../../src/service/postfacets.js'
import * as posts from '../../src/service/posts.js'
import { EVERYONE } from '../../src/core/permissions.js'
import { AppError } from '../../src/core/errors.js'
import { find } from '../../src/service/search.js'
import * as votes from '../../src/service/votes.js'
import { storeImage } from '../support/images.js'
import { engines, makeSite, type TestSite } from '../support/site.js'

/** Somebody who may vote, comment and post. */
const WRITER = {
  ...visitor(new AppError('INVALID_AUTH_HEADER', '')),
  refusal: null,
  permissions: new Set(EVERYONE),
  expiresAt: Infinity,
}

/** Tables that stay small on every site. SQLite's own has a row for each table with counted ids. */
const SMALL = ['sqlite_sequence', 'settings', 'counters', 'roles', 'role_permissions', 'roadmaps', 'tags', 'servers']

/** Returns the statements that the work executes. Transactions have another executor, and requests each one of their own. */
async function statementsOf(site: TestSite, work: () => Promise<unknown>): Promise<CompiledQuery[]> {
  const statements = new Set<CompiledQuery>()
  const inTransactions = await site.db
    .transaction()
    .execute(async (tx) => Object.getPrototypeOf(tx.getExecutor()) as QueryExecutor)
  const outside = Object.getPrototypeOf(site.db.getExecutor()) as QueryExecutor
  const spies = [...new Set([outside, inTransactions])].map((executor) => {
    const original = executor.executeQuery
    return vi.spyOn(executor, 'executeQuery').mockImplementation(function (this: QueryExecutor, query) {
      statements.add(query)
      return original.call(this, query)
    })
  })
  try {
    await work()
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
  expect(statements.size).toBeGreaterThan(0)
  return [...statements]
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
      // A full-text index shows as a virtual table, with M for a match, of one number after =
      const scanned = /^SCAN (\S+)(?!.*(USING (COVERING )?INDEX|VIRTUAL TABLE INDEX \d+:=?M))/.exec(step.detail)?.[1]
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
  /** Of a scan of a common table expression, whose plan is elsewhere: `CTE` and this name. */
  'CTE Name'?: string
  'Subplan Name'?: string
  Plans?: Node[]
}

/** PostgreSQL prefers to scan small tables. Without these methods a plan shows whether it could use an index. */
const METHODS = ['seqscan', 'bitmapscan', 'sort', 'hashjoin', 'mergejoin']

/** A query by `rarely` has only the full-text index, which has no order. */
const isByWords = (text: string) => text.includes('::tsquery)')
const withoutMethods = (text: string) => METHODS.filter((method) => method !== 'bitmapscan' || !isByWords(text))
const isSortOfWords = (node: Node) =>
  node.Plans?.every((plan) => plan['Node Type'] === 'Bitmap Heap Scan' && plan['Relation Name'] === 'post_search') ===
  true

/** Faults of the plan for these very values, and of the generic plan, which a prepared statement may get later. */
async function postgresFaults(site: TestSite, query: CompiledQuery): Promise<string[]> {
  const { rows } = await site.db.transaction().execute(async (db) => {
    for (const method of withoutMethods(query.sql)) await sql.raw(`set local enable_${method} = off`).execute(db)
    return db.executeQuery<Explained>({ ...query, sql: `explain (format json) ${query.sql}` })
  })
  return [
    ...faultsOf(rows, query.sql),
    ...(await genericFaults(site, query.sql)).map((fault) => `generic plan: ${fault}`),
  ]
}

/** By the text of a statement, as its generic plan does not depend on values. */
const generic = new Map<string, Promise<string[]>>()

function genericFaults(site: TestSite, text: string): Promise<string[]> {
  let faults = generic.get(text)
  if (!faults) generic.set(text, (faults = explainGeneric(site, text)))
  return faults
}

async function explainGeneric(site: TestSite, text: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: site.databaseUrl })
  await client.connect()
  try {
    for (const method of withoutMethods(text)) await client.query(`set enable_${method} = off`)
    return faultsOf((await client.query<Explained>(`explain (generic_plan, format json) ${text}`)).rows, text)
  } finally {
    await client.end()
  }
}

interface Explained {
  'QUERY PLAN': { Plan: Node }[]
}

function faultsOf(rows: readonly Explained[], text: string): string[] {
  const faults: string[] = []
  const expressions = new Map<string, Node>()
  const collect = (node: Node) => {
    expressions.set(node['Subplan Name'] ?? '', node)
    node.Plans?.forEach(collect)
  }
  for (const row of rows) for (const { Plan } of row['QUERY PLAN']) collect(Plan)
  const isLimited = (node: Node): boolean => {
    const expression = expressions.get(`CTE ${node['CTE Name']}`)
    return node['Node Type'] === 'Limit' || [...(node.Plans ?? []), ...(expression ? [expression] : [])].some(isLimited)
  }
  const walk = (node: Node) => {
    const table = node['Relation Name'] ?? ''
    if (node['Node Type'] === 'Seq Scan' && !SMALL.includes(table)) faults.push(`Seq Scan on ${table}: ${text}`)
    if (/Sort/.test(node['Node Type']) && !isLimited(node) && !(isByWords(text) && isSortOfWords(node)))
      faults.push(`${node['Node Type']}: ${text}`)
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
  await site.call(posts.update, { id: post!.postId, roadmapId: 'soon', pinned: true, partial: true })
  const { activity } = await site.call(comments.create, { post_id: post!.postId, body: 'x' })
  return { site, owner, post: post!, comment: activity.id }
}

// Each asks for hundreds of plans: on a slow machine beside a load, that takes four minutes.
describe.each(engines)('plans on %s', { timeout: 600_000 }, (engine) => {
  const faults = engine === 'sqlite' ? sqliteFaults : postgresFaults

  it('lists of posts use an index and do not sort, with any order and filter', async () => {
    const { site, post } = await filled(engine)
    const guest: Actor = { ...visitor(new AppError('INVALID_AUTH_HEADER', '')), userId: post.userId, refusal: null }
    const filters = [
      {},
      { boardId: ['ideas'] },
      { boardId: ['ideas', 'bugs'] },
      { roadmapId: 'soon' },
      { boardId: ['ideas'], roadmapId: 'soon' },
      { boardId: ['none', 'ideas'] },
      { query: 'post' },
      { boardId: ['ideas'], roadmapId: 'soon', query: 'post 0' },
      { voted: true },
      { voted: true, boardId: ['ideas'], query: 'post' },
      { following: true },
      { pinned: true },
      { pinned: true, boardId: ['ideas'] },
      { statusKind: ['open' as const] },
      { statusKind: ['open' as const], boardId: ['ideas'] },
    ]
    const found: string[] = []
    const ofTeam = [{ roadmapIds: ['none', 'soon'] }, { roadmapIds: ['none', 'soon'], boardId: ['none', 'ideas'] }]
    for (const call of [site.call, site.callAs(guest)])
      for (const filter of call === site.call ? [...filters, ...ofTeam] : filters)
        for (const sort of SORTS)
          for (const page of [{}, { page: 2, limit: 2 }, { after: post.postId, limit: 2 }]) {
            const queries = await statementsOf(site, () => call(posts.list, { ...filter, sort, ...page }))
            for (const query of queries) found.push(...(await faults(site, query)))
          }
    for (const call of [site.call, site.callAs(guest)])
      for (const page of [{}, { page: 2, limit: 2 }, { after: post.postId, limit: 2 }])
        for (const query of await statementsOf(site, () =>
          call(posts.search, { words: 'post', boardId: ['ideas'], ...page }),
        ))
          // prettier-ignore
          found.push(...(await faults(site, query)))
    for (const call of [site.call, site.callAs(guest)])
      for (const asked of ['post -"other words"', 'oste', 'oste board:ideas'])
        for (const query of await statementsOf(site, () => call(find, { query: asked })))
          // Those for many spellings are made to sort what the index of words finds: see the last test
          if (!query.sql.includes('+ 0 desc')) found.push(...(await faults(site, query)))
    expect([...new Set(found)]).toEqual([])
  })

  it('lists of posts of a period read it from an index; another order sorts a limited number of them', async () => {
    const { site, post } = await filled(engine)
    const guest: Actor = { ...visitor(new AppError('INVALID_AUTH_HEADER', '')), userId: post.userId }
    const filters = [
      { since: '2026-01-01', until: '2099-01-01' },
      { boardId: ['ideas', 'bugs'], since: '2026-01-01' },
      { roadmapId: 'soon', until: '2099-01-01' },
      { authorId: post.userId ?? '', since: '2026-01-01' },
      { query: 'post', since: '2026-01-01' },
    ]
    const found: string[] = []
    for (const call of [site.call, site.callAs(guest)])
      for (const filter of filters)
        for (const sort of ['oldest', 'votes'] as const)
          for (const page of [
            { page: 2, limit: 2 },
            { after: post.postId, limit: 2 },
          ]) {
            const queries = await statementsOf(site, () => call(posts.list, { ...filter, sort, ...page }))
            for (const query of queries) found.push(...(await faults(site, query)))
          }
    for (const filter of [{ waiting: 1 }, { waiting: 1, boardId: ['none', 'ideas'] }])
      for (const sort of ['oldest', 'votes'] as const)
        for (const query of await statementsOf(site, () =>
          site.call(posts.list, { ...filter, sort, page: 2, limit: 2 }),
        ))
          // prettier-ignore
          found.push(...(await faults(site, query)))
    expect([...new Set(found)]).toEqual([])
  })

  it('lists of posts hidden as spam begin with the index that has only these, with any order', async () => {
    const { site, post } = await filled(engine)
    await site.db.updateTable('posts').set({ is_spam: 1, display: 0 }).where('postId', '=', post.postId).execute()
    const found: string[] = []
    const pages = [{}, { page: 2, limit: 2 }, { after: post.postId, limit: 2 }]
    const explain = engine === 'sqlite' ? 'explain query plan' : 'explain'
    let led = 0
    for (const filter of [{}, { boardId: ['ideas', 'none'] }])
      for (const sort of SORTS)
        for (const page of pages) {
          const list = () => site.call(posts.list, { ...filter, sort, spam: true, ...page })
          for (const query of await statementsOf(site, list)) {
            found.push(...(await faults(site, query)))
            if (!query.sql.includes('from posts where posts.is_spam = 1')) continue
            led++
            const { rows } = await site.db.executeQuery({ ...query, sql: `${explain} ${query.sql}` })
            if (!JSON.stringify(rows).includes('posts_spam')) found.push(`not by the index of spam: ${query.sql}`)
          }
        }
    for (const page of pages.slice(0, 2))
      for (const query of await statementsOf(site, () => site.call(posts.list, { query: 'post', spam: true, ...page })))
        found.push(...(await faults(site, query)))
    expect(led).toBeGreaterThan(20)
    expect([...new Set(found)]).toEqual([])
  })

  it('notes of the team on a post are counted by the index that has only these', async () => {
    const { site, post } = await filled(engine)
    const times = { created_at: '', updated_at: '' }
    const comment = { parent_id: null, author_id: null, body: 'x', is_internal: 0, ...times }
    const many = Array.from({ length: 500 }, (_, at) => ({ ...comment, id: `c${at}`, post_id: post.postId }))
    await site.db.insertInto('comments').values(many).execute()
    await sql.raw('analyze').execute(site.db)
    const [query] = await statementsOf(site, () => notesOf(site.db, [post.postId], 100))
    const explain = engine === 'sqlite' ? 'explain query plan' : 'explain'
    const { rows } = await site.db.executeQuery({ ...query!, sql: `${explain} ${query!.sql}` })
    expect(JSON.stringify(rows)).toContain('comments_notes')
    expect(await faults(site, query!)).toEqual([])
  })

  it('counts of posts by board and roadmap are read from counts that are kept, or of a limited number of posts', async () => {
    const { site, post } = await filled(engine)
    const guest: Actor = { ...visitor(new AppError('INVALID_AUTH_HEADER', '')), userId: post.userId, refusal: null }
    const filters = [
      {},
      { boardId: ['ideas', 'none'] },
      { roadmapIds: ['soon'] },
      { roadmapIds: ['soon'], boardId: ['ideas', 'bugs'] },
      { authorId: post.userId ?? '' },
      { since: '2026-01-01', boardId: ['ideas', 'bugs'] },
      { voted: true, roadmapIds: ['soon'] },
      { spam: true },
      { spam: true, roadmapIds: ['soon'] },
      { withoutSpam: true, boardId: ['ideas'] },
      { query: 'post', boardId: ['ideas'] },
    ]
    const found: string[] = []
    for (const call of [site.call, site.callAs(guest)])
      for (const filter of filters)
        for (const query of await statementsOf(site, () => call(facets, filter)))
          found.push(...(await faults(site, query)).map((fault) => `${JSON.stringify(filter)}: ${fault}`))
    expect([...new Set(found)]).toEqual([])
  })

  it('posts without spam are counted from counts that are kept, by place too, however much spam there is', async () => {
    const { site, post } = await filled(engine)
    const spam = { title: 't', contentMarkdown: null, userId: post.userId, boardId: post.boardId, roadmap_id: post.roadmap_id, is_spam: 1 as const, display: 0 as const, createdAt: '', updatedAt: '' } // prettier-ignore
    const many = Array.from({ length: MOST_FOUND + 1 }, (_, at) => ({ ...spam, postId: newId(), slug: `s${at}`, slugId: `s${at}` })) // prettier-ignore
    for (let at = 0; at < many.length; at += 50)
      await site.db.insertInto('posts').values(many.slice(at, at + 50)).execute() // prettier-ignore
    const everything: PostFilter = { boards: [], roadmaps: undefined, author: undefined, hidden: true, since: undefined, until: undefined } // prettier-ignore
    const whole = await countPosts(site.db, everything)
    const read = async <Found>(work: () => Promise<Found>) => {
      let found: Found | undefined
      const statements = await statementsOf(site, async () => void (found = await work()))
      expect(statements.map((query) => query.sql).filter((text) => /\b(from|join) "?posts\b/.test(text))).toEqual([])
      return found!
    }
    const without = { ...everything, withoutSpam: true as const }
    expect(await read(() => countPosts(site.db, without))).toEqual({
      total: whole.total - many.length,
      isCapped: false,
    })
    const sumOf = ({ posts }: { posts: ReadonlyMap<string | null, number> }) => [...posts.values()].reduce((sum, posts) => sum + posts, 0) // prettier-ignore
    for (const places of [{}, { boards: [post.boardId] }, { roadmaps: [post.roadmap_id] }]) {
      const [all, rest] = [await read(() => postFacets(site.db, { ...everything, ...places })), await read(() => postFacets(site.db, { ...without, ...places }))] // prettier-ignore
      for (const kind of ['boards', 'roadmaps'] as const)
        expect([kind, sumOf(all[kind]) - sumOf(rest[kind])]).toEqual([kind, many.length])
    }
    // An earlier version counted them with what only the team sees
    await sql`insert into post_counts (board, roadmap, display, value) select board, roadmap, 0, value from post_counts where display = ${COUNTED_AS_SPAM} on conflict (board, roadmap, display) do update set value = post_counts.value + excluded.value`.execute(
      site.db,
    )
    await sql`delete from post_counts where display = ${COUNTED_AS_SPAM}`.execute(site.db)
    expect(await miscounts(site.db)).not.toEqual([])
    await migrations['0081_spam_counts']!.up(site.db)
    expect(await miscounts(site.db)).toEqual([])
    // Nobody else learns of them, and a post that is no spam any more counts as the others again
    expect(await countPosts(site.db, { ...everything, hidden: false, onlySpam: true })).toMatchObject({ total: 0 })
    const [first] = many
    await site.db.updateTable('posts').set({ is_spam: 0 }).where('postId', '=', first!.postId).execute()
    expect(await read(() => countPosts(site.db, without))).toEqual({ total: whole.total - many.length + 1, isCapped: false }) // prettier-ignore
    await site.db.deleteFrom('posts').where('is_spam', '=', 1).execute()
    expect(await read(() => countPosts(site.db, without))).toEqual({ total: whole.total - many.length + 1, isCapped: false }) // prettier-ignore
    expect(await miscounts(site.db)).toEqual([])
  })

  it('all other reads use an index and do not sort', async () => {
    const { site, owner, post, comment } = await filled(engine)
    const paths: Record<string, string> = {
      post_id: post.postId,
      comment_id: comment,
      url: 'ideas',
      name: 'ide',
      user: 'ada@example.org',
      noun: 'post',
    }
    const event = String((await site.db.selectFrom('events').select('id').where('action', '=', 'post.created').where('subject_id', '=', post.postId).executeTakeFirstOrThrow()).id) // prettier-ignore
    const reads = operations.filter((op) => op.http.startsWith('GET') || op.id === 'posts.show')
    expect(reads.length).toBeGreaterThan(7)
    const found: string[] = []
    for (const op of reads) {
      for (const input of inputsOf(op)) {
        const [method, path] = op.http.split(' ') as [string, string]
        const other =
          op.id === 'events.told' ? event : ['notifications.show', 'events.show'].includes(op.id) ? '1' : 'x'
        const named = op.id === 'legal.show' ? { name: 'terms' } : paths
        const url = path.replaceAll(/:(\w+)/g, (_, name: string) => named[name as 'name'] ?? other)
        const query = new URLSearchParams(input)
        if (op.id === 'imports.refused') query.set('runId', post.postId)
        if (op.id === 'posts.audienceAll') query.set('to', 'soon')
        const queries = await statementsOf(site, async () => {
          const { status } = await site.http(method === 'GET' ? `GET ${url}?${query.toString()}` : `${method} ${url}`, { token: owner, ...(method !== 'GET' && { body: { id: post.postId } }) }) // prettier-ignore
          expect([op.id, [200, 404]]).toEqual([op.id, expect.arrayContaining([status])])
        })
        for (const each of queries)
          if (/^\s*select/i.test(each.sql))
            found.push(...(await faults(site, each)).map((fault) => `${op.id}: ${fault}`))
      }
    }
    expect([...new Set(found)]).toEqual([])
  })

  it('lists of people are found by an index of a filter, or checked on a walk in their order', async () => {
    const { site } = await filled(engine)
    const { userId } = await site.member(['user:read'])
    const [role] = await site.db.selectFrom('roles').select('id').where('isSystem', '=', 0).execute()
    const time = '2026-01-01T00:00:00.000Z'
    const filters: UserFilter[] = [
      {},
      { since: time },
      { states: ['blocked'] },
      { states: ['active', 'unverified'] },
      { roles: [role!.id] },
      { roles: [null] },
      { roles: [null, role!.id] },
      { texts: ['member', 'm'] },
      { seen: { since: time } },
      { seen: { until: time }, states: ['unverified'], roles: [role!.id], texts: ['x'], since: time },
    ]
    const found: string[] = []
    for (const filter of filters)
      for (const sort of USER_SORTS)
        for (const most of [0, 1000]) {
          const statements = await statementsOf(site, async () => {
            const list = await userList(site.db, filter, sort, most)
            const [after] = await list.read({ limit: 2, offset: 1 })
            await list.find(userId)
            if (after) await list.read({ limit: 2, after })
            if (after) await list.countAfter?.(after)
          })
          for (const query of statements)
            found.push(...(await faults(site, query)).map((fault) => `${JSON.stringify(filter)} ${sort} ${most}: ${fault}`)) // prettier-ignore
        }
    expect([...new Set(found)]).toEqual([])
  })

  it('names and starts of ids are ranges of an index, whoever looks', async () => {
    const { site } = await filled(engine)
    const found: string[] = []
    for (const call of [site.call, site.callAs(visitor(new AppError('INVALID_AUTH_HEADER', '')))])
      for (const noun of NAMED_NOUNS)
        for (const name of ['01900000', 'ideas']) {
          const queries = await statementsOf(site, () => Promise.all([call(names.find, { noun, name }), call(posts.list, {})])) // prettier-ignore
          for (const query of queries) found.push(...(await faults(site, query)))
        }
    expect([...new Set(found)]).toEqual([])
  })

  it('the usual writes use an index', async () => {
    const { site, post, comment } = await filled(engine)
    const member = await site.member()
    const person = site.callAs({ ...WRITER, userId: member.userId })
    const found: string[] = []
    const statements = await statementsOf(site, async () => {
      await person(votes.add, { postId: post.postId })
      await person(votes.remove, { postId: post.postId })
      const { activity } = await person(comments.create, { post_id: post.postId, body: 'Yes' })
      await person(comments.update, { post_id: post.postId, comment_id: activity.comment.id, body: 'No' })
      const created = await person(posts.create, { title: 'Export', boardId: 'ideas' })
      await site.call(posts.update, { id: created.post.postId, boardId: 'bugs', partial: true })
      await site.call(posts.remove, { id: created.post.postId })
      await site.call(comments.remove, { post_id: post.postId, comment_id: comment })
    })
    for (const query of statements)
      if (/^\s*(select|insert|update|delete)/i.test(query.sql)) found.push(...(await faults(site, query)))
    expect(statements.length).toBeGreaterThan(20)
    expect([...new Set(found)]).toEqual([])
  })

  it('images are shown, used, looked at and deleted by indexes', async () => {
    const { site, post } = await filled(engine)
    const { userId } = await site.member()
    const image = await storeImage(site.db, { userId })
    const imageId = image.imageId
    const { activity } = await site.callAs({ ...WRITER, userId })(comments.create, { post_id: post.postId, body: image.markdown }) // prettier-ignore
    expect(await usesOf(site.db, imageId)).toHaveLength(1)
    const statements = await statementsOf(site, async () => {
      await isShownToAll(site.db, imageId)
      await usesOf(site.db, imageId)
      await imageData(site.db, imageId)
      for (const after of [undefined, { createdAt: '2026-01-01T00:00:00.000Z', imageId }])
        await imagesBefore(site.db, '2099-01-01T00:00:00.000Z', { after, limit: 2 })
      await transaction(site.db, async (tx) => {
        await recordUses(tx, { commentId: activity.id, markdown: image.markdown }, [imageId], { isNew: false })
        await deleteUnused(tx, [imageId])
        await deleteUnusedOf(tx, userId)
      })
      await deleteImage(site.db, imageId)
    })
    const found: string[] = []
    for (const query of statements)
      if (/^\s*(select|insert|delete)/i.test(query.sql)) found.push(...(await faults(site, query)))
    expect(statements.length).toBeGreaterThan(8)
    expect([...new Set(found)]).toEqual([])
  })

  it('the queue of mails is read and changed by indexes, however many were sent', async () => {
    const { site } = await filled(engine)
    const ctx = { ...site.base, actor: operator, origin: 'cli:test', dryRun: false }
    const mailId = await queueMail(site.db, site.clock.now, { recipient: 'x@example.org', subject: 'x', text: '', html: '' }) // prettier-ignore
    const statements = await statementsOf(site, async () => {
      await mailqueue.listQueue(ctx, {})
      for (const created of ['asc', 'desc'])
        for (const page of [
          { page: 2, limit: 1 },
          { after: mailId, limit: 2 },
          { since: '2026-01-01' },
          { sent: true },
        ])
          await mailqueue.listQueue(ctx, { created, ...page })
      await mailqueue.showMail(ctx, mailId.slice(0, 20), { links: false })
      await mailqueue.retryQueued(ctx, mailId)
      await mailqueue.cancelQueued(ctx, mailId)
    })
    const found: string[] = []
    for (const query of statements)
      if (/^\s*(select|insert|update|delete)/i.test(query.sql)) found.push(...(await faults(site, query)))
    expect(found).toEqual([])
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

it('a look at the log of row changes on postgres uses an index', async () => {
  const { site } = await filled('postgres')
  for (let look = 0; look < 2; look++) await site.http('GET /users/profile', { token: 'nonsense' })
  const { rows } = await sql<{ query: string }>`select query from pg_stat_activity
    where application_name = 'feedbackctl cache' and datname = current_database()`.execute(site.db)
  const [{ query } = { query: '' }] = rows
  expect(query).toContain('row_changes')
  expect(await genericFaults(site, query)).toEqual([])
})

const TIMES = { since: '2026-03-01', until: '2026-03-03' }
const EVENT_FILTERS: Record<string, string>[] = [
  { person: 'ada@example.org' },
  { action: 'post.created' },
  { subject: '01900003-0000-7000-8000-000000000001' },
  TIMES,
  { person: 'ada@example.org', action: 'post.created', ...TIMES, after: '5' },
]

/** Inputs of a read: none, and for a list filters and a page number, each in both directions. */
function inputsOf({ input: { properties } }: AnyOperation): Record<string, string>[] {
  const inputs: Record<string, string>[] = ['title' in properties ? { title: 'Posts and ideas' } : {}]
  if ('since' in properties && 'subject' in properties) inputs.push(...EVENT_FILTERS)
  else if ('since' in properties) inputs.push({ since: '2026-01-01' }, { since: '2026-01-01', until: '2099-01-01' })
  if ('query' in properties)
    inputs.push(
      { query: 'ide', ...('visibility' in properties && { visibility: 'public' }) },
      { query: 'ide', ...('page' in properties && { page: '2', limit: '1' }) },
    )
  if ('all' in properties)
    inputs.push({ all: 'true' }, ...('page' in properties ? [{ all: 'true', since: '2026-01-01', page: '2', limit: '1' }] : [])) // prettier-ignore
  if ('post_id' in properties && 'query' in properties) inputs.push({ post_id: '1' }, { post_id: '1', query: 'x' })
  if ('authorId' in properties) inputs.push({ authorId: 'ada@example.org' })
  if ('authorId' in properties && 'visibility' in properties)
    inputs.push({ visibility: 'internal' }, ...('spam' in properties ? [{ spam: 'true' }, { spam: 'false' }] : []))
  if ('page' in properties) inputs.push({ page: '2', limit: '1' })
  if (!('created' in properties)) return inputs
  return inputs.flatMap((input) => [
    { created: 'asc', ...input },
    { created: 'desc', ...input },
  ])
}

it('a list of boards reads the index of each board on sqlite, not that of all public posts', async () => {
  const { site } = await filled('sqlite')
  const all = await site.call(boards.list, {})
  const statements = await statementsOf(site, async () => {
    for (const sort of SORTS)
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
  // A list by trend leaves out statuses, so it reads each other status of a board; of many, it reads the board
  expect(new Set(used)).toEqual(
    new Set([...['age', 'votes', 'comments', 'trend'].map((order) => `posts_by_${order}_of_board`), 'posts_by_trend_of_both']), // prettier-ignore
  )
})

it('whether posts without a board hide their votes is asked of the index of such posts', async () => {
  const { site } = await filled('sqlite')
  const [asked] = (await statementsOf(site, () => coverOf(site.db))).filter(({ sql: text }) => text.includes('as loose')) // prettier-ignore
  const { rows } = await site.db.executeQuery<Step>({ ...asked!, sql: `explain query plan ${asked!.sql}` })
  expect(rows.flatMap(({ detail }) => /posts_\w+/.exec(detail) ?? [])).toEqual(['posts_hiding_votes'])
})

it('a search on sqlite reads the full-text index in the order of its page, and sorts that alone', async () => {
  const { site } = await filled('sqlite')
  for (const created of ['asc', 'desc'] as const) {
    const [page] = await statementsOf(site, () => site.call(posts.search, { words: 'post', created, limit: 2 }))
    const { rows } = await site.db.executeQuery<Step>({ ...page!, sql: `explain query plan ${page!.sql}` })
    const sorted = rows.filter(({ detail }) => detail.includes('TEMP B-TREE'))
    expect([sorted.map(({ parent }) => parent), rows.length]).toEqual([[0], expect.any(Number)])
  }
})

it('a search on postgres for a word that no post has asks the index of words, whatever PostgreSQL expects', async () => {
  const site = await makeSite('postgres')
  await sql`insert into post_search (number, words)
    select number, array_to_tsvector(array(select 'w' || (number * 7 + word * 31) % 4000 from generate_series(1, 40) as word))
    from generate_series(1, 10000) as number`.execute(site.db)
  await sql`vacuum analyze post_search`.execute(site.db) // entries that wait for it would be read one by one
  const statements = await statementsOf(site, () => site.call(find, { query: 'drakk' }))
  const rare = statements.filter(({ sql: text }) => text.includes('post_search') && text.includes('+ 0'))
  expect(rare.filter(({ parameters }) => String(parameters[0]).length > 1000).length).toBeGreaterThan(1) // spellings
  for (const query of rare) {
    const { rows } = await site.db.executeQuery({ ...query, sql: `explain ${query.sql}` })
    expect(JSON.stringify(rows)).toContain('Bitmap Index Scan on post_search_by_word')
  }
})

it('PostgreSQL plans each search for the words it is for, not once for all', async () => {
  const site = await makeSite('postgres')
  // PostgreSQL makes a plan for all values of a statement when it has run five times
  for (const word of 'amber birch cedar dahlia elder fennel ginger hazel'.split(' ')) {
    await site.call(find, { query: word })
    await site.call(posts.search, { words: word })
  }
  const prepared = await Promise.all(
    Array.from({ length: 10 }, () => sql<{ statement: string; plans: number }>`select statement, generic_plans as plans from pg_prepared_statements where statement like '%_search%'`.execute(site.db)), // prettier-ignore
  )
  const rows = prepared.flatMap((each) => each.rows)
  expect(rows.filter(({ plans }) => plans > 0).length).toBeGreaterThan(0) // those that ask for rare words
  expect(rows.filter(({ statement }) => /words @@ \$/.test(statement))).toEqual([])
})
