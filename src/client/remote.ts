import { AppError, isErrorCode, type ErrorBody } from '../core/errors.js'
import { parse } from '../core/fields.js'
import { API_ROOT, DRY_RUN_HEADER } from '../core/wire.js'
import type { Call } from '../service/lib/operation.js'

/** How long the other side may take to answer, in milliseconds. */
const TIMEOUT = 30_000

export interface Remote {
  server: string
  token?: string | undefined
  dryRun?: boolean
}

/** Calls the operations of another feedbackctl over HTTP; a failure comes back as the AppError it was. */
export const remote = ({ server, token, dryRun = false }: Remote): Call => {
  const root = server.replace(/\/+$/, '').replace(/\/api\/v1$/, '') // also as serve and demo print it
  if (token !== undefined && !/^[\w.~+/=-]+$/.test(token))
    throw new AppError(
      'CONFIG_INVALID',
      'The token has characters that no token has. Check the file or variable it comes from.',
    )
  return async (op, input) => {
    if (op.http.includes(':')) parse(op.input, input) // a path cannot carry every value: the server would never see it
    const [method, path] = op.http.split(' ') as [string, string]
    const fields = new Map(Object.entries(input as Record<string, unknown>).filter(([, value]) => value !== undefined))
    const url = new URL(root + API_ROOT + path.replaceAll(/:(\w+)/g, (_, name: string) => taken(fields, name)))
    if (method === 'GET') for (const [name, value] of fields) url.searchParams.set(name, [value].flat().join(','))
    const headers = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(dryRun && { [DRY_RUN_HEADER]: '1' }),
      ...(method !== 'GET' && { 'content-type': 'application/json' }),
    }
    const response = await reach(url, {
      method,
      headers,
      ...(method !== 'GET' && { body: JSON.stringify(Object.fromEntries(fields)) }),
    })
    if (response.status === 204) return undefined as never
    const isText = response.headers.get('content-type')?.startsWith('text/plain') && 'const' in op.output // such an operation answers one word
    const body = await (isText ? response.text() : response.json()).catch(() => undefined)
    if (response.ok && body !== undefined) return body as never // the server filtered it through the operation's own schema
    throw failure(url, response.status, body as ErrorBody | undefined)
  }
}

function taken(fields: Map<string, unknown>, name: string): string {
  const value = fields.get(name)
  fields.delete(name)
  return encodeURIComponent(String(value))
}

const reach = (url: URL, init: RequestInit): Promise<Response> =>
  fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT) }).catch((error: unknown) => {
    throw new AppError('SERVER_UNREACHABLE', `Cannot reach ${url.origin}: ${reasonOf(error)}.`, { cause: error })
  })

const reasonOf = (error: unknown): string => {
  const { cause, message } = error as { cause?: { message?: string; code?: string }; message: string }
  return cause?.message || cause?.code || message
}

function failure(url: URL, status: number, body: ErrorBody | undefined): AppError {
  if (isErrorCode(body?.code))
    return new AppError(`${body.code} ${status}`, body.message, { errors: body.errors, why: body.why })
  return new AppError(
    'SERVER_UNREACHABLE',
    `${url.origin} answered ${status} to ${url.pathname}, and not as feedbackctl does. Check --server.`,
  )
}
