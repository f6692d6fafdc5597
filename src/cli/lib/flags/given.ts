import type { Command } from 'commander'
import { AppError } from '../../../core/errors.js'
import type { Field } from '../../../core/fields.js'
import { attributeOf, isGlobal, type FieldOption, type Values } from './fieldoption.js'
import { flagNames } from './options.js'

interface Given {
  leaf: Command
  fields: readonly Pick<Field, 'name'>[]
  positional: readonly string[]
  /** Positional field that receives all arguments, as a list or joined with spaces. */
  joined: Pick<Field, 'name' | 'type'> | undefined
}

/** The fields that the command line sets. */
export function givenValues({ leaf, fields, positional, joined }: Given): Values {
  const opts = leaf.opts<Values>()
  const empty = leaf.registeredArguments.find((_, index) => leaf.args[index]?.trim() === '')
  if (empty) throw new AppError('USAGE', `<${empty.name()}> is empty.`)
  const twice = fields.find(({ name }) => opts[attributeOf(name)] !== undefined && positional.includes(name) && leaf.args.length >= positional.length) // prettier-ignore
  if (twice) throw new AppError('USAGE', `Give <${leaf.registeredArguments.at(-1)?.name()}> as an argument or as an option, not both.`) // prettier-ignore
  const all = [
    ...fields.map(({ name }) => [name, opts[attributeOf(name)] ?? globalValue(leaf, name)]),
    ...positional.map((name, index) => [
      name,
      name === joined?.name ? leaf.args.slice(index).join(joined.type === 'array' ? ',' : ' ') : leaf.args[index],
    ]),
  ]
  return Object.fromEntries(all.filter(([, value]) => value !== undefined))
}

/** A global flag also sets the field of the same name: --quiet makes a command that tells people tell nobody. */
const globalValue = (leaf: Command, field: string): unknown =>
  isGlobal(field) ? leaf.optsWithGlobals<Values>()[field] : undefined

/** The error of a change without anything to change. */
export function nothingToChange(options: readonly FieldOption[], identifying: readonly string[]): AppError {
  const names = flagNames(options.filter(({ field }) => !identifying.includes(field)))
  const list = new Intl.ListFormat('en', { type: 'disjunction' }).format(names)
  return new AppError('USAGE', `Nothing to change. Give ${list}.`)
}
