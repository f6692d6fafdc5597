import { statSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { keepBuilt } from '../core/built.js'
import { AppError, serverError } from '../core/errors.js'
import { sizeText } from '../core/text.js'
import { SOURCES } from './index.js'
import { Archive } from './lib/archive.js'
import type { Answer, ReadRequest, Opened } from './reading.js'
import { recognised } from './recognised.js'
import { sourceIn } from './records.js'

// The thread that reads a file for a server, see `reading.ts`.

/** Bytes of JSON, and of what an archive has for a source: they are in memory as a whole. */
const MOST_READ = 50_000_000
/** Records of an answer. */
const TOGETHER = 200
/** Maximum length of an answer in characters, without its last record. */
const MOST_TOGETHER = 1_000_000

const { from, shown, product, map: entries, built } = workerData as ReadRequest
for (const [name, bytes] of built) keepBuilt(name, Buffer.from(bytes))
const map = new Map(entries)

const answer = (told: Answer) => parentPort?.postMessage(told)

async function opened(): Promise<Opened> {
  const word = product ?? (await recognised(from, shown, { readsDatabases: false })).word
  if (word === 'feedbackctl') return { product: word, preview: undefined, source: undefined }
  // Else the file could name a database, which the server would read
  if (word === 'astuto' && !from.endsWith('.json'))
    throw new AppError('BAD_REQUEST', 'Of Astuto, the JSON of its API is imported here.')
  await assertReadable(word)
  const { preview } = await SOURCES[word]()
  return {
    product: word,
    preview: await preview?.({ from, map }),
    source: word === 'records' ? await sourceIn(from) : undefined,
  }
}

/** A small archive can be unpacked to far more. */
async function assertReadable(word: string): Promise<void> {
  if (from.endsWith('.csv') || word === 'records') return
  if (!from.endsWith('.zip')) {
    if (statSync(from).size > MOST_READ) throw tooLong()
    return
  }
  const archive = await Archive.open(from)
  try {
    if (archive.sizeOf(/\.(json|csv)$/) > MOST_READ) throw tooLong()
  } finally {
    archive.close()
  }
}

const tooLong = () =>
  new AppError('PAYLOAD_TOO_LARGE', `There are more than ${sizeText(MOST_READ)} in it. Import it with "feedbackctl import".`) // prettier-ignore

const notes: string[] = []

async function* records() {
  const { product: word } = await opened()
  if (word === 'feedbackctl') return
  const { read } = await SOURCES[word]()
  yield* read({ from, map, note: (sentence) => void notes.push(sentence) })
}

let reading: ReturnType<typeof records> | undefined

/** The next records. */
async function next(): Promise<Answer> {
  reading ??= records()
  const lines: string[] = []
  let size = 0
  while (lines.length < TOGETHER && size < MOST_TOGETHER) {
    const { done, value } = await reading.next()
    if (done) return { lines, notes: notes.splice(0), isLast: true }
    const line = typeof value === 'string' ? value : JSON.stringify(value)
    lines.push(line)
    size += line.length
  }
  return { lines, notes: notes.splice(0), isLast: false }
}

parentPort?.on('message', (what: 'open' | 'next') => {
  void (what === 'open' ? opened() : next()).then(answer, (error: unknown) => {
    const known = error instanceof AppError ? error : serverError(error)
    answer({ error: { code: known.code, message: known.message, cause: known === error ? undefined : String(error) } })
  })
})
