import type { Static, TObject, TSchema } from 'typebox'
import { AppError } from '../../core/errors.js'
import { assertAllowed, assertSignedIn, type Access, type Actor } from './access.js'
import type { Piece } from './body.js'
import type { Context } from './context.js'
import type { Operation } from './operation.js'

export type { Piece } from './body.js'

// A download is an operation whose answer may be longer than the memory.

/** The answer of a download. It is read from the database as it is taken, and reading ends where the taker stops. */
export interface LongBody {
  /** The name that a browser saves it by. Absent: it is no file. */
  file?: string
  type: string
  pieces: AsyncIterable<Piece>
  /** What ends it where it fails on the way. Absent: the connection is broken. */
  end?(this: void, error: AppError): Piece
}

type Declared = Pick<Operation, 'id' | 'summary' | 'access' | 'limit' | 'sensitive' | 'errors'>

interface Definition<I extends TObject, O extends TSchema, S> extends Declared {
  http: `GET /${string} 200`
  /** The media types that the body may have. */
  types: readonly `${string}/${string}`[]
  input: I
  /** The schema of the whole body, for the API document. */
  output: O
  subject?(this: void, ctx: Context, input: Record<string, unknown>): Promise<S>
  /**
   * The name of the file, its type, and its body. What it throws before the first piece is an answer of the contract; what the
   * pieces throw later breaks the connection.
   */
  rows(this: void, ctx: Context, input: Static<I>, subject: S): Promise<LongBody & { file: string }>
}

/** Declares a download. It is listed, checked and called as any operation. */
export const download = <I extends TObject, O extends TSchema, S = undefined>({
  types,
  rows,
  ...declared
}: Definition<I, O, S>): Operation<Static<I>, LongBody, S> => ({
  ...declared,
  download: { types },
  async run(ctx, input, subject) {
    const { file, type, pieces } = await rows(ctx, input, subject)
    return {
      file: file.replaceAll(/[^\w.-]/g, '_'),
      type,
      pieces: inChunks(pieces, () => assertStill(declared, ctx, 'download')),
    }
  },
})

/** Characters of a chunk at least, but for the last. */
const CHUNK = 64 * 1024

/** Joins short pieces. Before it reads on, it asks whether it may. */
async function* inChunks(pieces: AsyncIterable<Piece>, mayGoOn: () => Promise<void>): AsyncGenerator<Piece> {
  let texts: string[] = []
  let [length, rows] = [0, 0]
  for await (const piece of pieces) {
    if (piece.bytes) {
      yield piece
      await mayGoOn()
      continue
    }
    texts.push(piece.text)
    length += piece.text.length
    rows += piece.rows
    if (length < CHUNK) continue
    yield { text: texts.join(''), rows }
    texts = []
    length = rows = 0
    await mayGoOn()
  }
  if (length > 0) yield { text: texts.join(''), rows }
}

/** Throws where somebody lost a right since it began: by a block, a new role, or the end of the session. */
export async function assertStill(
  { access }: { access: Access },
  { actor, actorNow }: Context,
  what: 'download' | 'upload',
): Promise<void> {
  if (!actorNow) return
  const now = await actorNow()
  assertSignedIn(access, now)
  assertAllowed(access, now)
  if (!isSame(actor, now))
    throw new AppError('NOT_ENOUGH_PERMISSION', `The rights of the account have changed. Start the ${what} again.`)
}

const isSame = (one: Actor, other: Actor): boolean =>
  one.userId === other.userId &&
  one.isOwner === other.isOwner &&
  one.permissions.size === other.permissions.size &&
  [...one.permissions].every((each) => other.permissions.has(each))
