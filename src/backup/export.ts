import type { Config } from '../config.js'
import { AppError } from '../core/errors.js'
import type { Value } from '../db/carried.js'
import { exportedTables } from '../db/exported.js'
import { boardsNamed, leftOutBy, sharesOf, type LeftOut } from '../db/exportedparts.js'
import { NEWEST, newer } from '../db/schema.js'
import { openSnapshot, type Snapshot } from '../db/snapshot.js'
import { assertDatabaseKept, assertSiteThere } from '../marker.js'

/** The version of the format. It changes where a program that reads the present one would read something wrong. */
const FORMAT_VERSION = 1

/** Lines of an export, and how many rows they are. */
interface Lines {
  text: string
  rows: number
}

/**
 * The lines of an export of the configured site, as it was at one moment: a header, a line for each row, and a last line
 * with the number of the lines before it. They depend on the data alone, so that two exports of equal data are equal. With
 * `boards`, they have these boards and what belongs to them, and the header says which ones and what is left out.
 */
export async function* exportLines(
  config: Config,
  { passwords, boards = [] }: { passwords: boolean; boards?: readonly string[] | undefined },
): AsyncGenerator<Lines> {
  const snapshot = await openExported(config)
  try {
    const { shares, head } = boards.length === 0 ? WHOLE : await ofBoards(snapshot, boards)
    yield line({ type: 'header', format: 'feedbackctl', version: FORMAT_VERSION, schema: NEWEST, passwords, ...head })
    let lines = 1
    for (const table of exportedTables(snapshot, { passwords })) {
      const share = shares?.[table.name] ?? 'all'
      if (share === 'none') continue
      for await (const rows of snapshot.rows(table, share === 'all' ? undefined : share)) {
        const texts = rows.filter((row) => table.includes(row)).map((row) => textOf(table, row))
        lines += texts.length
        yield { text: texts.join(''), rows: texts.length }
      }
    }
    yield line({ type: 'end', lines })
  } finally {
    await snapshot.close()
  }
}

interface Chosen {
  shares?: ReturnType<typeof sharesOf>
  head?: { boards: string[]; leftOut: LeftOut }
}

const WHOLE: Chosen = {}

async function ofBoards(snapshot: Snapshot, given: readonly string[]): Promise<Chosen> {
  const boards = await boardsNamed(snapshot, given)
  const ids = boards.map(({ boardId }) => boardId)
  const shares = sharesOf(ids)
  return { shares, head: { boards: boards.map(({ url }) => url), leftOut: await leftOutBy(snapshot, ids, shares) } }
}

/** The configured site as it is at one moment. Throws where there is none, or where its schema is another. */
export async function openExported(config: Config): Promise<Snapshot> {
  assertDatabaseKept(config)
  assertSiteThere(config)
  const snapshot = await openSnapshot(config.get('database.url') ?? '')
  try {
    assertCurrent(snapshot)
    return snapshot
  } catch (error) {
    await snapshot.close()
    throw error
  }
}

const line = (value: object): Lines => ({ text: `${JSON.stringify(value)}\n`, rows: 0 })

const textOf = ({ type, columns }: { type: string; columns: readonly string[] }, row: readonly Value[]): string =>
  line({ type, ...Object.fromEntries(columns.map((column, at) => [column, row[at]])) }).text

function assertCurrent({ schema }: Snapshot): void {
  if (schema === undefined) throw new AppError('SITE_NOT_FOUND', 'The database has no tables of feedbackctl yet.')
  if (schema > NEWEST) throw newer()
  if (schema < NEWEST)
    throw new AppError('DATABASE_OUTDATED', 'The database has an older schema. Run "feedbackctl migrate" first.')
}
