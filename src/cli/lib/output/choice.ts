import type { TSchema } from 'typebox'
import { AppError } from '../../../core/errors.js'
import { didYouMean, likely } from '../../../core/guesses.js'
import { Mistyped } from '../texts/mistyped.js'
import type { Column } from './table.js'

interface Schema {
  type?: string | string[]
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  const?: unknown
}

/**
 * The fields that --fields can choose, in the order of the API document: those of a row, and those of the objects in it
 * (`board.name`).
 */
export function fieldsOfRows<Out, Row>(
  output: TSchema,
  { rows, columns }: { rows(this: void, answer: Out): readonly Row[]; columns: readonly Column<Row>[] },
): string[] {
  const answer = sampleOf(output)
  const [row] = isObject(answer) ? rows(answer as Out) : []
  // A deletion answers nothing; what it removed has at least the fields of the columns
  if (!isObject(row)) return columns.flatMap(({ field = [] }) => field)
  return Object.entries(row).flatMap(([name, value]) => [
    name,
    ...(isObject(value) ? Object.keys(value).map((inner) => `${name}.${inner}`) : []),
  ])
}

/** A value that has every field of the schema. The functions that make rows of an answer only move its parts. */
function sampleOf(schema: Schema): unknown {
  const { properties, items, anyOf } = schema
  if ('const' in schema) return schema.const
  if (anyOf) return sampleOf(anyOf.find((each) => each.properties) ?? anyOf[0] ?? {})
  if (items) return [sampleOf(items)]
  if (properties) return Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, sampleOf(each)]))
  const [type] = [schema.type].flat()
  return type === 'integer' || type === 'number' ? 0 : type === 'boolean' ? false : type === 'object' ? {} : ''
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Refuses names of --fields that rows do not have. `args` are those of the command. */
export function assertFields(list: string | true, known: readonly string[], args: readonly string[]): void {
  if (known.length === 0) throw new AppError('USAGE', 'The output of this command has no fields. Leave --fields out.')
  if (list === true) return
  const names = namesIn(list)
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) {
    const field = meant(unknown, known)
    const right = names.map((name) => (name === unknown && field !== undefined ? field : name)).join(',')
    throw new Mistyped(
      `Unknown field ${JSON.stringify(unknown.slice(0, 100))}.${didYouMean(field)} --fields alone lists the fields.`,
      field === undefined
        ? undefined
        : args.map((arg) => (arg === list ? right : arg === `--fields=${list}` ? `--fields=${right}` : arg)),
    )
  }
  if (names.length === 0) throw new AppError('USAGE', '--fields needs names, such as --fields id,name.')
}

/** The field of a part, where the name is whole: `voters.votesCount` for `votesCount`; else one with a near name. */
const meant = (name: string, known: readonly string[]): string | undefined =>
  known.find((each) => each.toLowerCase().endsWith(`.${name.toLowerCase()}`)) ?? likely(name, known)

const namesIn = (list: string): string[] =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')

/** The row with these fields alone, in this order. A field that the row lacks is null. */
export const picked = (row: unknown, list: string): Record<string, unknown> =>
  Object.fromEntries(namesIn(list).map((name) => [name, valueAt(row, name) ?? null]))

/** The columns of `picked` rows, for formats other than JSON. */
export const chosenColumns = (list: string): Column<Record<string, unknown>>[] =>
  namesIn(list).map((name) => ({ head: name, field: name, text: (row) => textOf(row[name]), drop: 0 }))

const valueAt = (row: unknown, name: string): unknown =>
  name.split('.').reduce((value, key) => (isObject(value) ? value[key] : undefined), row)

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
