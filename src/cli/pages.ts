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
  { call, op, input, view, list }: Stream<In, Out, Row, Subject>,
): Promise<void> {
  const format = formatOf(terminal, flags)
  const { page: _, after: __, ...rest } = input
  let count = 0
  for (let after: string | null | undefined; after !== null;) {
    const answer = await call(op, { ...rest, limit: PAGE, ...(after !== undefined && { after }) })
    const rows = view.rows(answer)
    const { page_info: page, total_count } = answer as unknown as { page_info: PageInfo; total_count: number } // what every list answers
    if (format === 'json') {
      const text = rows.map((row) => JSON.stringify(row)).join(',')
      await write(terminal, `${after === undefined ? `{"${list}":[` : text && ','}${text}`)
    } else {
      await print(
        terminal,
        { ...flags, header: flags.header === true && after === undefined },
        { body: rows, rows, columns: view.columns, id: view.id, single: false },
      )
    }
    count += rows.length
    after = page.has_next_page ? page.end_cursor : null
    if (format === 'json' && after === null) await write(terminal, `],"total_count":${Math.max(total_count, count)},"total_pages":1}\n`)
  }
}
