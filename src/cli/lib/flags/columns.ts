import type { Field } from '../../../core/fields.js'
import type { RecordColumn } from '../../../core/records.js'
import type { FieldOption } from './fieldoption.js'
import { isSource } from './options.js'

export type LineColumn = RecordColumn

/** The columns that CSV may have: the fields of a thing to create, named as their flags or as in the API. */
export const lineColumns = (fields: readonly Field[], options: readonly FieldOption[], main: string): LineColumn[] =>
  fields.flatMap(({ name: field, type }): LineColumn[] => {
    const own = options.filter((option) => option.field === field && !option.long?.startsWith('--no-'))
    const [first] = own
    if (field === main || !first) return [{ names: [field.toLowerCase()], field, valueOf: (text) => text }]
    if (type === 'boolean')
      return own.map((option) => ({ names: [wordOf(option)], field, valueOf: (text) => onOrOff(text, option) }))
    return [{ names: [wordOf(first), field.toLowerCase()], field, valueOf: (text) => parsed(text, first) }]
  })

/** The note in help about creating from stdin. Lines without a header are values of the first column. */
export function linesNote(nouns: string, columns: readonly LineColumn[]): string {
  const words = columns.map(({ names: [name = ''] }) => name)
  const [main] = words
  return `With - in place of <${main}>, the command creates the ${nouns} that stdin lists, one <${main}> a line. If the first line is a CSV header with the column ${main}, each record is one. Columns: ${words.join(', ')}.`
}

const wordOf = ({ long = '' }: FieldOption): string => long.slice(2)

/** A switch such as --private sets another field to false. */
function onOrOff(text: string, { presetArg }: FieldOption): unknown {
  const word = text.trim().toLowerCase()
  return word === 'true' ? presetArg : word === 'false' ? presetArg === false : text
}

function parsed(text: string, { parseArg }: FieldOption): unknown {
  const value: unknown = parseArg?.(text, undefined) ?? text
  return isSource(value) ? text : value
}
