import type { Static, TObject, TSchema } from 'typebox'
import { AppError, type Failure } from '../../core/errors.js'
import { assertReadable, parse } from '../../core/fields.js'
import { assertAllowed, assertOwner, assertSignedIn, type Access } from './access.js'
import type { Context } from './context.js'

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
type Fields = Record<string, unknown>

/**
 * Declares that responses may be cached until the rows they were read from change: 'public' where they are the same for everyone (it then
 * runs as a visitor), 'actor' where they depend on who asks. Such an operation reads only its input, the actor and the database: no clock,
 * no secret, no transaction, nothing outside.
 */
export type CacheScope = 'public' | 'actor'

/** One thing the service can do: written once, reached from the command line, over HTTP and by the remote client. */
export interface Operation<In = never, Out = unknown, Subject = never> {
  id: string // 'boards.create': OpenAPI operationId and log field
  summary: string
  http: `${Method} /${string} ${200 | 201 | 202 | 204}` // below /api/v1, with the status of success
  access: Access // required: leaving it out must not compile
  mails?: true // refused with MAIL_CONFIG_MISSING, before any other check, where no mail is configured
  cache?: CacheScope // absent: its responses are never cached
  errors: readonly Failure[] // its own codes, beside those the gate and the server add
  input: TObject // flat, so that every field can also be a flag or a query parameter
  output: TSchema
  subject?(this: void, ctx: Context, input: Fields): Promise<Subject> // the row it is about: in this API 404 comes before 403 and 400
  run(this: void, ctx: Context, input: In, subject: Subject): Promise<Out>
}

type Definition<I extends TObject, O extends TSchema, S> = Omit<Operation, 'input' | 'output' | 'subject' | 'run'> & {
  input: I
  output: O
  subject?(this: void, ctx: Context, input: Fields): Promise<S>
  run(this: void, ctx: Context, input: Static<I>, subject: S): Promise<Static<O>>
}

/** Gives `run` its types from the schemas. */
export const operation = <I extends TObject, O extends TSchema, S = undefined>(
  definition: Definition<I, O, S>,
): Operation<Static<I>, Static<O>, S> => definition

/** An operation whose types only its schemas tell: what an interpreter sees. */
export type AnyOperation = Operation<unknown, unknown, unknown>

/** How a surface reaches an operation: in this process, over HTTP, or through a test server. */
export type Call = <In, Out, Subject>(op: Operation<In, Out, Subject>, input: unknown) => Promise<Out>

/** The one gate every call goes through, whatever surface it came from: who asks, what is asked, then the work. */
export async function execute<In, Out, Subject>(
  op: Operation<In, Out, Subject>,
  ctx: Context,
  input: unknown,
): Promise<Out> {
  assertMail(op, ctx)
  assertSignedIn(op.access, ctx.actor)
  assertReadable(input)
  const subject = (await op.subject?.(ctx, input as Fields)) as Subject // undefined where the operation has none, which is then its type
  assertAllowed(op.access, ctx.actor)
  const checked = parse(op.input, input) as In
  assertOwner(op.access, ctx.actor)
  return op.run(ctx, checked, subject)
}

/** Thrown before any other check, so by the HTTP server even before it reads the body. */
export function assertMail(op: Pick<AnyOperation, 'mails'>, { mail }: Pick<Context, 'mail'>): void {
  if (!op.mails || mail) return
  throw new AppError(
    'MAIL_CONFIG_MISSING',
    'The mail configuration is missing, so no confirmation could be sent. Set mail.url (feedbackctl help mail).',
  )
}
