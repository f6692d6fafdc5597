import type { AppError } from '../../core/errors.js'
import { importedBoardNames } from '../../db/imports.js'
import type { Context } from './context.js'
import { RECORD_TYPES, type ImportRecord, type Outcome, type RecordType } from './importrecords.js'

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

/** What the source calls the board of a post: null where it has none, undefined where the post is not among the records. */
type Board = string | null | undefined

/** Counts the records of an import, by type, by board and by why they were refused. */
export class Balance {
  readonly #types = new Map<RecordType | 'other', Counts>()
  readonly #boards = new Map<Board, OfBoard>()
  readonly #names = new Map<string, string>()
  readonly #boardOf = new Map<string, Board>()
  readonly #failed = new Map<string, { type: string; code: string; count: number; first: string }>()

  /** A record, or a line that is none. */
  count(record: ImportRecord | undefined, outcome: Outcome, error?: AppError): void {
    const type = record?.type ?? 'other'
    const of = this.#types.get(type) ?? noCounts()
    this.#types.set(type, of)
    of.found += 1
    of[outcome] += 1
    if (error) {
      const key = `${type} ${error.code}`
      const failed = this.#failed.get(key) ?? { type, code: error.code, count: 0, first: error.message }
      this.#failed.set(key, failed)
      failed.count += 1
    }
    if (record) this.#countOnBoard(record, outcome)
  }

  #countOnBoard({ type, fields }: ImportRecord, outcome: Outcome): void {
    if (type === 'board') this.#names.set(fields.sourceId, fields.name)
    if (type === 'post') {
      const board = fields.board ?? null
      this.#boardOf.set(fields.sourceId, board)
      const { posts, votes } = this.#of(board)
      add(posts, outcome, 1)
      add(votes, outcome, fields.importedVotes ?? 0)
    }
    if (type === 'vote') add(this.#of(this.#boardOf.get(fields.post)).votes, outcome, 1)
    if (type === 'comment') add(this.#of(this.#boardOf.get(fields.post)).comments, outcome, 1)
  }

  #of(board: Board): OfBoard {
    const there = this.#boards.get(board) ?? { posts: noPart(), votes: noPart(), comments: noPart() }
    this.#boards.set(board, there)
    return there
  }

  get types(): ({ type: string } & Counts)[] {
    return [...RECORD_TYPES, 'other' as const].flatMap((type) => {
      const of = this.#types.get(type)
      return of ? [{ type, ...of }] : []
    })
  }

  /** Why records were refused, each reason once. */
  get failures(): { type: string; code: string; count: number; first: string }[] {
    return [...this.#failed.values()]
  }

  /**
   * The same by board, in the order of the source. `board` is null for posts without one, and absent for what belongs to
   * posts that are not among the records. `board` of the argument is that of posts that name none.
   */
  async byBoard(
    ctx: Context,
    source: string,
    board: string | undefined,
  ): Promise<({ board?: string | null } & OfBoard)[]> {
    const unnamed = [...this.#boards.keys()].filter((id) => typeof id === 'string' && !this.#names.has(id)) as string[]
    const known = await importedBoardNames(ctx.db, source, unnamed)
    return [...this.#boards].map(([id, of]) => {
      if (id === undefined) return of
      return { board: id === null ? (board ?? null) : (this.#names.get(id) ?? known.get(id) ?? id), ...of }
    })
  }
}

function add(part: Part, outcome: Outcome, count: number): void {
  part.found += count
  if (outcome === 'created') part.created += count
  else part.skipped += count
}
