import type { AppError } from '../../core/errors.js'
import { LENGTHS } from '../../core/lengths.js'
import { searchKey } from '../../core/text.js'
import { boardNames } from '../../db/imports.js'
import type { Context } from './context.js'
import { PRETENDED } from './importedrows.js'
import { RECORD_TYPES, shortened, UNREADABLE, type Outcome, type Placed, type RecordType } from './importrecords.js'

type Counts = Record<'found' | Outcome, number>
const noCounts = (): Counts => ({ found: 0, created: 0, matched: 0, existing: 0, failed: 0 })

/** Of one kind on a board: what the source has, what of it is new here, and what is not. */
interface Part {
  found: number
  created: number
  skipped: number
}

interface OfBoard {
  posts: Part
  /** Also those of which the source has only the number. */
  votes: Part
  comments: Part
}

const noPart = (): Part => ({ found: 0, created: 0, skipped: 0 })
const nothing = (): OfBoard => ({ posts: noPart(), votes: noPart(), comments: noPart() })

/** What the source calls the board of a post: null where it has none, undefined where the records do not say. */
type Board = string | null | undefined

/**
 * A board of the site. `boardId` is absent where the site has none for what the source calls `board`: it was deleted, or
 * this is a dry run. Both are null for posts without a board, and absent where the records do not say which it is.
 */
type Row = { boardId?: string | null; board?: string | null } & OfBoard

interface Failure {
  type: string
  code: string
  count: number
  first: string
  /** The first records, by their row in a table and their title or name, as far as they have them. */
  rows: { row?: number; title?: string }[]
}

/** What an import creates that posts are sorted by. */
interface Place {
  type: 'board' | 'status' | 'tag'
  name: string
}

/** Causes of refusals that are named. */
const MOST_CAUSES = 50
/** How many refused records a cause names. */
const MOST_ROWS = 20
/** Characters of the title of a refused record. */
const MOST_OF_TITLE = 100
/** How many new boards, statuses and tags the balance names. */
const MOST_PLACES = 300

/** Counts the records of an import, by type, by board and by why they were refused. */
export class Balance {
  readonly #types = new Map<RecordType | 'other', Counts>()
  readonly #boards = new Map<Board, OfBoard>()
  readonly #names = new Map<string, string>()
  readonly #boardOf = new Map<string, Board>()
  readonly #failed = new Map<string, Failure>()
  #otherFailures = 0
  /** The first boards, statuses and tags that are created. */
  readonly places: Place[] = []

  /** A record, what can be read of a line that is none, or a line that says nothing. */
  count(placed: Placed | undefined, outcome: Outcome, error?: AppError): void {
    const type = placed?.type ?? 'other'
    const of = this.#types.get(type) ?? noCounts()
    this.#types.set(type, of)
    of.found += 1
    of[outcome] += 1
    if (error) this.#countFailure(type, error, placed)
    if (placed && outcome === 'created') this.#namePlace(placed)
    if (placed) this.#countOnBoard(placed, outcome)
  }

