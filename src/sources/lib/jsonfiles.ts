import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs'
import path from 'node:path'
import { AppError } from '../../core/errors.js'
import { isObject, type Json } from './values.js'

/** Bytes of a file, which is read whole. */
const MOST = 200_000_000

interface JsonFile {
  /** Its name, without the ending. */
  name: string
  /** Each top-level value, and each of an array. */
  values: Iterable<Json>
}

/** The JSON files of a folder, or one file. */
export function* jsonFiles(from: string): Generator<JsonFile> {
  const files = statSync(from).isDirectory()
    ? readdirSync(from).filter((name) => /\.(json|jsonl|ndjson)$/i.test(name)).toSorted().map((name) => path.join(from, name)) // prettier-ignore
    : [from]
  if (files.length === 0) throw new AppError('USAGE', `${from} has no JSON files.`)
  for (const file of files) {
    if (statSync(file).size > MOST) throw new AppError('USAGE', `${file} is too long. Split it into pages.`)
    yield { name: path.parse(file).name, values: flat(valuesIn(readFileSync(file, 'utf8'), file)) }
  }
}

/** What is in all of them. */
export function* jsonValues(from: string): Generator<Json> {
  for (const { values } of jsonFiles(from)) yield* values
}

/** Whether it is a folder, or a file that begins as JSON does. */
export function isJson(from: string): boolean {
  if (statSync(from).isDirectory()) return true
  const fd = openSync(from, 'r')
  try {
    const head = Buffer.alloc(1000)
    const text = head.toString('utf8', 0, readSync(fd, head)).replace(/^\uFEFF/, '').trimStart() // prettier-ignore
    return /^[[{]/.test(text)
  } finally {
    closeSync(fd)
  }
}

function* flat(value: unknown): Generator<Json> {
  if (Array.isArray(value)) for (const each of value) yield* flat(each)
  else if (isObject(value)) yield value
}

/** One JSON text, or one after another: on lines, or without anything between, as `gh api --paginate` writes pages. */
function valuesIn(text: string, file: string): unknown[] {
  try {
    return [JSON.parse(text)]
  } catch {
    return [...textsIn(text)].map(({ from, to }) => {
      try {
        return JSON.parse(text.slice(from, to)) as unknown
      } catch {
        throw new AppError(
          'USAGE',
          `Line ${text.slice(0, from).split('\n').length} of ${path.basename(file)} is not JSON.`,
        )
      }
    })
  }
}

/** Where each of the texts is: as far as its brackets close, and else as far as its line. */
function* textsIn(text: string): Generator<{ from: number; to: number }> {
  const marks = /["[\]{}\n]/g
  let [from, depth] = [0, 0]
  for (let mark = marks.exec(text); mark; mark = marks.exec(text)) {
    const [found] = mark
    if (found === '"') {
      const string = /"[^"\\]*(?:\\[^][^"\\]*)*"/y
      string.lastIndex = mark.index
      if (!string.test(text)) break
      marks.lastIndex = string.lastIndex
    } else if (found === '[' || found === '{') depth += 1
    else if (found !== '\n') depth -= 1
    if (depth > 0 || found === '"') continue
    const to = marks.lastIndex
    yield* textAt(text, from, to)
    from = to
    depth = 0
  }
  yield* textAt(text, from, text.length)
}

function* textAt(text: string, from: number, to: number): Generator<{ from: number; to: number }> {
  const own = text.slice(from, to)
  const blank = own.length - own.trimStart().length
  if (blank < own.length) yield { from: from + blank, to }
}
