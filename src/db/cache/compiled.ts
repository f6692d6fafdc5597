import type { Compilable, CompiledQuery, Kysely } from 'kysely'
import type { Concerned, VotesOn } from './invalidation.js'
import { isPostgres } from '../dialect.js'

/** Stands for a value while a query is built. */
class Place {
  constructor(
    readonly name: string,
    readonly at?: number,
  ) {}
}

const kept = new Map<string, CompiledQuery>()

/**
 * Runs a query that is built and compiled once for each engine, as that takes longer than most queries need in the database. `form`
 * says which query it is; those that are given other fields, or lists of another length, are told apart by themselves. What `build` is
 * given are stand-ins for the values: it must pass them on and decide nothing by them. `votesOn` is that of `Concerned`.
 */
export async function compiled<Given extends object, Row>(
  // oxlint-disable-next-line typescript/no-explicit-any -- the tables do not matter here
  db: Kysely<any>,
  form: string,
  given: Given,
  build: (given: Given) => Compilable<Row>,
  votesOn?: VotesOn<Row>,
): Promise<Row[]> {
  const values = given as Record<string, unknown>
  let key = isPostgres(db) ? `postgres ${form}` : `sqlite ${form}`
  for (const name in values) {
    const value = values[name]
    if (value !== undefined) key += Array.isArray(value) ? ` ${name}*${value.length}` : ` ${name}`
  }
  let query = kept.get(key)
  if (!query) {
    query = build(placesOf(values) as Given).compile() // stand-ins are passed on as what they stand for
    kept.set(key, query)
  }
  const parameters = query.parameters.map((parameter) =>
    parameter instanceof Place ? valueOf(values[parameter.name], parameter) : parameter,
  )
  const concerned: Concerned = { query: query.query, queryId: query.queryId, sql: query.sql, parameters, votesOn }
  const { rows } = await db.executeQuery<Row>(concerned)
  return rows
}

const placesOf = (values: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [
        name,
        Array.isArray(value) ? value.map((_, at) => new Place(name, at)) : new Place(name),
      ]),
  )

const valueOf = (value: unknown, { at }: Place): unknown => (at === undefined ? value : (value as unknown[])[at])
