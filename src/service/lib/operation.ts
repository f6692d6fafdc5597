import type { Static, TObject, TSchema } from 'typebox'
import { AppError, type Failure } from '../../core/errors.js'
import { assertReadable, parse } from '../../core/fields.js'
import type { LimitName } from '../../core/limits.js'
import {
  assertAllowed,
  assertOwner,
  assertSignedIn,
  assertVerified,
  isOperator,
  type Access,
  type Actor,
} from './access.js'
import type { Body } from './body.js'
import { narrowed, type CachedContext, type Context, type HourlyContext } from './context.js'
import { renameSession } from './sessions.js'

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
type Fields = Record<string, unknown>

/**
 * Declares that responses may be cached until the rows they were read from change: 'public' where they are the same for
 * everyone (the operation then runs as a visitor), 'actor' where they depend on the actor. Such an operation gets a
 * `HourlyContext`, and is never limited: a cached response would not be counted.
 */
export type CacheScope = 'public' | 'actor'

/** One operation of the service. The command line, the HTTP server and the remote client run the same definition. */
export interface Operation<In = never, Out = unknown, Subject = never> {
  id: string // 'boards.create': OpenAPI operationId and log field
  summary: string
  http: `${Method} /${string} ${200 | 201 | 202 | 204}` // below /api/v1, with the status of success
  access: Access // required, so that no operation is public by omission
  inputFirst?: true // as the contract has it: invalid input is a 400 also for accounts that may not call it
  /** With `unless-declined`, who operates the site and who sends `noMail` do without. */
  mails?: true | 'unless-declined' // refused with MAIL_CONFIG_MISSING, before any other check, where no mail is configured
  ownPages?: true // refused where a browser sends it from a page of another site
  writes?: 'content' // others see what it writes: posts, comments, votes, reports; `accounts.unverified` may refuse it
  limit?: LimitName // counted for the address of the client, and for the account: `email` of the input, or the actor
  weight?(this: void, input: Fields): number // how many of the limit one request counts; absent: 1
  cache?: CacheScope // absent: its responses are never cached
  download?: { types: readonly string[] } // declared by `download`: `run` answers a LongBody of one of these media types
  upload?: { accepts: readonly string[]; maxBytes: number } // declared by `upload`: the context has a body of one of these types
  changesOwnRights?: true // what the caller may do, or proves it by: the session of a browser gets another id
  sensitive?: true // its responses hold secrets or addresses: neither a browser nor a proxy may store them
  errors: readonly Failure[] // its own codes, without those that `execute` and the server add
  input: TObject // flat: every field can also be a flag or a query parameter
  output: TSchema
  adapt?(this: void, input: Fields): Fields // over HTTP, before any check: what published clients send and show no error for
  // The row it is about: this API answers 404 before 403 and 400
  subject?(this: void, ctx: Context, input: Fields): Promise<Subject>
  run(this: void, ctx: Context, input: In, subject: Subject): Promise<Out>
}

/** The rest of a definition: what it has of the request. */
interface Rest<Ctx, I extends TObject, O extends TSchema, S, RunCtx = Ctx> {
  input: I
  output: O
  subject?(this: void, ctx: Ctx, input: Fields): Promise<S>
  run(this: void, ctx: RunCtx, input: Static<I>, subject: S): Promise<Static<O>>
}

type Declared = Omit<Operation, 'input' | 'output' | 'subject' | 'run' | 'cache' | 'download' | 'upload'>
/** A response that is cached for everyone contains neither secrets nor addresses. */
type Scoped = { cache: 'actor'; sensitive?: true } | { cache: 'public'; sensitive?: never }
type Cached<I extends TObject, O extends TSchema, S> = Omit<Declared, 'limit' | 'mails' | 'writes' | 'sensitive'> &
  Rest<CachedContext, I, O, S, HourlyContext> &
  Scoped & { limit?: never; mails?: never; writes?: never }
type Uncached<I extends TObject, O extends TSchema, S> = Declared & Rest<Context, I, O, S> & { cache?: never }

/** An operation whose responses are cached. A page that is cached calls no other. */
export type CachedOperation<In = never, Out = unknown, Subject = never> = Operation<In, Out, Subject> & {
  cache: CacheScope
}

