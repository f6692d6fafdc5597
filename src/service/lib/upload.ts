import type { Static, TObject, TSchema } from 'typebox'
import { AppError } from '../../core/errors.js'
import type { Body } from './body.js'
import type { Context } from './context.js'
import type { Operation } from './operation.js'

// An upload is an operation whose input may be longer than the memory, or is a file.

type MediaType = `${string}/${string}`
type Declared = Pick<Operation, 'id' | 'summary' | 'access' | 'writes' | 'limit' | 'sensitive' | 'errors'>

interface Definition<I extends TObject, O extends TSchema, S, Out> extends Declared {
  http: `POST /${string} ${200 | 201}`
  /** The media types that the body may have. */
  accepts: readonly MediaType[]
  /** Bytes of a body that a server takes. At the command line, nobody needs to be kept from sending more. */
  maxBytes: number
  /** The media types of the answer, where it is a long body. */
  types?: readonly MediaType[]
  /** Fields of the query: the body is none of them. */
  input: I
  output: O
  subject?(this: void, ctx: Context, input: Record<string, unknown>): Promise<S>
  /** Takes the body. What it throws before its answer begins is an answer of the contract. */
  run(this: void, ctx: Context, input: Static<I>, body: Body, subject: S): Promise<Out>
}

/** Declares an upload. It is listed, checked and called as any operation, with the body beside its input. */
export const upload = <I extends TObject, O extends TSchema, S = undefined, Out = Static<O>>({
  accepts,
  maxBytes,
  types,
  run,
  ...declared
}: Definition<I, O, S, Out>): Operation<Static<I>, Out, S> => ({
  ...declared,
  upload: { accepts, maxBytes },
  ...(types && { download: { types } }),
  run: (ctx, input, subject) => run(ctx, input, bodyOf(ctx, accepts), subject),
})

function bodyOf({ body }: Context, accepts: readonly string[]): Body {
  if (body && accepts.includes(body.type)) return body
  throw new AppError('UNSUPPORTED_MEDIA_TYPE', `Send the body with "Content-Type: ${accepts.join('" or "')}".`)
}
