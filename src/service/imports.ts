import * as Type from 'typebox'
import { AppError, serverError } from '../core/errors.js'
import { groupedBy } from '../core/grouped.js'
import { setCache } from '../db/dialect.js'
import { newestNumber } from '../db/posts/similar.js'
import { importedByBoard, importedCounts, postAtFormerPath } from '../db/imports.js'
import { boardIdFrom } from './lib/postplaces.js'
import { change, together } from './lib/change.js'
import type { Context } from './lib/context.js'
import { assertStill, type LongBody, type Piece } from './lib/download.js'
import { Importer } from './importing.js'
import { Balance } from './lib/importbalance.js'
import { Pace } from './lib/importpace.js'
import { assertNoneRuns } from './lib/importstates.js'
import { NamedImages } from './importimages.js'
import type { Given, Taken } from './lib/importtaken.js'
import { MOST_OF_LINE, pathOf, placedIn, recordIn, RECORD_TYPES, type Placed } from './lib/importrecords.js'
import { operation } from './lib/operation.js'
import { ImportedRepeats } from './lib/repeats.js'
import { fields } from './lib/schemas.js'
import { visiblePost } from './lib/whichpost.js'
import { upload } from './lib/upload.js'
import { NDJSON, rowsIn } from './lib/uploadrows.js'

/** Records per transaction. */
const TOGETHER = 2000
/** Images in one transaction. Each takes about half a second to decode. */
const IMAGES_TOGETHER = 10
const MAX_BYTES = 4_000_000_000

export const source = Type.String({
  minLength: 1,
  maxLength: 50,
  pattern: '^[a-z0-9][a-z0-9._-]*$',
  rule: 'lower-case letters, digits, ".", "_" and "-", at most 50',
  description: 'Where the records come from. Ids are those of the source: the same source and id is the same thing',
})

export const OPTIONS = {
  boardId: Type.Optional(
    Type.String({
      description: 'Id or url of the board of posts that name none (default: no board)',
      names: 'board',
    }),
  ),
  confirmed: Type.Boolean({
    default: false,
    description: 'The addresses count as confirmed: people are mailed about the posts that they follow',
  }),
}

export const create = upload({
  id: 'imports.create',
  summary: 'Import boards, posts, votes and people of another product; what came before is not imported again',
  http: 'POST /import/records 200',
  access: 'owner',
  errors: ['BOARD_NOT_FOUND', 'IMPORT_RUNNING'],
  accepts: [NDJSON],
  maxBytes: MAX_BYTES,
  types: [NDJSON],
  input: fields({ source, ...OPTIONS }),
  output: Type.String(),
  async run(ctx, { source: from, boardId: board, confirmed }, body): Promise<LongBody> {
    await assertNoneRuns(ctx)
    const boardId = board === undefined ? null : await boardIdFrom(ctx, board)
    const rows = rowsIn(body, { main: '', fields: [], names: {} }, MOST_OF_LINE)
    return {
      type: NDJSON,
      ...importing(ctx, new Importer({ source: from, confirmed, boardId }), { source: from, boardId, rows }),
    }
  },
})

export const findPath = operation({
  id: 'imports.findPath',
  summary: 'Find the post that had a path where it was imported from',
  http: 'GET /import/path 200',
  access: 'public',
  cache: 'actor',
  errors: ['POST_NOT_FOUND'],
  input: fields({
    path: Type.String({ minLength: 2, maxLength: 2000, description: 'Path of an address, such as /ideas/p/dark-mode' }),
  }),
  output: Type.Object({
    post: Type.Object({ postId: Type.String({ format: 'uuid' }), number: Type.Integer(), slug: Type.String() }),
  }),
  async subject(ctx, { path }) {
    const given = typeof path === 'string' ? pathOf(path) : ''
    // Some products add the title after the id, as in /posts/12/dark-mode. The title may have changed.
    const shorter = given.slice(0, given.lastIndexOf('/'))
    const postId = (await postAtFormerPath(ctx.db, given)) ?? (await postAtFormerPath(ctx.db, shorter))
    if (postId === undefined) throw new AppError('POST_NOT_FOUND', 'No post had this path.')
    return visiblePost(ctx, postId)
  },
  run: async (_ctx, _input, { postId, number, slug }) => ({ post: { postId, number, slug } }),
})

type Rows = ReturnType<typeof rowsIn>

