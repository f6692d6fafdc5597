import { setImmediate } from 'node:timers/promises'
import { AppError, serverError } from '../../core/errors.js'
import { assertReadable, coerce, parse } from '../../core/fields.js'
import type { Row } from '../../core/records.js'
import { together } from './change.js'
import type { Context } from './context.js'
import { execute, type Call, type Operation } from './operation.js'

type Fields = Record<string, unknown>

/** Rows that are created in one transaction, and whose answers are in memory. */
const TOGETHER = 100
/** Characters of such rows, before the last of them. */
const MOST = 1_000_000
/** Milliseconds after which a transaction takes no further row: others wait for what it has locked. */
const BUDGET = 1000
/** Milliseconds after which other requests have their turn. */
const TURN = 15

/** How rows become what an operation creates. */
export interface Creation<In, Out> {
  create: Operation<In, Out, undefined>
  /** The field that every row has, and the error where one has none. */
  main: string
  missing(this: void): AppError
  /** Reads what rows name, before their transaction. Made for each hundred rows. */
  resolver?(this: void, ctx: Context): (row: Fields) => Promise<Fields>
  /** What is there already: with `ifNotExists`, it is not created again. */
  find?(this: void, call: Call, row: Fields): Promise<Out | undefined>
}

interface Given {
  ifNotExists: boolean
  /** Fields for rows that have none of their own. */
  forAll: Fields
  /** Throws where the caller may not go on. */
  mayGoOn(this: void): Promise<void>
}

export type Result<Out> = { line: number } & (
  { result: 'created' | 'exists'; answer: Out } | { result: 'failed'; error: AppError }
)

/**
 * Creates the rows in their order, a hundred in one transaction, and says what became of them. Where several cannot be
 * created together, nothing of them stays, and each is tried alone: a failure leaves nothing half done. Throws what every
 * further row would fail with.
 */
export async function* creating<In, Out>(
  creation: Creation<In, Out>,
  ctx: Context,
  given: Given,
  rows: AsyncIterable<Row>,
): AsyncGenerator<readonly Result<Out>[]> {
  for await (const group of inGroups(rows)) {
    await given.mayGoOn()
    const checked = await checkedRows(creation, ctx, given, group)
    for (let rest = checked; rest.length > 0;) {
      const { results, end } = await done(creation, ctx, given, rest)
      if (results.length > 0) yield results
      if (end) throw end
      rest = rest.slice(results.length)
    }
  }
}

async function* inGroups(rows: AsyncIterable<Row>): AsyncGenerator<Row[]> {
  let group: Row[] = []
  let size = 0
  for await (const row of rows) {
    group.push(row)
    size += row.size
    if (group.length < TOGETHER && size < MOST) continue
    yield group
    group = []
    size = 0
  }
  if (group.length > 0) yield group
}

/** A row whose fields are valid, or why they are not. */
type Checked = { line: number; values: Fields } | { line: number; error: AppError }

const failed = ({ line, error }: { line: number; error: AppError }): Result<never> => ({
  line,
  result: 'failed',
  error,
})

/** Checks what needs no transaction, so that a row that is not valid does not undo those beside it. */
async function checkedRows<In, Out>(
  { create, main, missing, resolver }: Creation<In, Out>,
  ctx: Context,
  { forAll }: Given,
  rows: readonly Row[],
): Promise<Checked[]> {
  const resolve = resolver?.(ctx)
  const check = async ({ number: line, values: given }: Row): Promise<Checked> => {
    try {
      if (given instanceof AppError) throw given
      const values = coerce(create.input, { ...forAll, ...given })
      assertReadable(values)
      const valid = parse(create.input, values)
      if (valid[main] === undefined || valid[main] === '') throw missing()
      return { line, values: (await resolve?.(valid)) ?? valid }
    } catch (thrown) {
      const error = asError(thrown)
      if (endsAll(error)) throw error
      return { line, error }
    }
  }
  const checked: Checked[] = []
  const clock = new Clock()
  for (const row of rows) {
    checked.push(await check(row))
    await clock.turn()
  }
  return checked
}

/** What became of the first rows, one at least, and why none after them can be created. */
interface Done<Out> {
  results: Result<Out>[]
  end?: AppError
}

