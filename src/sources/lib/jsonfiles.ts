import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { AppError } from '../../core/errors.js'
import { isObject, type Json } from './values.js'

/** Bytes of a file, which is read whole. */
const MOST = 200_000_000

/** What is in the JSON files of a folder, or in one file: each top-level value, and each of an array. */
export function* jsonValues(from: string): Generator<Json> {
  const files = statSync(from).isDirectory()
    ? readdirSync(from).filter((name) => /\.(json|jsonl|ndjson)$/i.test(name)).toSorted().map((name) => path.join(from, name)) // prettier-ignore
    : [from]
  if (files.length === 0) throw new AppError('USAGE', `${from} has no JSON files.`)
  for (const file of files) {
    if (statSync(file).size > MOST) throw new AppError('USAGE', `${file} is too long. Split it into pages.`)
    for (const value of valuesIn(readFileSync(file, 'utf8'), file)) yield* flat(value)
  }
}

function* flat(value: unknown): Generator<Json> {
  if (Array.isArray(value)) for (const each of value) yield* flat(each)
  else if (isObject(value)) yield value
}

/** One JSON text, or one on each line. */
function valuesIn(text: string, file: string): unknown[] {
  try {
    return [JSON.parse(text)]
  } catch {
    return text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line, at) => {
        try {
          return JSON.parse(line) as unknown
        } catch {
          throw new AppError('USAGE', `Line ${at + 1} of ${path.basename(file)} is not JSON.`)
        }
      })
  }
}