  #namePlace({ type, fields: { name } }: Placed): void {
    if (type !== 'board' && type !== 'status' && type !== 'tag') return
    if (this.places.length < MOST_PLACES) this.places.push({ type, name: shortened(name ?? '', LENGTHS.placeName) })
  }

  #countFailure(type: string, error: AppError, placed: Placed | undefined): void {
    const key = `${type} ${error.code} ${causeOf(error)}`
    const there = this.#failed.get(key) ?? { type, code: error.code, count: 0, first: error.message, rows: [] }
    if (!this.#failed.has(key) && this.#failed.size >= MOST_CAUSES) {
      this.#otherFailures += 1
      return
    }
    this.#failed.set(key, there)
    there.count += 1
    const named = nameOf(placed)
    if (named && there.rows.length < MOST_ROWS) there.rows.push(named)
  }

  #countOnBoard({ type, fields }: Placed, outcome: Outcome): void {
    const { sourceId, name, post = '' } = fields
    if (type === 'board' && sourceId !== undefined && typeof name === 'string')
      this.#names.set(sourceId, shortened(name, LENGTHS.placeName))
    if (type === 'post') {
      const board = fields.board === UNREADABLE ? undefined : (fields.board ?? null)
      if (sourceId !== undefined) this.#boardOf.set(sourceId, board)
      const { posts, votes } = this.#of(board)
      add(posts, outcome, 1)
      add(votes, outcome, fields.importedVotes ?? 0)
    }
    if (type === 'vote') add(this.#of(this.#boardOf.get(post)).votes, outcome, 1)
    if (type === 'comment') add(this.#of(this.#boardOf.get(post)).comments, outcome, 1)
  }

  #of(board: Board): OfBoard {
    const there = this.#boards.get(board) ?? nothing()
    this.#boards.set(board, there)
    return there
  }

  get types(): ({ type: string } & Counts)[] {
    return [...RECORD_TYPES, 'other' as const].flatMap((type) => {
      const of = this.#types.get(type)
      return of ? [{ type, ...of }] : []
    })
  }

  /** Why records were refused, each cause once. */
  get failures(): Failure[] {
    return [...this.#failed.values()]
  }

  /** How many records were refused for causes that `failures` does not list, because it is full. Undefined if none were. */
  get otherFailures(): number | undefined {
    return this.#otherFailures || undefined
  }

  /**
   * The same by board of the site, in the order of the source. `boardId` is the board of posts that name none, `boards`
   * finds those of the site by what the source calls them.
   */
  async byBoard(
    ctx: Context,
    {
      boardId,
      boards,
    }: { boardId: string | null; boards: (ids: readonly string[]) => Promise<ReadonlyMap<string, string>> },
  ): Promise<Row[]> {
    const here = await boards([...this.#boards.keys()].filter((board) => typeof board === 'string'))
    const names = await boardNames(ctx.db, [...here.values(), ...(boardId === null ? [] : [boardId])])
    const rows = new Map<string, Row>()
    for (const [board, of] of this.#boards) {
      const id = typeof board === 'string' ? here.get(board) : board === null ? boardId : undefined
      const { key, row } = this.#rowOf(board, { id, name: typeof id === 'string' ? names.get(id) : undefined })
      const there = rows.get(key)
      rows.set(key, there ? { ...there, ...sum(there, of) } : { ...row, ...of })
    }
    return [...rows.values()]
  }

  #rowOf(
    board: Board,
    { id, name }: { id: string | null | undefined; name: string | undefined },
  ): { key: string; row: Omit<Row, keyof OfBoard> } {
    if (typeof id === 'string' && name !== undefined) return { key: `id ${id}`, row: { boardId: id, board: name } }
    if (typeof board !== 'string') return board === null ? { key: 'none', row: { boardId: null, board: null } } : { key: 'unknown', row: {} } // prettier-ignore
    const named = this.#names.get(board) ?? board
    return { key: id?.startsWith(PRETENDED) ? id : `name ${searchKey(named)}`, row: { board: named } }
  }
}

/** Where a record is, and what it is called. Undefined where it does not say either. */
function nameOf(placed: Placed | undefined): Failure['rows'][number] | undefined {
  const { row, title, name } = placed?.fields ?? {}
  const called = shortened(title || (name ?? ''), MOST_OF_TITLE)
  if (row === undefined && called === '') return undefined
  return { ...(row !== undefined && { row }), ...(called !== '' && { title: called }) }
}

/** What errors about the same have in common: fields and rules, or else the message without what was given. */
function causeOf({ errors, message }: AppError): string {
  const cause = errors?.map(({ field, code, rule }) => `${field} ${code} ${rule}`).join('; ')
  return (cause ?? message.replaceAll(/"[^"]*"|\d+/g, '')).slice(0, MOST_OF_CAUSE)
}

const MOST_OF_CAUSE = 1000

function add(part: Part, outcome: Outcome, count: number): void {
  part.found += count
  if (outcome === 'created') part.created += count
  else part.skipped += count
}

function sum(one: OfBoard, other: OfBoard): OfBoard {
  const of = (key: keyof OfBoard): Part => ({
    found: one[key].found + other[key].found,
    created: one[key].created + other[key].created,
    skipped: one[key].skipped + other[key].skipped,
  })
  return { posts: of('posts'), votes: of('votes'), comments: of('comments') }
}
