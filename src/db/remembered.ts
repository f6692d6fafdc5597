import type { Compilable } from 'kysely'
import { compiled } from './compiled.js'
import type { Db } from './connect.js'
import type { Revision, Watch } from './watch.js'

/** Characters of the texts in all rows that are kept, at most. */
const MOST_TEXT = 4_000_000

interface Memory {
  now(this: void): Revision
  revision: Revision | undefined
  rows: Map<string, Promise<unknown[]>>
  text: number
}

const memories = new WeakMap<object, Memory>()

/** From now on rows that were read are given again while nobody has changed the data, where the watch tells that at once. */
export function remember(db: Db, { now }: Pick<Watch, 'now'>): void {
  if (now) memories.set(db, { now, revision: undefined, rows: new Map(), text: 0 })
}

/**
 * The same as `compiled`, for reads that many requests have in common, whoever asks. The rows are everybody's: nobody may change them.
 * In a transaction, and in a process that does not `remember`, they are always read.
 */
export function remembered<Given extends object, Row>(db: Db, form: string, given: Given, build: (given: Given) => Compilable<Row>): Promise<Row[]> {
  const memory = memories.get(db)
  if (!memory) return compiled(db, form, given, build)
  const revision = memory.now()
  if (revision !== memory.revision) Object.assign(memory, { revision, rows: new Map(), text: 0 })
  const key = `${form} ${JSON.stringify(given)}`
  const known = memory.rows.get(key)
  if (known) return known as Promise<Row[]> // kept under the name of this query
  const reading = compiled(db, form, given, build)
  if (memory.text < MOST_TEXT) keep(memory, key, reading)
  return reading
}

function keep(memory: Memory, key: string, reading: Promise<unknown[]>): void {
  const { rows } = memory
  rows.set(key, reading)
  reading.then(
    (found) => void (memory.text += key.length + textOf(found)),
    () => void rows.delete(key), // what failed is tried again
  )
}

const textOf = (rows: readonly unknown[]): number =>
  rows.reduce<number>((sum, row) => Object.values(row as object).reduce<number>((all, value) => all + (typeof value === 'string' ? value.length : 8), sum), 0)
