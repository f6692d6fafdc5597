import { AppError } from '../core/errors.js'
import type { PageInfo } from '../core/pages.js'
import type { Call, Operation } from '../service/operation.js'
import type { View } from './command.js'
import { formatOf, print, type OutputFlags } from './output.js'
import { write, type Terminal } from './terminal.js'

const PAGE = 100

interface Stream<In, Out, Row, Subject> {
  call: Call
  op: Operation<In, Out, Subject>
  input: Record<string, unknown>
  view: View<In, Out, Row>
  list: string
}

/** Prints every page, one at a time: the memory it takes does not grow with the list. JSON is one body with all rows. */
export async function streamAll<In, Out, Row, Subject>(
  terminal: Terminal,
  flags: OutputFlags,
  { view, list, ...source }: Stream<In, Out, Row, Subject>,
): Promise<void> {
  const format = formatOf(terminal, flags)
  let count = 0
  for await (const { answer, first } of pages(source)) {
    const rows = view.rows(answer)
    count += rows.length
    if (format === 'json') {
      const text = rows.map((row) => JSON.stringify(row)).join(',')
      await write(terminal, `${first ? `{"${list}":[` : text && ','}${text}`)
    } else {
      const once = first ? {} : { header: false }
      await print(terminal, { ...flags, ...once }, { body: rows, rows, columns: view.columns, id: view.id, single: false })
    }
  }
  if (format === 'json') await write(terminal, `],"total_count":${count},"total_pages":1}\n`)
}

type Source<In, Out, Row, Subject> = Omit<Stream<In, Out, Row, Subject>, 'view' | 'list'>

/** Each page after the last row of the one before; if that row is deleted meanwhile, after the last one that is still there. */
async function* pages<In, Out, Row, Subject>({ call, op, input }: Source<In, Out, Row, Subject>): AsyncGenerator<{ answer: Out; first: boolean }> {
  let cursors: string[] = []
  for (let first = true; ; first = false) {
    const answer = await call(op, { ...input, limit: PAGE, ...(!first && { after: cursors.at(-1) }) }).catch((error: unknown) => {
      if (cursors.length > 1 && error instanceof AppError && error.errors?.[0]?.code === 'INVALID_CURSOR') return undefined
      throw error
    })
    if (answer === undefined) {
      cursors = cursors.slice(0, -1)
      continue
    }
    yield { answer, first }
    const { page_info: page, ...body } = answer as unknown as { page_info: PageInfo } & Record<string, Record<string, string>[]> // what every list answers
    if (!page.has_next_page) return
    const ids = Object.values(body).find((value) => Array.isArray(value)) ?? []
    const [key = ''] = Object.keys(ids[0] ?? {})
    cursors = ids.map((row) => row[key] ?? '') // the id is the first field of every row
  }
}
