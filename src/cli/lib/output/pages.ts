import { AppError } from '../../../core/errors.js'
import type { PageInfo } from '../../../core/pages.js'
import { counted } from '../../../core/text.js'
import { everyPage } from '../../../service/lib/everypage.js'
import { FieldOption } from '../flags/fieldoption.js'
import { say, tell, widthOf, write, type Terminal } from '../terminal/terminal.js'
import { commandLine, withOptions, withoutOption } from '../texts/commandline.js'
import { formatOf, isStructured, jsonOf, print, type Output, type OutputFlags } from './output.js'

/** The flag of every list with pages. Its name is not that of a field, which a list may have. */
export const allOption = (): FieldOption => new FieldOption('--all', 'print all pages', 'everyPage')

/** Rejects --all combined with --limit, --page or --after. */
export function assertAllPages(given: Record<string, unknown>): void {
  if (['limit', 'page', 'after'].some((name) => given[name] !== undefined))
    throw new AppError('USAGE', '--all prints all pages. It cannot be combined with --limit, --page or --after.')
}

/** Rows that --all requests at once. */
const PAGE_SIZE = 100

interface Paged {
  page_info: PageInfo
  /** Absent where the list is too long to count. */
  total_count?: number
  total_pages?: number
  /** Whether the list ends before all that matches. */
  is_capped?: boolean
}

const CAPPED = 'Not all matches are listed. Narrow the search to find the others.'

/**
 * The page fields of a list response. They are next to the rows: in the body, or in an object inside it
 * ('votes.results').
 */
const pagedOf = (answer: unknown, list: string): Paged =>
  // Every list has them by contract.
  (list.includes('.') ? (answer as Record<string, unknown>)[list.split('.')[0] ?? ''] : answer) as Paged

type Read<Out> = (this: void, page: { limit: number; after?: string | undefined }) => Promise<Out>

interface ListRequest<Out, Row> {
  read: Read<Out>
  /** Reads a page of the same list in a steady order, where changes move rows in that of `read`. */
  steadily?: Read<Out> | undefined
  output: Pick<Output<Out, Row>, 'rows' | 'columns' | 'id'>
  list: string
  /** Keys of the body that hold the total number of rows. */
  totals?: readonly string[]
  /** Message for an empty list. */
  empty?: string | undefined
}