async function done<In, Out>(
  creation: Creation<In, Out>,
  ctx: Context,
  { ifNotExists }: Given,
  rows: readonly Checked[],
): Promise<Done<Out>> {
  const maker = new Maker(creation, ctx, ifNotExists)
  // Whatever the error is, it comes again when the rows are tried alone
  const whole =
    rows.length > 1 && (await maker.canDoSeveral()) ? await maker.several(rows).catch(() => undefined) : undefined
  if (whole) return { results: whole }
  const results: Result<Out>[] = []
  const clock = new Clock()
  for (const row of rows) {
    try {
      results.push('error' in row ? failed(row) : await maker.alone(row))
    } catch (thrown) {
      const error = asError(thrown)
      if (endsAll(error)) return { results, end: error }
      results.push(failed({ line: row.line, error }))
    }
    if (clock.isOver) break
    await clock.turn()
  }
  return { results }
}

/** Creates rows together or alone, with their limit. */
class Maker<In, Out> {
  readonly #creation: Creation<In, Out>
  readonly #ctx: Context
  readonly #looks: boolean

  constructor(creation: Creation<In, Out>, ctx: Context, ifNotExists: boolean) {
    this.#creation = creation
    this.#ctx = ctx
    this.#looks = ifNotExists && creation.find !== undefined
  }

  /** A dry run takes each write back. A limit may wait for other requests, and these for the transaction. */
  async canDoSeveral(): Promise<boolean> {
    const { limit } = this.#creation.create
    const { dryRun, limits } = this.#ctx
    return !dryRun && !(limit && (await limits?.applies(limit, this.#ctx, this.#account)))
  }

  get #account(): string | undefined {
    return this.#ctx.actor.userId ?? undefined
  }

  /** Creates rows in one transaction, until they have taken long. */
  several(rows: readonly Checked[]): Promise<Result<Out>[]> {
    return together(this.#ctx, { looks: this.#looks }, async (inside) => {
      const results: Result<Out>[] = []
      const clock = new Clock()
      for (const row of rows) {
        results.push('error' in row ? failed(row) : await this.#one(inside, row))
        if (clock.isOver) break
        await clock.turn()
      }
      return results
    })
  }

  async alone(row: { line: number; values: Fields }): Promise<Result<Out>> {
    const { limit } = this.#creation.create
    const work = () =>
      this.#looks && !this.#ctx.dryRun
        ? together(this.#ctx, { looks: true }, (inside) => this.#one(inside, row))
        : this.#one(this.#ctx, row)
    if (!limit || !this.#ctx.limits) return work()
    try {
      return await this.#ctx.limits.guard(limit, this.#ctx, this.#account, async () => {
        const done = await work()
        if (done.result === 'exists') throw new Present(done)
        return done
      })
    } catch (thrown) {
      if (thrown instanceof Present) return thrown.done as Result<Out>
      throw thrown
    }
  }

  async #one(ctx: Context, { line, values }: { line: number; values: Fields }): Promise<Result<Out>> {
    const { create, find } = this.#creation
    const { limits: _, ...unlimited } = ctx
    const call: Call = (op, input) => execute(op, unlimited, input)
    const present = this.#looks ? await find?.(call, values) : undefined
    return present === undefined
      ? { line, result: 'created', answer: await call(create, values) }
      : { line, result: 'exists', answer: present }
  }
}

/** What is there already is not counted by a limit, neither as a success nor as a failure. */
class Present extends Error {
  constructor(readonly done: Result<unknown>) {
    super('exists')
  }
}

/** Of work that others wait for. */
class Clock {
  readonly #start = performance.now()
  #turn = performance.now()

  get isOver(): boolean {
    return performance.now() - this.#start > BUDGET
  }

  /** Lets other requests go on, now and then. */
  async turn(): Promise<void> {
    if (performance.now() - this.#turn < TURN) return
    await setImmediate()
    this.#turn = performance.now()
  }
}

const asError = (thrown: unknown): AppError => (thrown instanceof AppError ? thrown : serverError(thrown))

/** Whether every further row would fail too. */
const endsAll = ({ status, code }: AppError): boolean => status >= 500 || code === 'RATE_LIMITED'
