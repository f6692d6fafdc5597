import type { TSchema } from 'typebox'
import { redactedUrl } from '../core/addresses.js'
import { AppError, isErrorCode, type ErrorBody } from '../core/errors.js'
import type { AnyOperation, Call } from '../service/lib/operation.js'
import { requestOf, rootOf } from './request.js'
import { bodyFrom, read, send, type Answer, type Response } from './transport.js'

export interface Remote {
  server: string
  token?: string | undefined
  dryRun?: boolean
  /** How long to wait while the server sends nothing, in milliseconds (default: 30,000). */
  timeout?: number | undefined
  /** Told of every request, with the status of the answer, and of the milliseconds it took. */
  trace?: ((request: string, ms: number) => void) | undefined
  /** Whether the token is one that `login` saved. */
  isSaved?: boolean
  /** Told of each answer to a visitor, where a token was sent that does not count. */
  onRefused?(this: void, message: string): void
}

/** Calls operations of a feedbackctl server over HTTP. An error response becomes the AppError that the server threw. */
export const remote = ({ server, token, dryRun = false, isSaved = false, timeout, onRefused, trace }: Remote): Call => {
  const root = rootOf(server)
  if (token !== undefined && !/^[\w.~+/=-]+$/.test(token))
    throw new AppError(
      'CONFIG_INVALID',
      'The token contains characters that are not valid in a token. Check the file or variable it comes from.',
    )
  return async (op, input, sent) => {
    const { method, url, fields, headers: own } = requestOf(op, input, { root, dryRun })
    const headers = {
      'user-agent': 'feedbackctl',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...own,
      ...(method !== 'GET' && { 'content-type': sent?.type ?? 'application/json' }),
    }
    const body = method === 'GET' ? undefined : (sent?.bytes ?? JSON.stringify(fields))
    const start = performance.now()
    const tell = (result: string | number) =>
      trace?.(`${method} ${redactedUrl(url.href)} ${result}`, performance.now() - start)
    const response = await send(url, { method, headers, timeout }, body).catch((error: unknown) => {
      tell('failed')
      throw error
    })
    const { status } = response
    if (status === 200 && isLong(op, response)) {
      tell(status)
      return bodyFrom(url, response) as never
    }
    const received = await read(url, response, timeout).catch((error: unknown) => {
      tell('failed')
      throw error
    })
    tell(status)
    const said = refusalOf(root, received.refusal, isSaved)
    if (status < 300 && said !== undefined) onRefused?.(said)
    if (status === 204) return undefined as never
    const answer = bodyOf(received, 'const' in op.output)
    // The server serializes it by the operation's own schema.
    if (!op.download && status >= 200 && status < 300 && isLike(op.output, answer)) return answer as never
    throw errorFrom(url, op, status, answer as ErrorBody | undefined, isSaved ? root : undefined)
  }
}

/** Whether an answer is a long body. An older server sends some downloads as other JSON, which is no file. */
const isLong = ({ download, upload }: Pick<AnyOperation, 'download' | 'upload'>, { file, type }: Response): boolean =>
  download !== undefined && (upload ? download.types.includes(type.split(';')[0] ?? '') : file !== undefined)

/** JSON, or a body that is one word. Undefined for anything else. */
function bodyOf({ type, text }: Answer, isWord: boolean): unknown {
  if (isWord && type.startsWith('text/plain')) return text
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Whether an answer has the required lists and objects of the operation's output, at any depth, and at least one field in
 * each object. A server of another version may lack single fields.
 */
function isLike(output: TSchema, answer: unknown): boolean {
  const { type, required = [], properties = {}, items } = output as Shape
  if (type === 'array') return Array.isArray(answer) && answer.every((each) => items === undefined || isLike(items, each)) // prettier-ignore
  if (type !== 'object') return answer !== undefined
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return false
  const fields = new Map(Object.entries(answer))
  if (required.length > 0 && !required.some((name) => fields.has(name))) return false
  return required.every((name) => {
    const expected = properties[name]
    return (expected?.type !== 'array' && expected?.type !== 'object') || isLike(expected, fields.get(name))
  })
}

interface Shape {
  type?: string
  required?: readonly string[]
  properties?: Record<string, TSchema & { type?: string }>
  items?: TSchema
}

/** Why the token does not count, for people; undefined where it does. */
function refusalOf(server: string, code: string | undefined, isSaved: boolean): string | undefined {
  switch (code) {
    case undefined:
      return undefined
    case 'USER_BLOCK':
      return `Your account at ${server} is blocked.`
    case 'USER_NOT_FOUND':
      return `Your account at ${server} no longer exists.`
    case 'ACCESS_DENIED':
      return `Your account at ${server} has no permissions.`
    default:
      return isSaved ? `Your session at ${server} has ended.` : `${server} does not accept the token.`
  }
}

function errorFrom(
  url: URL,
  op: Pick<AnyOperation, 'access' | 'errors'>,
  status: number,
  body: ErrorBody | undefined,
  /** Where `login` saved the token. */
  signedInTo: string | undefined,
): AppError {
  if (!isErrorCode(body?.code))
    return new AppError(
      'SERVER_UNREACHABLE',
      `${url.origin} answered ${status} to ${url.pathname}, but not as feedbackctl does. Check --server.`,
    )
  // Only the account of the session can be missing where an operation looks up no other account.
  const looksUpOthers = op.access !== 'signed-in' && op.access !== 'session' && op.errors.includes('USER_NOT_FOUND')
  const ofSession = body.code === 'USER_NOT_FOUND' && !looksUpOthers
  const isEnded = body.code === 'INVALID_TOKEN' && !op.errors.some((failure) => failure.startsWith('INVALID_TOKEN'))
  const message =
    body.code === 'INVALID_AUTH_HEADER'
      ? `Not signed in to ${url.origin}.`
      : isEnded && signedInTo !== undefined
        ? `Your session at ${signedInTo} has ended.`
        : body.message
  return new AppError(`${body.code} ${status}`, message, {
    errors: body.errors,
    why: body.why,
    reason: ofSession ? 'session-account-deleted' : undefined,
  })
}
