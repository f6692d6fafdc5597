import type { Command } from 'commander'
import type { TObject } from 'typebox'
import { coerce, fieldsOf } from '../../../core/fields.js'
import type { Cli } from '../connection/session.js'
import { givenValues } from '../flags/given.js'
import { optionsOf } from '../flags/options.js'
import { withTimes } from '../flags/times.js'
import { formatOf, isStructured, print, type Output, type OutputFlags } from '../output/output.js'
import { allOption, assertAllPages, footer, streamAll } from '../output/pages.js'

interface LocalList<Row, Answer> extends Pick<Output<Answer, Row>, 'columns' | 'id' | 'rows'> {
  /** The input of the list, with the fields of `pageFields`. */
  fields: TObject
  /** The key of the rows in the answer. */
  list: string
  /** More keys of the answer that hold the number of rows. */
  totals?: readonly string[]
  /** Opens what the pages are read from. Runs once, after the flags were checked. */
  open(this: void, asked: Asked): Promise<Opened<Answer>>
}

interface Asked {
  args: readonly string[]
  flags: OutputFlags
  input: Record<string, unknown>
}

interface Opened<Answer> {
  read(this: void, input: object): Promise<Answer>
  /** Message for an empty list. */
  empty: string
  /** Runs after the rows were printed; not for --quiet, JSON and YAML. */
  after?(this: void): void
}

/** The flags and the action of a list that is not an operation, because only who has the files may see its rows. */
export function localList<Row, Answer>(leaf: Command, cli: Cli, view: LocalList<Row, Answer>): void {
  const fields = fieldsOf(view.fields).filter(({ name }) => name !== 'first') // the same as --limit
  leaf.addOption(allOption())
  for (const option of optionsOf(fields, {})) leaf.addOption(option)
  leaf.action(async () => {
    const { terminal } = cli
    const flags = leaf.optsWithGlobals<OutputFlags & { everyPage?: boolean }>()
    const given = givenValues({ leaf, fields, positional: [], joined: undefined })
    if (flags.everyPage) assertAllPages(given)
    const input = withTimes(view.fields, coerce(view.fields, given), terminal.now())
    const isStructuredOrQuiet = isStructured(formatOf(terminal, flags)) || flags.quiet === true
    const opened = await view.open({ args: leaf.args, flags, input })
    const read = async (page: object) => opened.read({ ...input, ...page })
    const { columns, id, rows, list, totals = [] } = view
    const { empty } = opened
    if (flags.everyPage) {
      await streamAll(terminal, flags, { read, output: { columns, id, rows }, list, totals, empty })
      if (!isStructuredOrQuiet) opened.after?.()
      return
    }
    const body = await read({})
    await print(terminal, flags, { body, rows: rows(body), columns, id, single: false })
    if (isStructuredOrQuiet) return
    opened.after?.()
    footer(terminal, body, { list, shown: rows(body).length, numbered: true, empty })
  })
}
