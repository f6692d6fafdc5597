import type { Command } from 'commander'
import type { LongBody } from '../../../service/lib/download.js'
import type { Operation } from '../../../service/lib/operation.js'
import type { Cli } from '../connection/session.js'
import type { Values } from '../flags/fieldoption.js'
import { givenValues } from '../flags/given.js'
import { markRequest, type CurlFlags } from '../flags/ascurl.js'
import { explain } from '../flags/helptext.js'
import { tell } from '../terminal/terminal.js'
import { shapeOf } from './shape.js'
import { coerce } from '../../../core/fields.js'
import { withTimes } from '../flags/times.js'

interface View {
  /** With the optional argument [file]. */
  usage: `${string}[file]`
  summary?: string
  examples: readonly string[]
  notes?: readonly string[]
  /** What is said after it, such as `Wrote the account to ${file}.` */
  done(this: void, file: string): string
}

/** Adds the command of a download. Its schema defines the flags. It writes to a file, or without one to stdout. */
export function downloadCommand<In, Subject>(
  parent: Command,
  op: Operation<In, LongBody, Subject>,
  view: View,
  cli: Cli,
): void {
  const { usage, summary = op.summary, examples, notes = [], done } = view
  const shape = shapeOf(op, { usage, output: {} })
  const leaf = parent.command(usage).description(summary)
  for (const option of shape.options) leaf.addOption(option)
  markRequest(leaf)
  leaf.option('--as <user>', 'act as this user: e-mail address, user name or id')
  explain(leaf, { examples, notes, required: shape.required })
  leaf.action(async () => {
    const { file, ...given } = givenValues({ leaf, ...shape }) as Values & { file?: string }
    const input = withTimes(op.input, coerce(op.input, given), cli.terminal.now())
    const flags = leaf.optsWithGlobals<CurlFlags>()
    if (flags.asCurl) return (await import('./ascurl.js')).showRequest(cli, flags, op, input, { file })
    const call = await cli.connect({ as: flags.as })
    const body = await call(op, input)
    const { print, save } = await import('../output/save.js')
    if (file === undefined || file === '-') return print(cli.terminal, body)
    await save(cli.terminal, file, body)
    tell(cli.terminal, done(file))
  })
}
