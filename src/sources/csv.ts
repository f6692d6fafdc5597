import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { CsvError, parse, type Info } from 'csv-parse'
import { AppError } from '../core/errors.js'
import { MOST } from '../core/records.js'
import { guessedKind } from '../core/statuskinds.js'
import { markdownOf } from './lib/markdown.js'
import { Places, type Place } from './lib/places.js'
import type { Given, Preview, Source, SourceRecord } from './source.js'

/** The columns, and the headers that name them in exports of this field, without signs and in lower case. */
const COLUMNS = {
  id: ['id', 'sourceid', 'postid', 'ideaid', 'number', 'key', 'issuekey'],
  title: ['title', 'subject', 'name', 'summary', 'idea', 'ideatitle', 'posttitle', 'suggestion', 'feature'],
  text: ['text', 'body', 'description', 'details', 'content', 'contentmarkdown', 'ideadescription', 'message'],
  board: ['board', 'boardname', 'forum', 'forumname', 'project'],
  category: ['category', 'categoryname'],
  status: ['status', 'statusname', 'publicstatusname', 'state', 'roadmap'],
  votes: ['votes', 'votecount', 'votescount', 'voterscount', 'score', 'upvotes', 'supporters'],
  author: ['author', 'authorname', 'createdby', 'creator', 'ideacreatorname', 'submitter', 'user'],
  email: ['email', 'authoremail', 'creatoremail', 'ideacreatoremailaddress', 'submitteremail', 'useremail'],
  tags: ['tags', 'labels', 'label', 'tag'],
  created: ['created', 'createdat', 'createdtimestamp', 'date', 'createddate', 'submitted'],
  url: ['url', 'link', 'posturl', 'permalink'],
} as const
type Column = keyof typeof COLUMNS
export const COLUMN_NAMES = Object.keys(COLUMNS) as Column[]

/** `row` counts the header and empty rows, as spreadsheets do. */
export type CsvRow = { line: number; row: number; cells: Partial<Record<Column, string>> }

/** Any CSV with a row for each post. */
export const csv: Source = {
  from: 'a CSV file',
  preview: csvPreview,
  async *read(given) {
    const places = new Places()
    for await (const row of csvRows(given)) yield* recordsOf(row, places)
  },
}

/** The rows of a CSV file, by our names of the columns. Throws USAGE for a header without a title. */
export async function* csvRows({ from, map, note }: Given): AsyncGenerator<CsvRow> {
  let columns: (Column | undefined)[] | undefined
  for await (const { record, line, row } of csvRecords(createReadStream(from))) {
    if (!columns) {
      columns = columnsOf(record, map)
      const ignored = record.filter((_, at) => columns?.[at] === undefined && record[at]?.trim() !== '')
      if (ignored.length > 0) note(`Columns that are not imported: ${ignored.join(', ')}.`)
      continue
    }
    const named = columns
    yield {
      line,
      row,
      cells: Object.fromEntries(record.flatMap((cell, at) => (named[at] !== undefined && cell.trim() !== '' ? [[named[at], cell.trim()]] : []))), // prettier-ignore
    }
  }
  if (!columns) throw empty()
}

/** Rows of a preview, and characters of a cell in it. */
const [PREVIEWED, SHOWN] = [10, 200]

/** The first rows of a CSV file, by our names of the columns. Throws USAGE as `csvRows`. */
export async function csvPreview({ from, map }: Pick<Given, 'from' | 'map'>): Promise<Preview> {
  let columns: Preview['columns'] | undefined
  let at: number[] = []
  const rows: Preview['rows'][number][] = []
  for await (const { record } of csvRecords(createReadStream(from))) {
    if (!columns) {
      const named = columnsOf(record, map)
      at = COLUMN_NAMES.map((column) => named.indexOf(column)).filter((index) => index >= 0)
      columns = at.map((index) => ({ column: named[index] ?? '', header: record[index]?.trim() ?? '' }))
      continue
    }
    rows.push(Object.fromEntries(columns.map(({ column }, nth) => [column, (record[at[nth] ?? -1] ?? '').trim().slice(0, SHOWN)]))) // prettier-ignore
    if (rows.length === PREVIEWED) break
  }
  if (!columns) throw empty()
  return { columns, rows }
}

const empty = () => new AppError('USAGE', 'The CSV file is empty.')

/** The header of CSV; without names where there is none. */
export async function csvHeader(bytes: AsyncIterable<Uint8Array>): Promise<string[]> {
  for await (const { record } of csvRecords(bytes)) return record.map((cell) => cell.trim())
  return []
}

/** The records of CSV, the header first, each with its first line and its row. Empty records are left out. */
export async function* csvRecords(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ record: string[]; line: number; row: number }> {
  const parser = parse({
    bom: true,
    delimiter: [',', ';', '\t'],
    info: true,
    max_record_size: MOST,
    relax_column_count: true,
  })
  pipeline(textIn(bytes), parser, () => {}) // an error is thrown where the records are read
  try {
    let row = 0
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: Info }>) {
      row += 1 // spreadsheets count empty rows too
      if (record.length > 1 || record[0] !== '') yield { record, line: info.lines, row }
    }
  } catch (error) {
    if (error instanceof CsvError) throw new AppError('USAGE', `The CSV cannot be read: ${error.message}.`)
    throw error
  }
}

