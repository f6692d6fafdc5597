import { AppError } from '../../core/errors.js'
import type { PageInfo } from '../../core/pages.js'
import type { Call, Operation } from '../../service/lib/operation.js'
import { formatOf, print, type OutputFlags } from './output.js'
import { say, write, type Terminal } from './terminal.js'
import { commandLine, withOptions, withoutOption } from './commandline.js'
import type { View } from './view.js'

const PAGE = 100

interface Paged {
  page_info: PageInfo
  total_count: number
  total_pages: number
}

/** What every list answers beside its rows: in the body, or beside them inside of it ('votes.results'). */
const pagedOf = (answer: unknown, list: string): Paged =>
  (list.includes('.') ? (answer as Record<string, unknown>)[list.split('.')[0] ?? ''] : answer) as Paged // by the contract of lists

interface Stream<In, Out, Row, Subject> {
  call: Call
  op: Operation<In, Out, Subject>
  input: Record<string, unknown>
  view: Pick<View<In, Out, Row>, 'rows' | 'columns' | 'id'>
  list: string
}

/** Prints every page, one at a time: the memory it takes does not grow with the list. JSON is one body with all rows. */
export async function streamAll<In, Out, Row, Subject>(
  terminal: Terminal,
  flags: OutputFlags,
  stream: Stream<In, Out, Row, Subject>,
): Promise<void> {
  const { view, list } = stream
  const format = formatOf(terminal, flags)
  const keys = list.split('.')
  let count = 0
  const { staySmall } = await import('../../core/small.js')
  const grow = staySmall()
  try {
    for await (const { rows, first } of pages(stream)) {
      count += rows.length
      if (format === 'json') {
        const text = rows.map((row) => JSON.stringify(row)).join(',')
        await write(terminal, `${first ? `${keys.map((key) => `{"${key}":`).join('')}[` : text && ','}${text}`)
      } else {
        const once = first ? {} : { header: false }
        await print(
          terminal,
          { ...flags, ...once },
          { body: rows, rows, columns: view.columns, id: view.id, single: false },
        )
      }
    }
  } finally {
    grow()
  }
  if (format === 'json') await write(terminal, `],"total_count":${count},"total_pages":1${'}'.repeat(keys.length)}\n`)
}

/** Each page after the last row of the one before; if that row is deleted meanwhile, after the last one that is still there. */
async function* pages<In, Out, Row, Subject>({
  call,
  op,
  input,
  view,
  list,
}: Stream<In, Out, Row, Subject>): AsyncGenerator<{ rows: readonly Row[]; first: boolean }> {
  let cursors: string[] = []
  for (let first = true; ; first = false) {
    const answer = await call(op, { ...input, limit: PAGE, ...(!first && { after: cursors.at(-1) }) }).catch(
      (error: unknown) => {
        if (cursors.length > 1 && error instanceof AppError && error.errors?.[0]?.code === 'INVALID_CURSOR')
          return undefined
        throw error
      },
    )
    if (answer === undefined) {
      cursors = cursors.slice(0, -1)
      continue
    }
    const rows = view.rows(answer)
    yield { rows, first }
    const { page_info: page } = pagedOf(answer, list)
    if (!page.has_next_page || page.end_cursor === null) return
    cursors = cursorsOf(rows as readonly Record<string, unknown>[], page.end_cursor)
  }
}

/** The cursor of every row: the field that holds the page's last one. */
function cursorsOf(rows: readonly Record<string, unknown>[], end: string): string[] {
  const last = rows.at(-1) ?? {}
  const key = Object.keys(last).find((name) => last[name] === end)
  return key === undefined ? [end] : rows.map((row) => String(row[key]))
}

interface Place {
  list: string
  shown: number
  /** Whether a page can be asked for by its number. */
  numbered: boolean
}

/** Where one is and the command for the next page, on stderr. */
export function footer(terminal: Terminal, answer: unknown, { list, shown, numbered }: Place): void {
  const { page_info: page, total_count: total, total_pages: pages } = pagedOf(answer, list)
  if (total === 0) return say(terminal, 'There is nothing yet.')
  if (shown === 0 && page.current_page === null) return say(terminal, `Nothing comes after that, of ${total} in all.`)
  if (shown === 0)
    return say(
      terminal,
      `Page ${page.current_page} is past the end: there ${pages === 1 ? 'is 1 page' : `are ${pages} pages`}, of ${total} in all.`,
    )
  if (!terminal.stderr.isTTY) return
  const place = page.current_page === null ? '' : `Page ${page.current_page} of ${pages} · `
  const next = page.has_next_page ? ` · next: ${nextCommand(terminal.args, page, numbered)}` : ''
  say(terminal, `${place}${shown} of ${total}${next}`)
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
