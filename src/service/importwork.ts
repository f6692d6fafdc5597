import { AppError, serverError } from '../core/errors.js'
import { insertRefusals, keepRun, type ImportRun } from '../db/importruns.js'
import { OWN, pieces, mapIn, type Product } from './importfiles.js'
import { assertOwner, assertSignedIn } from './lib/access.js'
import type { Context, ImportPreview } from './lib/context.js'
import { endRecorded, recordStart, type ImportBase } from './lib/importevents.js'
import { COUNTS, progressOf, type Counts, type Progress } from './lib/importstates.js'
import { boardIdFrom } from './lib/postplaces.js'
import { actorFor } from './lib/sessions.js'
import { answerLines, errorOf } from './lib/uploadresults.js'

/** Milliseconds between two progress reports of a run. */
const SAYS_MS = 1000
/** Characters of a part of the refused records. */
const PART = 500_000
/** Bytes of the refused records that are kept. */
const MOST_REFUSED = 50_000_000

type Line =
  | { result: 'working'; step: string; table?: string; rows?: number; all?: number }
  | { result: 'taken'; balance: ({ type: string } & Counts)[] }
  | { result: 'opened'; product: string; preview?: ImportPreview }
  | { result: 'note'; text: string }
  | { result: 'failed' }
  | { result: 'complete' }
  | { result: 'incomplete'; error: AppError['body'] }

type Options = { product?: Product; source?: string; boardId: string | null; confirmed: boolean; map?: string }

/** Does an import that somebody has asked for, and says how it ends. What it throws, the site has no answer to. */
export async function workOn(base: ImportBase, run: ImportRun, signal: AbortSignal): Promise<Ended> {
  const work = new Work(base, run)
  const end = async (
    ended: Pick<ImportRun, 'ending'> & Partial<Pick<ImportRun, 'result' | 'error'>>,
  ): Promise<Ended> => {
    await work.keepRefused().catch(() => {}) // its end matters more
    const replacesLog = work.product === OWN && ended.ending === 'done'
    await endRecorded(base, run, { ...ended, ...work.told(), replacesLog })
    if (run.isCheck === 0 || ended.ending !== 'done') await base.imports?.files.remove(run.file)
    return { ending: ended.ending }
  }
  try {
    const done = await work.do(signal).then((result) => ({ result, error: undefined }), (error: unknown) => ({ result: undefined, error })) // prettier-ignore
    if (done.result !== undefined) return await end({ ending: 'done', result: JSON.stringify(done.result) })
    if (signal.aborted) return await end({ ending: 'stopped' })
    if (work.state !== 'goes on') return await end({ ending: work.state })
    if (done.error === undefined) return await end({ ending: 'stopped' })
    const known = done.error instanceof AppError ? done.error : serverError(done.error)
    const { code, message } = known.body
    await end({ ending: 'failed', error: JSON.stringify({ code, message }) })
    return { ending: 'failed', error: known }
  } finally {
    work.close()
  }
}

interface Ended {
  ending: ImportRun['ending']
  error?: AppError
}

class Work {
  readonly #base: ImportBase
  readonly #run: ImportRun
  readonly #progress: Progress
  readonly #timer: NodeJS.Timeout
  readonly #refusals: Refusals
  state: Awaited<ReturnType<typeof keepRun>> = 'goes on'
  /** The product that the file is from, once it is read. */
  product: string | undefined
  #saying: Promise<void> | undefined
  /** Aborts the reading of the file, which may wait for its next record for a long time. */
  readonly #ends = new AbortController()

  constructor(base: ImportBase, run: ImportRun) {
    this.#base = base
    this.#run = run
    this.#progress = progressOf(run)
    this.#refusals = new Refusals(base.db, run.runId)
    this.#timer = setInterval(() => void (this.#saying ??= this.#say()), SAYS_MS)
  }

