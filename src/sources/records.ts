import { createReadStream } from 'node:fs'
import { AppError } from '../core/errors.js'
import { textLines } from '../core/records.js'
import { isObject } from './lib/values.js'
import type { Source, SourceRecord } from './source.js'

/** Lines of JSON as the API takes them, such as those of a file of rejects. */
export const records: Source = {
  from: 'a file of JSON lines',
  async *read({ from }) {
    let line = 0
    for await (const text of linesOf(from)) {
      line += 1
      if (text.trim() === '') continue
      const record = parsed(text, line)
      if (line > 1 || sourceOf(record) === undefined) yield record
    }
  },
}

/** The name of the source whose records a file has, as its first line says it: ids are those of that source. */
export async function sourceIn(from: string): Promise<string | undefined> {
  for await (const text of linesOf(from)) return sourceOf(parsed(text, 1))
  return undefined
}

function linesOf(from: string): AsyncIterable<string> {
  return textLines(createReadStream(from), {
    notUtf8: () => new AppError('USAGE', `${from} is not valid UTF-8.`),
    tooLong: (line: number) => new AppError('USAGE', `Line ${line} of ${from} is too long.`),
  })
}

/** As the operation takes it. */
const SOURCE = /^[a-z0-9][a-z0-9._-]{0,49}$/

function sourceOf(record: unknown): string | undefined {
  const isFirst = isObject(record) && record.type === 'header' && record.format === 'feedbackctl-refused'
  return isFirst && typeof record.source === 'string' && SOURCE.test(record.source) ? record.source : undefined
}

function parsed(text: string, line: number): SourceRecord {
  try {
    return JSON.parse(text) as SourceRecord // the operation checks what it is
  } catch {
    throw new AppError('USAGE', `Line ${line} is not JSON.`)
  }
}
