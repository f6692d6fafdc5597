import { createReadStream } from 'node:fs'
import { AppError } from '../core/errors.js'
import { textLines } from '../core/records.js'
import type { Source, SourceRecord } from './source.js'

/** Lines of JSON as the API takes them, such as those of a file of rejects. */
export const records: Source = {
  from: 'a file of JSON lines',
  async *read({ from }) {
    const faults = {
      notUtf8: () => new AppError('USAGE', `${from} is not valid UTF-8.`),
      tooLong: (line: number) => new AppError('USAGE', `Line ${line} of ${from} is too long.`),
    }
    let line = 0
    for await (const text of textLines(createReadStream(from), faults)) {
      line += 1
      if (text.trim() !== '') yield parsed(text, line)
    }
  },
}

function parsed(text: string, line: number): SourceRecord {
  try {
    return JSON.parse(text) as SourceRecord // the operation checks what it is
  } catch {
    throw new AppError('USAGE', `Line ${line} is not JSON.`)
  }
}