/** Records as objects by their headers. Throws USAGE where the header lacks one that is needed. */
export async function* csvObjects(
  bytes: AsyncIterable<Uint8Array>,
  needed: readonly string[],
): AsyncGenerator<Record<string, string>> {
  let header: string[] | undefined
  for await (const { record } of csvRecords(bytes)) {
    if (header) {
      const names = header
      yield Object.fromEntries(
        record.flatMap((cell, at) => (names[at] === undefined ? [] : [[names[at], cell.trim()]])),
      )
      continue
    }
    header = record.map((cell) => cell.trim())
    const missing = needed.filter((name) => !header?.includes(name))
    if (missing.length > 0)
      throw new AppError('USAGE', `The CSV has no column ${missing.join(', ')}. Is it an export of that product?`)
  }
}

async function* textIn(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true })
    yield decoder.decode()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new AppError('USAGE', 'The CSV is not UTF-8. Save it as "CSV UTF-8".')
  }
}

/** A header without signs and in lower case. */
export const plain = (header: string): string => header.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')

function columnsOf(header: readonly string[], map: ReadonlyMap<string, string>): (Column | undefined)[] {
  for (const [column, named] of map) {
    if (!COLUMN_NAMES.some((name) => name === column))
      throw new AppError('USAGE', `--map knows no column "${column}". The columns are: ${COLUMN_NAMES.join(', ')}.`)
    if (!header.some((cell) => plain(cell) === plain(named)))
      throw new AppError('USAGE', `The CSV has no column "${named}". It has: ${header.join(', ')}.`)
  }
  const wanted = COLUMN_NAMES.map((column) => {
    const mapped = map.get(column)
    const names: readonly string[] = mapped === undefined ? COLUMNS[column] : [plain(mapped)]
    // The first name that the header has: "title" before "name"
    const name = names.find((each) => header.some((cell) => plain(cell) === each))
    return { column, at: name === undefined ? -1 : header.findIndex((cell) => plain(cell) === name) }
  })
  if (wanted.every(({ column, at }) => column !== 'title' || at === -1))
    throw new AppError('USAGE', `No column is the title. Name it with --map title=HEADER; the headers are: ${header.join(', ')}.`) // prettier-ignore
  return header.map((_, index) => wanted.find(({ at }) => at === index)?.column)
}

/** What a row is, with the boards, statuses, tags and people that it names first. */
export async function* recordsOf(
  { cells, row }: Pick<CsvRow, 'cells' | 'row'>,
  places: Places,
): AsyncGenerator<SourceRecord> {
  const { title = '', text, created } = cells
  const board = cells.board
  const tags = [...new Set([cells.category ?? '', ...listIn(cells.tags ?? '')])]
    .filter((tag) => tag !== '')
    .slice(0, 20)
  const author = cells.email ?? cells.author
  const status = cells.status
  const isNew = status === undefined || /^(open|new|published|active idea)$/i.test(status)
  const named: Place[] = [
    ...(board === undefined ? [] : [{ type: 'board' as const, sourceId: board, name: board }]),
    ...(isNew ? [] : [{ type: 'status' as const, sourceId: status, name: status, kind: guessedKind(status) }]),
    ...tags.map((tag) => ({ type: 'tag' as const, sourceId: tag, name: tag })),
    ...(author === undefined ? [] : [{ type: 'person' as const, sourceId: author, name: cells.author ?? null, email: isAddress(cells.email) ? cells.email : null }]), // prettier-ignore
  ]
  const votes = Number((cells.votes ?? '').replaceAll(/[^\d-]/g, ''))
  const post = {
    type: 'post' as const,
    row,
    sourceId: cells.id ?? hashOf(title, created ?? text ?? ''),
    title,
    text: await markdownOf(text ?? ''),
    ...(board !== undefined && { board }),
    ...(!isNew && { status }),
    ...(author !== undefined && { author }),
    ...(tags.length > 0 && { tags }),
    ...(created !== undefined && { createdAt: timeIn(created) }),
    importedVotes: Number.isSafeInteger(votes) && votes > 0 ? votes : 0,
    ...(pathIn(cells.url) !== undefined && { paths: [pathIn(cells.url) ?? ''] }),
  }
  yield* places.before(post, named)
}

const hashOf = (...texts: string[]): string => createHash('sha256').update(texts.join('\n')).digest('hex').slice(0, 32)
const isAddress = (text: string | undefined): text is string => text?.includes('@') ?? false

/** Tags in a cell: a JSON array, or separated. */
function listIn(cell: string): string[] {
  if (cell.startsWith('['))
    try {
      const list: unknown = JSON.parse(cell)
      if (Array.isArray(list)) return list.map((each) => (typeof each === 'string' ? each.trim() : '')).filter(Boolean)
    } catch {
      // as text
    }
  return cell.split(/[,;|]/).map((tag) => tag.trim()).filter(Boolean) // prettier-ignore
}

/** Times without a zone are in UTC, as exports of this field write them. */
export function timeIn(text: string): string {
  const local = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?: ?UTC)?$/.exec(text.trim())
  return local ? `${local[1]}T${local[2]}Z` : text.trim()
}

export function pathIn(url: string | undefined): string | undefined {
  if (url === undefined) return undefined
  try {
    const { pathname } = new URL(url, 'http://localhost')
    return pathname === '/' ? undefined : pathname
  } catch {
    return undefined
  }
}
