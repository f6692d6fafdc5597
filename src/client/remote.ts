import { AppError, isErrorCode, type ErrorBody } from '../core/errors.js'
import { parse } from '../core/fields.js'
import { API_ROOT, DRY_RUN_HEADER } from '../core/wire.js'
import type { AnyOperation, Call } from '../service/lib/operation.js'

const TIMEOUT_MS = 30_000

export interface Remote {
  server: string
  token?: string | undefined
  dryRun?: boolean
}

/** Calls operations of a feedbackctl server over HTTP. An error response becomes the AppError that the server threw. */
export const remote = ({ server, token, dryRun = false }: Remote): Call => {
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
    const response = await send(url, {
      method,
      headers,
      ...(method !== 'GET' && { body: JSON.stringify(Object.fromEntries(fields)) }),
    })
    if (response.status === 204) return undefined as never
    // The whole body is one word.
    const isText = response.headers.get('content-type')?.startsWith('text/plain') && 'const' in op.output
    const body = await (isText ? response.text() : response.json()).catch(() => undefined)
    // The server serializes it by the operation's own schema.
    if (response.ok && body !== undefined) return body as never
    throw errorFrom(url, op, response.status, body as ErrorBody | undefined)
  }
}

/** Moves a field into the path. */
function takeParam(fields: Map<string, unknown>, name: string): string {
  const value = fields.get(name)
  fields.delete(name)
  return encodeURIComponent(String(value))
}

const send = (url: URL, init: RequestInit): Promise<Response> =>
  fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((error: unknown) => {
    throw new AppError('SERVER_UNREACHABLE', `Cannot reach ${url.origin}: ${reasonOf(url, error)}.`, { cause: error })
  })

function reasonOf(url: URL, error: unknown): string {
  const { cause, message } = error as { cause?: { message?: string; code?: string }; message: string }
  if (url.protocol === 'https:' && /^(EPROTO|ERR_SSL_)/.test(cause?.code ?? ''))
    return `it does not answer with TLS. If it has none, use ${url.origin.replace('https:', 'http:')}`
  return cause?.message || cause?.code || message
}

function errorFrom(
  url: URL,
  op: Pick<AnyOperation, 'access' | 'errors'>,
  status: number,
  body: ErrorBody | undefined,
): AppError {
  if (!isErrorCode(body?.code))
    return new AppError(
      'SERVER_UNREACHABLE',
      `${url.origin} answered ${status} to ${url.pathname}, but not as feedbackctl does. Check --server.`,
    )
  // Only the account of the session can be missing where an operation looks up no other account.
  const looksUpOthers = op.access !== 'signed-in' && op.access !== 'session' && op.errors.includes('USER_NOT_FOUND')
  const ofSession = body.code === 'USER_NOT_FOUND' && !looksUpOthers
  return new AppError(`${body.code} ${status}`, body.message, {
    errors: body.errors,
    why: body.why,
    reason: ofSession ? 'session-account-deleted' : undefined,
  })
}
