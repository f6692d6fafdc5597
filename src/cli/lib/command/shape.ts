import { fieldsOf, type Field } from '../../../core/fields.js'
import type { Operation } from '../../../service/lib/operation.js'
import { lineColumns, type LineColumn } from '../flags/columns.js'
import type { FieldOption, Values } from '../flags/fieldoption.js'
import { flagNames, optionsOf } from '../flags/options.js'
import type { Request, Usage } from './view.js'

/** The arguments and flags of a command, as they follow from the schema of the operation and the view. */
export interface Shape {
  /** The fields that are arguments, in their order. */
  positional: readonly string[]
  /** The first of them. */
  main: string
  /** The fields that have flags. */
  fields: readonly Field[]
  options: readonly FieldOption[]
  /** The argument that takes all further ones, as a list or joined by spaces. */
  joined: Field | undefined
  /** The columns that CSV on stdin may have. */
  columns: readonly LineColumn[]
  /** For a list with pages: the key of its rows in the body. */
  list: string | undefined
  /** Flags without which the command prompts or fails, one for each field. */
  required: readonly string[]
  /** Positional fields that have a flag too. */
  flagged: readonly string[]
}

/** The parts of a view that determine the shape. */
interface Declared extends Pick<Usage, 'usage'>, Pick<Request<Values>, 'input'> {
  output: { list?: unknown }
  lines?: unknown
}

export function shapeOf(
  { input: schema }: Pick<Operation, 'input'>,
  { usage, input = {}, output, lines }: Declared,
): Shape {
  const positional = [...usage.matchAll(/[<[](\w+)(?::\w+)?(?:\.\.\.)?[>\]]/g)].map(([, name]) => name as string)
  const [main = ''] = positional
  const { flagged = [] } = input
  const list = typeof output.list === 'string' ? output.list : undefined
  const all = fieldsOf(schema)
  const fields = all.filter(
    ({ name }) =>
      (!positional.includes(name) || flagged.includes(name)) &&
      !input.hidden?.includes(name) &&
      (list === undefined || name !== 'first'), // the same as limit
  )
  const options = optionsOf(fields, input).map((option) =>
    flagged.includes(option.field) ? option.hideHelp() : option,
  )
  const cells = all.filter((field) => field.name === main || fields.includes(field))
  return {
    positional,
    main,
    fields,
    options,
    joined: all.find(({ name }) => name === input.joined),
    columns: lines ? lineColumns(cells, options, main) : [],
    list,
    required: requiredFlags(schema, input, { fields, options }),
    flagged,
  }
}

function requiredFlags(
  schema: { required?: string[] },
  { prompts = [], defaults = {}, finds }: NonNullable<Declared['input']>,
  { fields, options }: Pick<Shape, 'fields' | 'options'>,
): string[] {
  const optional = [
    ...fields.filter((field) => field.default !== undefined).map(({ name }) => name),
    ...Object.keys(defaults),
    ...(finds?.fields ?? []),
  ]
  const names = [...(schema.required ?? []), ...prompts].filter((name) => !optional.includes(name))
  return flagNames(options.filter(({ field, hidden }) => !hidden && names.includes(field)))
}