/** Prints all pages, one at a time, so that of a list only ids stay in memory, if those. JSON is one body with all rows. */
export async function streamAll<Out, Row>(
  terminal: Terminal,
  flags: OutputFlags,
  request: ListRequest<Out, Row>,
): Promise<void> {
  const { output, list, totals = [] } = request
  const also = (total: number) => totals.map((name) => `"${name}":${total},`).join('')
  const format = formatOf(terminal, flags)
  const keys = list.split('.')
  const fields = typeof flags.fields === 'string' ? flags.fields : undefined
  const shown = await shownBy(fields)
  const [begin, end] =
    fields === undefined
      ? [`${keys.map((key) => `{"${key}":`).join('')}[`, (total: number) => `],${also(total)}"total_count":${total},"total_pages":1${isCapped ? ',"is_capped":true' : ''}${'}'.repeat(keys.length)}`] // prettier-ignore
      : ['[', () => ']']
  let count = 0
  let isCapped = false
  let late = 0
  for await (const { rows, first, capped, isLate } of wholeList(request)) {
    count += rows.length
    if (isLate) late += rows.length
    isCapped ||= capped
    if (format === 'json') {
      const text = rows.map((row) => jsonOf(shown(row), flags)).join(',')
      await write(terminal, `${first ? begin : text && ','}${text}`)
    } else {
      const header = first ? {} : { header: false, bom: false }
      const { columns, id } = output
      await print(terminal, { ...flags, ...header }, { body: rows, rows, columns, id, single: false })
    }
  }
  if (format === 'json') await write(terminal, `${end(count)}\n`)
  if (count === 0 && !flags.quiet && !isStructured(format)) nothingFound(terminal, request.empty)
  const hasKeys = format === 'json' && fields === undefined
  if (isCapped && !flags.quiet && !hasKeys) tell(terminal, CAPPED)
  if (late > 0 && !flags.quiet) tell(terminal, `The list changed while it was read: ${counted(late, 'row')} at its end may belong further up.`) // prettier-ignore
}

async function shownBy(fields: string | undefined): Promise<(row: unknown) => unknown> {
  if (fields === undefined) return (row) => row
  const { picked } = await import('./choice.js')
  return (row) => picked(row, fields)
}

interface Part<Row> {
  rows: readonly Row[]
  first: boolean
  capped: boolean
  /** Whether the rows are missing where they belong. */
  isLate: boolean
}

/**
 * Each row once. A row that moves up while pages are read is on none that follows, so the list is read once more in an
 * order in which nothing moves: what is new there ends it.
 */
async function* wholeList<Out, Row>({
  read,
  steadily,
  output,
  list,
}: ListRequest<Out, Row>): AsyncGenerator<Part<Row>> {
  const pagesBy = (by: Read<Out>) =>
    everyPage({ limit: PAGE_SIZE, read: by, rowsOf: output.rows, infoOf: (answer) => pagedOf(answer, list).page_info })
  const seen = new Set<string>()
  const unseen = (rows: readonly Row[], cursors: readonly string[]) =>
    rows.filter((_, index) => {
      const cursor = cursors[index]
      if (cursor === undefined || seen.has(cursor)) return false
      seen.add(cursor)
      return true
    })
  let first = true
  let most = Infinity
  for await (const { answer, rows, cursors } of pagesBy(read)) {
    const { is_capped: capped = false, total_count: total } = pagedOf(answer, list)
    if (capped) most = total ?? Infinity
    yield { rows: steadily ? unseen(rows, cursors) : rows, first, capped, isLate: false }
    first = false
  }
  if (!steadily) return
  let looked = 0
  for await (const { rows, cursors } of pagesBy(steadily)) {
    const late = unseen(rows.slice(0, most - looked), cursors)
    if (late.length > 0) yield { rows: late, first, capped: false, isLate: true }
    looked += rows.length
    if (looked >= most) return
  }
}

interface Footer {
  list: string
  shown: number
  /** Whether the list has a --page flag. */
  numbered: boolean
  /** Message for an empty list. */
  empty?: string | undefined
}

/** Prints the position in the list, and the command for the next page, to stderr. */
export function footer(terminal: Terminal, answer: unknown, { list, shown, numbered, empty }: Footer): void {
  const { page_info: page, total_count: total, total_pages: count, is_capped: isCapped } = pagedOf(answer, list)
  if (isCapped) tell(terminal, CAPPED)
  const { current_page: current } = page
  if (total === 0 || (total === undefined && shown === 0 && current === 1)) return nothingFound(terminal, empty)
  if (shown === 0) return tell(terminal, pastEnd(current, total, count))
  if (!terminal.stderr.isTTY) return
  const position = current === null ? '' : `Page ${current}${count === undefined ? '' : ` of ${count}`} · `
  const line = `${position}${total === undefined ? counted(shown, 'row') : `${shown} of ${total}`}`
  if (!page.has_next_page) return say(terminal, line)
  const next = nextCommand(terminal.args, page, numbered)
  const whole = `${line} · next: ${next}`
  // A long command goes on its own line, so that the terminal does not break it within a word
  say(terminal, whole.length > widthOf(terminal.stderr) ? `${line} · next:\n  ${next}` : whole)
}

function pastEnd(current: number | null, total: number | undefined, count: number | undefined): string {
  if (total === undefined || count === undefined) return 'No more rows.'
  if (current === null) return `No more rows, of ${total} in total.`
  return `Page ${current} is past the end. The list has ${counted(count, 'page')}, ${counted(total, 'row')}.`
}

/** A pipe that ends in a mail or a log gets no message about an empty list. */
export function nothingFound(terminal: Terminal, message = 'Nothing found.'): void {
  if (terminal.stderr.isTTY) tell(terminal, message)
}

function nextCommand(
  args: readonly string[],
  { current_page: current, end_cursor: end }: PageInfo,
  numbered: boolean,
): string {
  const byCursor = !numbered || current === null || args.some((arg) => arg === '--after' || arg.startsWith('--after='))
  const rest = withoutOption(withoutOption(args, '--after'), '--page')
  return commandLine(withOptions(rest, ...(byCursor ? ['--after', end ?? ''] : ['--page', String((current ?? 1) + 1)])))
}