/** Streams the answer: a line for each refused record, a line after each transaction, and the balance last. */
export function importing(
  ctx: Context,
  importer: Importer,
  {
    source: from,
    boardId,
    rows,
    signal,
  }: { source: string; boardId: string | null; rows: Rows; signal?: AbortSignal | undefined },
): Pick<LongBody, 'pieces' | 'end'> {
  const balance = new Balance()
  const passwords = { kept: 0, leftOut: 0 }
  const linked = new NamedImages('url')
  const missing = new NamedImages('name')
  const mayGoOn = async () => {
    signal?.throwIfAborted()
    await assertStill({ access: 'owner' }, ctx, 'upload')
  }
  async function* pieces(): AsyncGenerator<Piece> {
    const before = await importedCounts(ctx.db, from)
    const pace = new Pace(TOGETHER)
    const repeats = new ImportedRepeats(ctx, await newestNumber(ctx.db))
    for await (const group of inGroups(rows, ctx.now)) {
      await mayGoOn()
      const failures: object[] = []
      for (const { line, placed, error } of group.wrong) {
        balance.count(placed, 'failed', error)
        failures.push({ result: 'failed', line, type: placed?.type, error: error.body })
      }
      const type = group.given[0]?.record.type
      const created = new Set<number>()
      const records = new Map(group.given.map(({ line, record }) => [line, record]))
      await importer.prepare(ctx, group.given, mayGoOn)
      for (const { line, outcome, error, password, links = [], missing: lacks = [] } of await takeAll(
        ctx,
        importer,
        group.given,
        pace,
      )) {
        if (outcome === 'created') created.add(line)
        const record = records.get(line)
        if (record?.type === 'post' || record?.type === 'comment') {
          linked.add(record.type, record.fields.sourceId, links)
          missing.add(record.type, record.fields.sourceId, lacks)
        }
        balance.count(record, outcome, error)
        if (password !== undefined) passwords[password] += 1
        if (outcome === 'failed') failures.push({ result: 'failed', line, type, error: error?.body })
      }
      await repeats.look(group.given.flatMap(({ line, record }) => (record.type === 'post' && created.has(line) ? [record.fields.title] : []))) // prettier-ignore
      yield {
        text: [...failures, { result: 'taken', until: group.until, balance: balance.types }].map(lineOf).join(''),
        rows: 1,
      }
    }
    const all = balance.types
    const after = await importedCounts(ctx.db, from)
    const isBalanced =
      ctx.dryRun ||
      all.every(({ type, created, matched }) => (after.get(type) ?? 0) - (before.get(type) ?? 0) === remembered(type, created + matched)) // prettier-ignore
    const made = all.reduce((sum, { created }) => sum + created, 0)
    if (made > 0 && !ctx.dryRun)
      await change(ctx, async (tx) => {
        tx.record('site.imported', 'site', from)
        await Promise.resolve()
      })
    const boards = await importedByBoard(ctx.db, from)
    const byBoard = await balance.byBoard(ctx, { boardId, boards: (ids) => importer.boards(ctx, ids) })
    const { failures, otherFailures, places } = balance
    yield { text: lineOf({ result: 'complete', balance: all, byBoard, places, failures, otherFailures, boards, passwords, isBalanced, similar: repeats.shown, linkedImages: linked.told, missingImages: missing.told }), rows: 0 } // prettier-ignore
  }
  async function* withCache(): AsyncGenerator<Piece> {
    try {
      yield* pieces()
    } finally {
      if (!ctx.dryRun) await together(ctx, { looks: false }, ({ db }) => setCache(db, 'usual')).catch(() => {}) // what ended it is the error
    }
  }
  return {
    pieces: withCache(),
    end: ({ body: error }) => ({ text: lineOf({ result: 'incomplete', balance: balance.types, error }), rows: 0 }),
  }
}

const remembered = (type: string, count: number): number => (type === 'other' ? 0 : count)
const lineOf = (line: object): string => `${JSON.stringify(line)}\n`

interface Group {
  given: Given[]
  wrong: { line: number; placed: Placed | undefined; error: AppError }[]
  /** All lines up to this one are done with the group. */
  until: number
}

/** Records read at a time, and characters of them before the last. */
const WINDOW = 8000
const MOST_OF_WINDOW = 8_000_000

/**
 * Records of one type at a time. Sources have people beside their votes: within a window, what others refer to comes
 * first, so that transactions have many records. What is none comes at its type too: votes count on the board of a post.
 */
async function* inGroups(rows: Rows, now: Context['now']): AsyncGenerator<Group> {
  let window: Given[] = []
  let wrong: Group['wrong'] = []
  let [size, last, done] = [0, 0, 0]
  const flush = function* (): Generator<Group> {
    const byType = groupedBy(window, ({ record }) => record.type)
    const wrongByType = groupedBy(wrong, ({ placed }) => placed?.type)
    for (const type of [undefined, ...RECORD_TYPES]) {
      const none = wrongByType.get(type)
      if (none) yield { given: [], wrong: none, until: done }
      const some = type === undefined ? [] : (byType.get(type) ?? [])
      const together = type === 'image' ? IMAGES_TOGETHER : TOGETHER
      for (let at = 0; at < some.length; at += together)
        yield { given: some.slice(at, at + together), wrong: [], until: done }
    }
    done = last
    yield { given: [], wrong: [], until: done }
    window = []
    wrong = []
    size = 0
  }
  for await (const { number: line, values, size: length } of rows) {
    try {
      if (values instanceof AppError) throw values
      window.push({ line, record: recordIn(values, now()) })
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      wrong.push({ line, placed: values instanceof AppError ? undefined : placedIn(values), error })
    }
    last = line
    size += length
    if (window.length + wrong.length >= WINDOW || size >= MOST_OF_WINDOW) yield* flush()
  }
  yield* flush()
}

/** In one transaction; where that fails, each half alone, so that the error is of the record that causes it. */
async function takeAll(ctx: Context, importer: Importer, given: readonly Given[], pace: Pace): Promise<Taken[]> {
  if (given.length === 0) return []
  if (ctx.dryRun) return importer.take(ctx, given)
  const parts = async (most: number) => {
    const taken: Taken[] = []
    for (let at = 0; at < given.length; at += most)
      taken.push(...(await takeAll(ctx, importer, given.slice(at, at + most), pace)))
    return taken
  }
  if (given.length > pace.most) return parts(pace.most)
  try {
    const taken = await together(ctx, { looks: true }, async (inside) => {
      await setCache(inside.db, 'large')
      return importer.take(inside, given)
    })
    pace.done(given.length)
    return taken
  } catch (thrown) {
    const error = thrown instanceof AppError ? thrown : serverError(thrown)
    const [one] = given
    if (one && given.length === 1) {
      if (error.status >= 500) throw error
      return [{ line: one.line, outcome: 'failed', error }]
    }
    const half = Math.ceil(given.length / 2)
    if (error.code === 'DATABASE_UNREACHABLE') pace.tooLong(given.length)
    return parts(half)
  }
}