  /** Returns undefined if the run was cancelled or stopped before it finished. */
  async do(signal: AbortSignal): Promise<object | undefined> {
    const { isCheck, userId, file, options } = this.#run
    const actorNow = () => actorFor(userId, this.#base)
    const ctx: Context = { ...this.#base, actor: await actorNow(), actorNow, origin: 'http', dryRun: isCheck === 1 }
    assertSignedIn('owner', ctx.actor)
    assertOwner('owner', ctx.actor) // as when it was asked for
    await this.#say()
    if (this.state !== 'goes on') return undefined
    const { product, source, boardId, confirmed, map = '' } = JSON.parse(options) as Options
    if (boardId !== null) await boardIdFrom(ctx, boardId) // it may be gone since
    const seen: { product?: string; preview?: ImportPreview | undefined } = {}
    const notes: string[] = []
    const answer = pieces(ctx, {
      bytes: nothing(),
      kept: file,
      opened: { product, map: mapIn(map) },
      named: source,
      boardId,
      confirmed,
      refused: (row, from) => this.#refusals.add(row, from),
      signal: AbortSignal.any([signal, this.#ends.signal]),
    })
    for await (const line of answerLines<Line>(answer)) {
      if (line.result === 'incomplete') throw errorOf(line.error)
      if (line.result === 'note') notes.push(line.text)
      if (line.result === 'opened') {
        Object.assign(seen, { product: line.product, preview: line.preview })
        this.product = line.product
        if (line.product !== OWN) await recordStart(this.#base, this.#run, line.product) // in an export of a site, the log must stay equal to that of the export
      }
      if (line.result === 'taken') this.#count(line.balance)
      if (line.result === 'working' && line.step !== 'receive')
        this.#progress.done = [{ type: line.step, done: line.rows ?? 0, found: line.all ?? null }]
      if (line.result === 'complete') return { ...seen, notes, ...line }
      await this.#refusals.write()
      if (this.state !== 'goes on' || signal.aborted) return undefined
    }
    throw new Error('An import has ended without a word.')
  }

  /** Stores the refused records that are not stored yet. A run that failed or was cancelled keeps its own too. */
  async keepRefused(): Promise<void> {
    const { kept, leftOut } = await this.#refusals.end()
    this.#progress.refused = kept
    this.#progress.refusedLeftOut = leftOut
  }

  told(): { progress: string } {
    return { progress: JSON.stringify(this.#progress) }
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #count(balance: readonly ({ type: string } & Counts)[]): void {
    const sumOf = (count: keyof Counts) => balance.reduce((sum, each) => sum + each[count], 0)
    this.#progress.counts = Object.fromEntries(COUNTS.map((count) => [count, sumOf(count)])) as Counts
    const counted = new Map(balance.map(({ type, found }) => [type, found]))
    const others = this.#progress.done.filter(({ type }) => !counted.has(type))
    const foundOf = (type: string) => this.#progress.done.find((each) => each.type === type)?.found ?? null
    this.#progress.done = [...balance.map(({ type, found: done }) => ({ type, done, found: foundOf(type) })), ...others]
  }

  /** One at a time: while an export is put in, nobody else can write. */
  async #say(): Promise<void> {
    const { db, now, imports } = this.#base
    const { runId, file } = this.#run
    try {
      await imports?.files.keep(file)
      this.state = await keepRun(db, { runId, seenAt: now().toISOString(), ...this.told() })
      if (this.state !== 'goes on') this.#ends.abort()
    } catch {
      // the next time says it
    } finally {
      this.#saying = undefined
    }
  }
}

/** Keeps what an import refuses, in parts, with the name of the source first. */
class Refusals {
  readonly #db: Context['db']
  readonly #runId: string
  #text = ''
  #part = 0
  #size = 0
  #count = 0
  #leftOut = 0

  constructor(db: Context['db'], runId: string) {
    this.#db = db
    this.#runId = runId
  }

  add(row: string, source: string): void {
    const bytes = Buffer.byteLength(row) + 1
    if (this.#size + bytes > MOST_REFUSED) {
      this.#leftOut += 1
      return
    }
    if (this.#count === 0) this.#text = `${JSON.stringify({ type: 'header', format: 'feedbackctl-refused', source })}\n`
    this.#text += `${row}\n`
    this.#size += bytes
    this.#count += 1
  }

  /** Writes what makes a part. */
  async write(least = PART): Promise<void> {
    if (this.#text.length < least) return
    const text = this.#text
    this.#text = ''
    await insertRefusals(this.#db, { runId: this.#runId, part: this.#part, text })
    this.#part += 1
  }

  async end(): Promise<{ kept: number; leftOut: number }> {
    await this.write(1)
    return { kept: this.#count, leftOut: this.#leftOut }
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
