import type { TObject } from 'typebox'

type Schema = Readonly<Record<string, unknown>>

/** Our own keywords, see core/fields.ts. */
const OWN = new Set([
  'codes',
  'trim',
  'plain',
  'anyCase',
  'fromText',
  'secret',
  'names',
  'early',
  'time',
  'inDays',
  'keepsAge',
  'condition',
  'steady',
  'divided',
  'rule',
  'ignored',
])

/** A schema as JSON Schema has it, without our own keywords. A property may have the name of such a keyword. */
export function documented(schema: object): Schema {
  const kept: Record<string, unknown> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'properties') kept[keyword] = ofEach(value as Record<string, Schema>)
    else if (keyword === 'enum' && 'anyCase' in schema) kept[keyword] = inBothCases(value as string[])
    else if (keyword === 'documentedFormat') kept.format = value
    else if (!OWN.has(keyword)) kept[keyword] = inner(value)
  }
  return kept
}

/** A field of a body, where a whole number may be text. */
export function inBody(schema: object): Schema {
  const field = documented(schema)
  return 'fromText' in schema ? { ...field, type: [field.type, 'string'].flat(), pattern: WHOLE_NUMBER } : field
}

/** The fields that a client has to send: a field with a default is optional. */
export const requiredOf = ({ properties, required }: TObject): string[] =>
  (required ?? []).filter((name) => !('default' in (properties[name] ?? {})))

const WHOLE_NUMBER = '^\\s*([+-]?\\d+)?\\s*$'

/** Clients send one or the other; a validator of the document compares letter by letter. */
const inBothCases = (words: readonly string[]): string[] => [...words, ...words.map((word) => word.toUpperCase())]

const ofEach = (schemas: Record<string, Schema>): Record<string, Schema> =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, documented(schema)]))

/** The value of a keyword: a schema, a list of schemas, or plain data. */
function inner(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inner)
  return typeof value === 'object' && value !== null ? documented(value) : value
}
