import { AppError } from '../../core/errors.js'
import { invalidField, type Field } from '../../core/fields.js'
import type { Faults, RecordColumn, Row } from '../../core/records.js'
import type { Body } from './body.js'

/** Lines of JSON. */
export const NDJSON = 'application/x-ndjson'

interface Columns {
  main: string
  fields: readonly Field[]
  /** What CSV calls fields besides their names. */
  names: Readonly<Record<string, string>>
}

/** The rows of an upload: of CSV, whose first line names the columns, or lines of JSON. Empty lines are skipped. */
export async function* rowsIn({ type, bytes }: Body, columns: Columns, longest?: number): AsyncGenerator<Row> {
  const { MOST, textLines } = await import('../../core/records.js')
  const most = longest ?? MOST
  const lines = textLines(bytes, { notUtf8, tooLong: (line) => tooLong(line, most) }, most)
  yield* type === NDJSON ? objects(lines) : records(lines, columns)
}

async function* objects(lines: AsyncIterable<string>): AsyncGenerator<Row> {
  let number = 0
  for await (const text of lines) {
    number += 1
    if (text.trim() !== '') yield { number, name: '', size: text.length, values: objectIn(text) }
  }
}

/** What a line of JSON says. */
export function objectIn(text: string): Row['values'] {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // as for other JSON
  }
  return new AppError('INVALID_JSON', 'The line is not a JSON object.')
}

/**
 * A line without the password hash of its record, otherwise as it is. The hash of a broken line is found by its key. Escaped
 * characters are written out, so that erasing an account finds its address.
 */
export function withoutHash(row: string): string {
  if (!/"passwordHash"|\\[u/]/.test(row)) return row // imports call this for each line
  const values = objectIn(row)
  if (values instanceof AppError) return row.replaceAll(/("passwordHash"\s*:\s*")(?:[^"\\]|\\.)*/g, '$1')
  return JSON.stringify(values, (key, value: unknown) => (key === 'passwordHash' ? undefined : value))
}

async function* records(
  lines: AsyncGenerator<string, undefined>,
  { main, fields, names }: Columns,
): AsyncGenerator<Row> {
  const { columnsIn, headerOf, records: recordsOf } = await import('../../core/records.js')
  const columns = fields.map(({ name: field }): RecordColumn => ({
    names: [...new Set([names[field] ?? field, field])].map((name) => name.toLowerCase()),
    field,
    valueOf: (text) => text,
  }))
  const first = await lines.next()
  if (first.done) return
  const header = headerOf(first.value, columns, main, faults)
  if (!header)
    throw faults.header(`The first line of CSV must name the columns, with ${main}. The columns are: ${columnsIn(columns)}.`) // prettier-ignore
  yield* recordsOf(lines, header, main, faults)
}

const faults: Pick<Faults, 'record' | 'header'> = {
  record: (message) => invalidField({ code: 'INVALID_RECORD', message, field: '', rule: 'a record of CSV' }),
  header: (message) => invalidField({ code: 'INVALID_HEADER', message, field: '', rule: 'a header of CSV' }),
}

const notUtf8 = () => new AppError('INVALID_JSON', 'The body is not valid UTF-8.')

const tooLong = (line: number, most: number) =>
  new AppError('PAYLOAD_TOO_LARGE', `Line ${line} of the body has more than ${most} characters.`)
