import { parse } from '../core/fields.js'
import { API_ROOT, DRY_RUN_HEADER } from '../core/wire.js'
import type { AnyOperation } from '../service/lib/operation.js'

/** The HTTP request of an operation, without credentials. */
export interface RequestOf {
  method: string
  url: URL
  headers: Record<string, string>
  /** The fields of the body. Undefined for none, and for an upload, whose bytes are its body. */
  fields: Record<string, unknown> | undefined
}

/** `serve` and `demo` print the URL with the API root. */
export const rootOf = (server: string): string => server.replace(/\/+$/, '').replace(/\/api\/v1$/, '')

/** The HTTP request of an operation. */
export function requestOf(
  op: Pick<AnyOperation, 'http' | 'adapt' | 'input' | 'upload'>,
  input: unknown,
  { root, dryRun = false }: { root: string; dryRun?: boolean },
): RequestOf {
  // The server never sees a value that a path cannot carry, and adapts some that a command refuses
  if (op.http.includes(':') || op.adapt) parse(op.input, input)
  const [method, path] = op.http.split(' ') as [string, string]
  const fields = new Map(Object.entries(input as Record<string, unknown>).filter(([, value]) => value !== undefined))
  const url = new URL(root + API_ROOT + path.replaceAll(/:(\w+)/g, (_, name: string) => takeParam(fields, name)))
  const isInQuery = method === 'GET' || op.upload !== undefined
  if (isInQuery) for (const [name, value] of fields) url.searchParams.set(name, [value].flat().join(','))
  return {
    method,
    url,
    headers: dryRun ? { [DRY_RUN_HEADER]: '1' } : {},
    fields: isInQuery ? undefined : Object.fromEntries(fields),
  }
}

/** Moves a field into the path. */
function takeParam(fields: Map<string, unknown>, name: string): string {
  const value = fields.get(name)
  fields.delete(name)
  return encodeURIComponent(String(value))
}
