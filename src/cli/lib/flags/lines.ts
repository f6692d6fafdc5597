import { AppError } from '../../../core/errors.js'
import { headerOf, MOST, records, textLines, type Row } from '../../../core/records.js'
import type { Terminal } from '../terminal/terminal.js'
import type { LineColumn } from './columns.js'

/** A line of stdin, or a record of CSV: the fields of a thing to create, or why it has none. */
export type Line = Row

const wrong = (message: string) => new AppError('USAGE', message)

const FAULTS = {
  record: wrong,
  header: wrong,
  notUtf8: () => wrong('stdin is not UTF-8 text. Save it as UTF-8.'),
  tooLong: () => wrong(`A line of stdin has more than ${MOST} characters.`),
}

/**
 * The records on stdin. If its first line is a CSV header with the main column, the others are records; otherwise
 * each line is a value of that column. Empty lines and empty cells are skipped.
 */
export async function* linesGiven(
  { stdin }: Pick<Terminal, 'stdin'>,
  columns: readonly LineColumn[],
  main: string,
): AsyncGenerator<Line> {
  const lines = textLines(stdin as AsyncIterable<Uint8Array>, FAULTS)
  const first = await lines.next()
  if (first.done) return
  const header = headerOf(first.value, columns, main, FAULTS)
  if (header) return yield* records(lines, header, main, FAULTS)
  let number = 1
  const line = (text: string): Line => ({
    number,
    name: text.trim(),
    size: text.length,
    values: { [main]: text.trim() },
  })
  if (first.value.trim() !== '') yield line(first.value)
  for await (const text of lines) {
    number += 1
    if (text.trim() !== '') yield line(text)
  }
}
