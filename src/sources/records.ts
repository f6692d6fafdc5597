import { createReadStream } from 'node:fs'
import { AppError } from '../core/errors.js'
import { textLines } from '../core/records.js'
import { MOST_OF_LINE, NAMED } from '../service/lib/importrecords.js'
import { Places, type Place } from './lib/places.js'
import { isObject } from './lib/values.js'
import type { Source, SourceRecord } from './source.js'

/** Lines of JSON as the API takes them, such as those of a file of rejects. */
export const records: Source = {
  from: 'a file of JSON lines',
  async *read({ from }) {
    let line = 0
    const places = new Places()
    for await (const text of linesOf(from)) {
      line += 1
      if (text.trim() === '') continue
      if (line === 1 && sourceOf(text) !== undefined) continue
      // A post by a person who is refused must not create what it names
      const record = /"needs"|"type":"person"/.test(text) ? parsed(text) : undefined
      if (isPlace(record) && record.type === 'person') places.look(record)
      if (isObject(record) && record.type === 'post' && Array.isArray(record.needs)) yield* mended(record, places)
      else yield text // the operation validates it
    }
  },
}

/** A post from a file of rejects, after the records that it names. The operation validates all of them. */
function* mended({ needs, ...post }: Record<string, unknown>, places: Places): Generator<SourceRecord> {
  yield* places.before(post as Parameters<Places['before']>[0], (needs as unknown[]).filter(isPlace))
}

const isPlace = (record: unknown): record is Place =>
  isObject(record) && NAMED.some((type) => type === record.type) && typeof record.sourceId === 'string'

/** The name of the source whose records a file has, as its first line says it: ids are those of that source. */
export async function sourceIn(from: string): Promise<string | undefined> {
  for await (const text of linesOf(from)) return sourceOf(text)
  return undefined
}

function linesOf(from: string): AsyncIterable<string> {
  const faults = {
    notUtf8: () => new AppError('USAGE', `${from} is not valid UTF-8.`),
    tooLong: (line: number) => new AppError('USAGE', `Line ${line} of ${from} is too long.`),
  }
  return textLines(createReadStream(from), faults, MOST_OF_LINE)
}

/** As the operation takes it. */
const SOURCE = /^[a-z0-9][a-z0-9._-]{0,49}$/

function sourceOf(line: string): string | undefined {
  const record = parsed(line)
  const isFirst = isObject(record) && record.type === 'header' && record.format === 'feedbackctl-refused'
  return isFirst && typeof record.source === 'string' && SOURCE.test(record.source) ? record.source : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
