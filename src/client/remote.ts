import type { OutgoingHttpHeaders } from 'node:http'
import type { TSchema } from 'typebox'
import { redactedUrl } from '../core/addresses.js'
import { AppError, isErrorCode, type ErrorBody } from '../core/errors.js'
import { parse } from '../core/fields.js'
import { API_ROOT, DRY_RUN_HEADER, REFUSAL_HEADER } from '../core/wire.js'
import type { AnyOperation, Call } from '../service/lib/operation.js'

const TIMEOUT_MS = 30_000
/** A list of a hundred posts has 50 MB at most. */
const MAX_BYTES = 64 * 1024 * 1024

export interface Remote {
  server: string
  token?: string | undefined
  dryRun?: boolean
  /** Told of every request, with the status of the answer, and of the milliseconds it took. */
  trace?: ((request: string, ms: number) => void) | undefined
  /** Whether the token is one that `login` saved. */
  isSaved?: boolean
  /** Told of each answer to a visitor, where a token was sent that does not count. */
  onRefused?(this: void, message: string): void
}

/** Calls operations of a feedbackctl server over HTTP. An error response becomes the AppError that the server threw. */
export const remote = ({ server, token, dryRun = false, isSaved = false, onRefused, trace }: Remote): Call => {
  // `serve` and `demo` print the URL with the API root.
  const root = server.replace(/\/+$/, '').replace(/\/api\/v1$/, '')
  if (token !== undefined && !/^[\w.~+/=-]+$/.test(token))
    throw new AppError(
      'CONFIG_INVALID',
      'The token contains characters that are not valid in a token. Check the file or variable it comes from.',
    )
  return async (op, input) => {
    // The server never sees a value that a path cannot carry, and adapts some that a command refuses
    if (op.http.includes(':') || op.adapt) parse(op.input, input)
    const [method, path] = op.http.split(' ') as [string, string]
    const fields = new Map(Object.entries(input as Record<string, unknown>).filter(([, value]) => value !== undefined))
    const url = new URL(root + API_ROOT + path.replaceAll(/:(\w+)/g, (_, name: string) => takeParam(fields, name)))
    if (method === 'GET') for (const [name, value] of fields) url.searchParams.set(name, [value].flat().join(','))
    const headers = {
      'user-agent': 'feedbackctl',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(dryRun && { [DRY_RUN_HEADER]: '1' }),
      ...(method !== 'GET' && { 'content-type': 'application/json' }),
    }
    const body = method === 'GET' ? undefined : JSON.stringify(Object.fromEntries(fields))
    const start = performance.now()
    const tell = (result: string | number) =>
      trace?.(`${method} ${redactedUrl(url.href)} ${result}`, performance.now() - start)
    const response = await send(url, { method, headers }, body).catch((error: unknown) => {
      tell('failed')
      throw error
    })
    tell(response.status)
    const said = refusalOf(root, response.refusal, isSaved)
    if (response.status < 300 && said !== undefined) onRefused?.(said)
    if (response.status === 204) return undefined as never
    const answer = bodyOf(response, 'const' in op.output)
    // The server serializes it by the operation's own schema.
    if (response.status >= 200 && response.status < 300 && isLike(op.output, answer)) return answer as never
    throw errorFrom(url, op, response.status, answer as ErrorBody | undefined, isSaved ? root : undefined)
  }
}

interface Response {
  status: number
  type: string
  text: string
  /** Why the token does not count. */
  refusal: string | undefined
}

/** JSON, or a body that is one word. Undefined for anything else. */
function bodyOf({ type, text }: Response, isWord: boolean): unknown {
  if (isWord && type.startsWith('text/plain')) return text
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether an answer has the lists and objects that the output of an operation has at least. */
function isLike(output: TSchema, answer: unknown): boolean {
  const { type, required = [], properties = {} } = output as Shape
  if (type === 'array') return Array.isArray(answer)
  if (type !== 'object') return answer !== undefined
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return false
  return required.every((name) => {
    const expected = properties[name]?.type
    return (expected !== 'array' && expected !== 'object') || isLike(properties[name] as TSchema, (answer as Record<string, unknown>)[name]) // prettier-ignore
  })
}

interface Shape {
  type?: string
  required?: readonly string[]
  properties?: Record<string, { type?: string }>
}

/** Moves a field into the path. */
function takeParam(fields: Map<string, unknown>, name: string): string {
  const value = fields.get(name)
  fields.delete(name)
  return encodeURIComponent(String(value))
}

/** Sends a request with `node:http`, as loading `fetch` takes twice as long as the rest of a command. */
async function send(
  url: URL,
  options: { method: string; headers: OutgoingHttpHeaders },
  body: string | undefined,
): Promise<Response> {
  const { request } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'))
  const unreachable = (cause: unknown) =>
    new AppError('SERVER_UNREACHABLE', `Cannot reach ${url.origin}: ${reasonOf(url, cause)}.`, { cause })
  return new Promise<Response>((resolve, reject) => {
    const fail = (cause: unknown) => reject(unreachable(cause))
    const timer = setTimeout(
      () => sent.destroy(new Error(`no response within ${TIMEOUT_MS / 1000} seconds`)),
      TIMEOUT_MS,
    )
    // Node adds no length to a DELETE
    const headers = { ...options.headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) }
    const sent = request(url, { ...options, headers }, (response) => {
      const parts: Buffer[] = []
      let bytes = 0
      response.on('data', (part: Buffer) => {
        bytes += part.length
        if (bytes <= MAX_BYTES) return void parts.push(part)
        fail(new Error(`its response is larger than ${MAX_BYTES / 1024 / 1024} MB`))
        sent.destroy()
      })
      response.on('error', fail)
      response.on('end', () => {
        const { statusCode: status = 0, headers: received } = response
        if (status >= 300 && status < 400) return fail(new Error(`it redirects to ${received.location ?? 'another address'}. Give that address`)) // prettier-ignore
        const refusal = [received[REFUSAL_HEADER]].flat()[0]
        resolve({ status, type: received['content-type'] ?? '', text: Buffer.concat(parts).toString(), refusal })
      })
    })
    sent.on('error', fail).on('close', () => clearTimeout(timer))
    sent.end(body)
  })
}

function reasonOf(url: URL, error: unknown): string {
  const { message, code } = error as { message?: string; code?: string }
  if (url.protocol === 'https:' && /^(EPROTO|ERR_SSL_)/.test(code ?? ''))
    return `it does not answer with TLS. If it has none, use ${url.origin.replace('https:', 'http:')}`
  return message || (code ?? 'unknown reason') // an AggregateError of several addresses has no message
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
