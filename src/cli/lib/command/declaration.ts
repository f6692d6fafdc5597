import type { Command } from 'commander'
import { fieldsOf } from '../../../core/fields.js'
import { setFixes } from '../errors/fixes.js'
import { linesNote } from '../flags/columns.js'
import { markRequest } from '../flags/ascurl.js'
import { setCompleted } from '../flags/completed.js'
import { FieldOption, type Values } from '../flags/fieldoption.js'
import { explain } from '../flags/helptext.js'
import { takeSwitchValues } from '../flags/switches.js'
import { allOption } from '../output/pages.js'
import { withFields } from '../output/rowfields.js'
import type { Kind } from './invocation.js'
import type { Shape } from './shape.js'
import type { View } from './view.js'

/** Other words for verbs, as in a shell. */
const ALIASES: Readonly<Record<string, string>> = { list: 'ls', delete: 'rm' }

/** Adds a command with its flags and its help to its branch. Where its usage has no verb, it is the branch itself. */
export function declare<Out, Row>(parent: Command, { op, view, shape }: Kind<Out, Row>): Command {
  const { usage, summary = op.summary, output } = view
  const shown = usage.replaceAll(/(\w+):(\w+)/g, '$2')
  const leaf = /^[<[]/.test(shown)
    ? parent.arguments(shown)
    : parent.command(shown, { hidden: view.replaced ?? false }).description(summary)
  markRequest(leaf)
  for (const option of shape.options) leaf.addOption(option)
  const all = fieldsOf(op.input)
  for (const [index, name] of shape.positional.entries()) {
    const noun = all.find((field) => field.name === name)?.names
    if (noun) setCompleted(leaf.registeredArguments[index], { noun })
  }
  declareFlags(leaf, view, shape)
  if (view.fixes) setFixes(leaf, view.fixes)
  takeSwitchValues(leaf)
  withFields(leaf, async () => {
    const { fieldsOfRows } = await import('../output/choice.js')
    const { by } = leaf.opts<{ by?: string }>()
    const grouping = by === undefined ? undefined : (view.by?.[by] as Kind<unknown, unknown> | undefined)
    return grouping ? fieldsOfRows(grouping.op.output, grouping.view.output) : fieldsOfRows(op.output, output)
  })
  explain(leaf, {
    examples: view.examples,
    required: shape.required,
    prompted: promptedArguments(leaf, view, shape),
    ...(view.lines && { notes: [linesNote(parent.name(), shape.columns)] }),
  })
  const alias = ALIASES[leaf.name()]
  if (alias !== undefined) leaf.alias(alias)
  for (const word of view.formerly ?? []) leaf.alias(word)
  return leaf
}

/** The flag for the user to act as. */
export const withAs = (leaf: Command, note = ''): Command =>
  leaf.option('--as <user>', `act as this user: e-mail address, user name or id${note}`)

/** A file that says what to do stands in place of all arguments. */
function takeFile(leaf: Command, flag: string): void {
  const parse = leaf.parseOptions.bind(leaf)
  leaf.parseOptions = (args) => {
    const parsed = parse(args)
    if (leaf.getOptionValue(flag) !== undefined)
      for (const argument of leaf.registeredArguments) argument.required = false
    return parsed
  }
}

/** The flags that no field of the operation stands for. */
function declareFlags<Out, Row>(leaf: Command, view: View<Values, Out, Row>, { list }: Shape): void {
  if (view.as !== false) withAs(leaf, typeof view.as === 'object' ? ` (${view.as.needs})` : '')
  if (list !== undefined) leaf.addOption(allOption())
  if (view.by) {
    const option = new FieldOption('--by <text>', `print groups in place of rows (${Object.keys(view.by).join(', ')})`, 'by') // prettier-ignore
    option.words = Object.keys(view.by)
    leaf.addOption(option)
  }
  if (view.file) {
    leaf.option(`--${view.file.flag} <file>`, view.file.description)
    takeFile(leaf, view.file.flag)
  }
  if (view.saves) leaf.option(`--${view.saves.flag} <file>`, view.saves.description)
  if (view.follow) leaf.option('--follow', 'print new rows as they come, until Ctrl-C')
  if (view.existing) leaf.option('--if-not-exists', `succeed without a change if there is ${view.existing.by} already`)
  if (view.done) leaf.option('--dry-run', 'check the request and show the result, but change nothing')
  if (view.confirm ?? view.similar ?? view.file) leaf.option('-y, --yes', 'skip the confirmation prompt')
}

/** Arguments, by their names in the usage line, whose fields have a prompt. */
export function promptedArguments(
  leaf: Command,
  { input: { prompts = [] } = {} }: Pick<View<Values, never, never>, 'input'>,
  { positional, flagged }: Shape,
): Record<string, string> {
  const prompted = positional.flatMap((name, index) => {
    const shown = leaf.registeredArguments[index]?.name()
    return shown !== undefined && flagged.includes(name) && prompts.includes(name) ? [[shown, name]] : []
  })
  return Object.fromEntries(prompted) as Record<string, string>
}
