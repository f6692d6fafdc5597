import { RawNode, type Compilable, type CompiledQuery, type Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import { isPostgres } from '../dialect.js'
import type { Page } from '../paging.js'
import type { Seek } from './anchors.js'
import type { Refs, Topic } from './dependencies.js'
import type { TaggedQuery } from './querycache.js'

// oxlint-disable-next-line typescript/no-explicit-any -- the tables do not matter here
type AnyDb = Kysely<any>

/** Stands for a value while a query is built. */
class Placeholder {
  constructor(
    readonly name: string,
    readonly index?: number,
  ) {}
}

type Compiled = Pick<CompiledQuery, 'queryId' | 'sql' | 'parameters'>

/** Characters of SQL kept at most: visitors choose how long some lists are, and each length is a query of its own. */
const MAX_LENGTH = 500_000

const compiledQueries = new LRUCache<string, Compiled>({
  maxSize: MAX_LENGTH,
  sizeCalculation: ({ sql }) => sql.length,
})

/** The syntax tree is not kept: no driver reads it, and it is most of what a compiled query holds. */
const NO_TREE = RawNode.createWithSql('')

/**
 * Runs a query that is compiled once per engine, `name` and parameter shape (which parameters are given, the length of
 * lists, and which of their values are null): compiling takes longer than most queries. `build` gets placeholders, and
 * null for a null in a list; it must pass them on and must not branch on their values.
 */
export async function compiled<Given extends object, Row>(
  db: AnyDb,
  name: string,
  given: Given,
  build: (given: Given) => Compilable<Row>,
  refs?: Refs<Row>,
): Promise<Row[]> {
  const { rows } = await db.executeQuery<Row>(taggedQuery(db, name, given, build, refs))
  return rows
}

/** A list, for `compiledPage`. */
interface List<Row> {
  /** Names the list: filter and order, and the values of both. */
  name: string
  /** Topics whose changes can move a row of the list. */
  order: readonly Topic[]
  query(this: void, page: Page<Row>): TaggedQuery
  /** The columns of a row that a page can start after. */
  cursor(this: void, row: Row): object
}

/** Runs the query of a page. Where rows have to be skipped, the query cache knows how to start from an anchor. */
export async function compiledPage<Row extends object>(db: AnyDb, list: List<Row>, page: Page<Row>): Promise<Row[]> {
  const { name, order, query, cursor } = list
  const plain = query(page)
  const { offset = 0, limit } = page
  const seek: Seek | undefined =
    offset > 0 && page.after === undefined
      ? { list: name, order, offset, limit, page: (at) => query(at as Page<Row>), cursor: (row) => cursor(row as Row) } // rows of this list
      : undefined
  const { rows } = await db.executeQuery<Row>(seek ? { ...plain, seek } : plain)
  return rows
}

export function taggedQuery<Given extends object, Row>(
  db: AnyDb,
  name: string,
  given: Given,
  build: (given: Given) => Compilable<Row>,
  refs?: Refs<Row>,
): TaggedQuery {
  const values = given as Record<string, unknown>
  let key = isPostgres(db) ? `postgres ${name}` : `sqlite ${name}`
  for (const parameter in values) {
    const value = values[parameter]
    if (value !== undefined) key += Array.isArray(value) ? ` ${parameter}*${shapeOf(value)}` : ` ${parameter}`
  }
  let query = compiledQueries.get(key)
  if (!query) {
    // Passed on as what they stand for
    const { queryId, sql, parameters } = build(placeholdersFor(values) as Given).compile()
    compiledQueries.set(key, (query = { queryId, sql, parameters }))
  }
  const parameters = query.parameters.map((parameter) => resolved(parameter, values))
  return { query: NO_TREE, queryId: query.queryId, sql: query.sql, parameters, refs }
}

/** Its length, and the places of null. */
const shapeOf = (list: readonly unknown[]): string =>
  list.includes(null) ? list.map((value) => (value === null ? '0' : '1')).join('') + 'n' : String(list.length)

const placeholdersFor = (values: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [
        name,
        Array.isArray(value)
          ? value.map((each, index) => (each === null ? null : new Placeholder(name, index)))
          : new Placeholder(name),
      ]),
  )

/** Replaces placeholders by their values. An array of placeholders becomes one array parameter. */
function resolved(parameter: unknown, values: Record<string, unknown>): unknown {
  if (Array.isArray(parameter)) return parameter.map((each) => resolved(each, values))
  if (!(parameter instanceof Placeholder)) return parameter
  const { name, index } = parameter
  return index === undefined ? values[name] : (values[name] as unknown[])[index]
}