/** Gives `run` its types from the schemas, and its context from what `cache` declares. */
export function operation<I extends TObject, O extends TSchema, S = undefined>(
  definition: Cached<I, O, S>,
): CachedOperation<Static<I>, Static<O>, S>
export function operation<I extends TObject, O extends TSchema, S = undefined>(
  definition: Uncached<I, O, S>,
): Operation<Static<I>, Static<O>, S>
export function operation(definition: unknown): unknown {
  return definition
}

/** An operation whose types are known only from its schemas. */
export type AnyOperation = Operation<unknown, unknown, unknown>

/** How a surface reaches an operation: in this process, over HTTP, or through a test server. Uploads have a body. */
export type Call = <In, Out, Subject>(op: Operation<In, Out, Subject>, input: unknown, body?: Body) => Promise<Out>

/** The same for fields that are known here, not typed by somebody: the compiler refuses a field that the operation does not have. */
export type KnownCall = <In, Out, Subject>(
  op: Operation<In, Out, Subject>,
  input: { [Field in keyof NoInfer<In>]?: In[Field] | undefined },
) => Promise<Out>

/** The same for operations that declare a cache. */
export type CachedCall = <In, Out, Subject>(
  op: CachedOperation<In, Out, Subject>,
  input: { [Field in keyof NoInfer<In>]?: In[Field] | undefined },
) => Promise<Out>

/** Runs an operation after all checks. Every call of every surface goes through it. */
export async function execute<In, Out, Subject>(
  op: Operation<In, Out, Subject>,
  ctx: Context,
  input: unknown,
): Promise<Out> {
  assertMail(op, ctx, input)
  assertSignedIn(op.access, ctx.actor)
  assertReadable(input)
  const own = (op.cache ? narrowed(ctx) : ctx) as Context // a cached operation declares an HourlyContext
  const subject = (await op.subject?.(own, input as Fields)) as Subject // an operation without `subject` has the type undefined here
  if (!op.inputFirst) assertAllowed(op.access, ctx.actor)
  if (op.writes) assertVerified(ctx.actor)
  const checked = parse(op.input, input) as In
  if (op.inputFirst) assertAllowed(op.access, ctx.actor)
  assertOwner(op.access, ctx.actor)
  const run = () => op.run(own, checked, subject)
  const output = await (op.limit && ctx.limits
    ? ctx.limits.guard(op.limit, ctx, accountOf(op.access, ctx, checked as Fields), run, op.weight?.(checked as Fields))
    : run())
  if (op.changesOwnRights) await renameSession(ctx)
  return output
}

/**
 * What refuses the operation whatever is sent, so that a form can say it before somebody fills it in. Visitors sign in
 * first.
 */
export async function refusalOf(op: AnyOperation, ctx: Context): Promise<AppError | undefined> {
  try {
    assertMail(op, ctx)
    if (ctx.actor.userId === null || ctx.actor.refusal) return undefined
    assertAllowed(op.access, ctx.actor)
    if (op.writes) assertVerified(ctx.actor)
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  return op.limit && ctx.limits?.refusal(op.limit, ctx, accountOf(op.access, ctx, {}))
}

/** A visitor names the account. Whoever is signed in cannot choose another one. */
function accountOf(access: Access, { actor }: Context, { email }: Fields): string | undefined {
  if (access === 'public' && typeof email === 'string') return email.trim().toLowerCase()
  return actor.userId ?? undefined
}

/** Checked first. The HTTP server calls it before it reads the body, where nothing in that could change the result. */
export function assertMail(
  op: Pick<AnyOperation, 'mails'>,
  { mail, actor }: Pick<Context, 'mail'> & { actor?: Actor },
  input?: unknown,
): void {
  if (!op.mails || mail) return
  if (
    op.mails === 'unless-declined' &&
    ((actor && isOperator(actor)) || (input as Fields | undefined)?.noMail === true)
  )
    return
  throw new AppError(
    'MAIL_CONFIG_MISSING',
    'Mail is not configured, so no mail can be sent. Set mail.url (feedbackctl help mail-url).',
  )
}
