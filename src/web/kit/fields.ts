import { AppError } from '../../core/errors.js'
import type { Fields } from './page.js'

/** Maximum number of form fields. A body has room for tens of thousands, which would block the event loop. */
export const MAX_FIELDS = 200

/** Reads the fields of a form. If a field is repeated, the last value counts. Fields in `many` keep every value, see `listed`. */
export function fieldsOf(body: unknown, many: readonly string[] = []): Fields {
  if (typeof body !== 'object' || body === null) return {}
  const entries = Object.entries(body)
  if (entries.flatMap(([, value]) => value as unknown).length > MAX_FIELDS)
    throw new AppError('BAD_REQUEST', `A form has at most ${MAX_FIELDS} fields.`)
  const textOf = (name: string, value: unknown): unknown => {
    if (!Array.isArray(value)) return value
    return many.includes(name) ? value.join('\n') : value.at(-1)
  }
  return Object.fromEntries(
    entries.map(([name, value]) => [name, String(textOf(name, value)).replaceAll('\r\n', '\n')]),
  )
}

/** The values of a field that an action declares in `many`. */
export const listed = (value: string | undefined): string[] => (value ?? '').split('\n').filter((each) => each !== '')

/** The fields in JSON that a form carried; none where it is no JSON. */
export function fieldsIn(json: string | undefined): Fields {
  try {
    return fieldsOf(JSON.parse(json ?? '{}'))
  } catch {
    return {}
  }
}

/** Path and query of an address. */
export function pathAndQuery(url: string): [path: string, query: Record<string, string>] {
  const at = url.indexOf('?')
  if (at < 0) return [url, {}]
  return [url.slice(0, at), Object.fromEntries(new URLSearchParams(url.slice(at + 1)))]
}
