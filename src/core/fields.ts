import type { TObject, TSchema } from 'typebox'
import { Check, Compile, Errors } from 'typebox/schema'
import { closest } from 'fastest-levenshtein'
import { AppError, type Issue } from './errors.js'

/**
 * Keywords of ours inside a schema property, beside JSON Schema's own.
 * - `codes`: item code by violated keyword, where the contract names one (`{ pattern: 'BOARD_COLOR_HEX_CHAR' }`)
 * - `trim`: surrounding blanks are not part of the value
 * - `anyCase`: the choices are accepted in any letter case
 * - `fromText`: a whole number is also accepted as text in a body, and empty text as nothing
 * - `secret`: the value never appears in an error
 * - `rule`: what would be right, where the sentence made of the keywords would not be clear
 * - `documentedFormat`: shown as `format` in the API document, and checked by the operation in its own words
 */
interface Property {
  type?: string | string[]
  description?: string
  default?: unknown
  enum?: string[]
  items?: Property
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  codes?: Record<string, string>
  trim?: boolean
  anyCase?: boolean
  fromText?: boolean
  secret?: boolean
  rule?: string
}

export interface Field {
  name: string
  type: 'string' | 'integer' | 'boolean' | 'array'
  description: string
  default?: unknown
  choices?: string[]
  secret?: true
}

/** Fields that clients of the contract send and that do nothing: some, or whatever there may be. */
export type Ignored = readonly string[] | 'all'

interface Shape {
  fields: Field[]
  properties: Record<string, Property>
  ignored: Ignored
  Check(value: unknown): boolean
  Errors(value: unknown): { keyword: string; instancePath: string; params: object }[]
}

const shapes = new WeakMap<TObject, Shape>() // compiled at the second check: a command makes one, and compiling takes longer than that

function shapeOf(schema: TObject): Shape {
  let shape = shapes.get(schema)
  if (!shape) {
    const properties = schema.properties as Record<string, Property>
    let checked = 0
    let compiled: { Check(value: unknown): boolean } | undefined
    shape = {
      fields: Object.entries(properties).map(([name, property]) => fieldOf(name, property)),
      properties,
      ignored: (schema as { ignored?: Ignored }).ignored ?? [],
      Check: (value) =>
        checked++ === 0 ? Check(schema as TSchema, value) : (compiled ??= Compile(schema as TSchema)).Check(value),
      Errors: (value) => Errors(schema as TSchema, value)[1],
    }
    shapes.set(schema, shape)
  }
  return shape
}

function fieldOf(name: string, property: Property): Field {
  const [type] = [property.type ?? 'string'].flat()
  const choices = property.enum ?? property.items?.enum
  return {
    name,
    type: type as Field['type'],
    description: property.description ?? '',
    ...(property.default !== undefined && { default: property.default }),
    ...(choices && { choices }),
    ...(property.secret && { secret: true }),
  }
}

/** What a text surface (flags, query string, path) needs to know about an input. */
export const fieldsOf = (schema: TObject): Field[] => shapeOf(schema).fields

/** Turns text into the types the schema names; text that does not fit is left for `parse` to reject. */
export function coerce(schema: TObject, text: Record<string, unknown>): Record<string, unknown> {
  const value = { ...text }
  for (const { name, type, default: preset = [] } of fieldsOf(schema)) {
    const raw = value[name]
    if (typeof raw !== 'string') continue
    if (type === 'array') value[name] = raw.trim() === '' ? preset : raw.split(',').map((item) => item.trim())
    else if (type === 'integer') value[name] = numberIn(raw)
    else if (type === 'boolean' && (raw === 'true' || raw === 'false')) value[name] = raw === 'true'
  }
  return value
}

/** The whole number that a text says, nothing for an empty text, and otherwise the text. */
function numberIn(text: string): number | string | undefined {
  if (text.trim() === '') return undefined
  return /^\s*[+-]?\d+\s*$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text
}

/** Fills in defaults and checks; throws a VALIDATION_ERROR that names field, rule and value of everything that is wrong. */
export function parse(schema: TObject, input: unknown): Record<string, unknown> {
  const given = fieldsGiven(input)
  const shape = shapeOf(schema)
  const isIgnored = (name: string) => shape.ignored === 'all' || shape.ignored.includes(name)
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(shape.properties, name) && !isIgnored(name))
  const value = prepared(shape, given)
  const issues = [
    ...unknown.slice(0, MOST).map((name) => unknownField(shape, name)),
    ...(shape.Check(value) ? [] : issuesOf(shape, value)),
  ]
  if (issues.length > 0)
    throw invalid(issues.filter((issue, index) => issues.findIndex((other) => other.field === issue.field) === index))
  return value
}

/** An error names at most so many unknown fields. */
const MOST = 5

/** Refuses what neither engine can store, before anything looks it up: PostgreSQL has no NUL, and half a character is no UTF-8. */
export function assertReadable(input: unknown): void {
  const issues = Object.entries(fieldsGiven(input))
    .filter(([, value]) => isUnreadable(value))
    .map(([field]) => ({
      code: 'TEXT_UNREADABLE',
      message: `${field} contains a NUL character or half of a character. Send valid UTF-8 text.`,
      field,
      rule: 'valid UTF-8 text without NUL',
    }))
  if (issues.length > 0) throw invalid(issues)
}

/** Looks at whatever is nested in it, however deep. */
function isUnreadable(value: unknown): boolean {
  const open = [value]
  while (open.length > 0) {
    const item = open.pop()
    if (typeof item === 'string' && (item.includes('\0') || !item.isWellFormed())) return true
    if (typeof item === 'object' && item !== null) open.push(...Object.values(item))
  }
  return false
}

function fieldsGiven(input: unknown): Record<string, unknown> {
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input as Record<string, unknown>
  throw invalid([{ code: 'OBJECT_EXPECTED', message: 'The body must be a JSON object.', field: '', rule: 'an object' }])
}

/** One VALIDATION_ERROR about several fields, for rules that a schema cannot say. */
export const invalid = (errors: Issue[]): AppError =>
  new AppError('VALIDATION_ERROR', errors.map((issue) => issue.message).join(' '), { errors })

export const invalidField = (issue: Issue): AppError => invalid([issue])

/** The known fields alone, with their defaults, in the form they are checked and stored. */
function prepared({ properties }: Shape, given: Record<string, unknown>): Record<string, unknown> {
  const value: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(properties)) {
    const raw = Object.hasOwn(given, name) ? given[name] : undefined
    const own = property.fromText && typeof raw === 'string' ? numberIn(raw) : raw
    const held = own === undefined ? property.default : own
    if (held === undefined) continue
    const text = typeof held === 'string' && property.trim ? held.trim() : held
    value[name] = typeof text === 'string' && property.anyCase ? text.toLowerCase() : text
  }
  return value
}

/** TypeBox reports a few errors at a time; that there is one is enough to refuse. */
function issuesOf(shape: Shape, value: Record<string, unknown>): Issue[] {
  const issues = shape.Errors(value).flatMap(({ keyword, instancePath, params }) => {
    const [, outer] = instancePath.split('/')
    if (outer !== undefined) return [issueOf(shape, keyword === 'required' ? 'type' : keyword, outer, value[outer])] // what a field lacks is said of the field
    const { requiredProperties = [''] } = params as { requiredProperties?: string[] }
    return requiredProperties.map((name) => issueOf(shape, keyword, name, value[name]))
  })
  return issues.length > 0
    ? issues
    : [{ code: 'INVALID_VALUE', message: 'Some fields are not valid.', field: '', rule: 'valid fields' }]
}

function issueOf({ properties }: Shape, keyword: string, field: string, value: unknown): Issue {
  const property = properties[field] ?? {}
  const rule = ruleOf(property)
  const code = property.codes?.[keyword] ?? property.codes?.['*'] ?? itemCode(keyword, property)
  if (keyword === 'required') return { code, message: `${field} is missing: it must be ${rule}.`, field, rule }
  if (property.secret) return { code, message: `${field} must be ${rule}.`, field, rule }
  return { code, message: `${field} must be ${rule}; ${shown(value)} is not.`, field, rule, value: shortened(value) }
}

function unknownField(shape: Shape, field: string): Issue {
  const known = Object.keys(shape.properties)
  const hint =
    known.length === 0 ? 'This operation takes no fields.' : `Did you mean ${JSON.stringify(closest(field, known))}?`
  return {
    code: 'UNKNOWN_FIELD',
    message: `There is no field ${JSON.stringify(shortened(field))}. ${hint}`,
    field,
    rule: known.length === 0 ? 'no fields' : `one of ${known.join(', ')}`,
  }
}

function itemCode(keyword: string, property: Property): string {
  if (keyword === 'minimum') return `MIN_VALUE_${property.minimum}`
  if (keyword === 'maximum') return `MAX_VALUE_${property.maximum}`
  if (keyword === 'required') return 'FIELD_MISSING'
  if (keyword === 'type') return `${[property.type ?? 'string'].flat()[0]?.toUpperCase()}_EXPECTED`
  return (
    {
      minLength: 'TOO_SHORT',
      maxLength: 'TOO_LONG',
      minItems: 'TOO_FEW',
      maxItems: 'TOO_MANY',
      enum: 'UNKNOWN_CHOICE',
    }[keyword] ?? 'INVALID_VALUE'
  )
}

/** What would have been right, as the end of the sentence "it must be …". Lengths are counted in Unicode code points. */
function ruleOf(property: Property): string {
  const orNull = [property.type].flat().includes('null') ? ' or null' : ''
  return (property.rule ?? plainRule(property)) + orNull
}

function plainRule(property: Property): string {
  const [type] = [property.type ?? 'string'].flat()
  const { enum: choices, minimum, maximum, minLength = 0, maxLength } = property
  if (choices) return `one of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}`
  if (type === 'boolean') return 'true or false'
  if (type === 'array') return `a list${property.items ? ` whose items are ${plainRule(property.items)}` : ''}`
  if (type === 'integer' && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER)
    return `a whole number from ${minimum} to ${maximum}`
  if (type === 'integer') return `a whole number${minimum === undefined ? '' : ` from ${minimum}`}`
  return maxLength === undefined ? 'text' : `text of ${minLength} to ${maxLength} characters`
}

const shown = (value: unknown): string => JSON.stringify(shortened(value)) ?? 'nothing'

/** An error repeats at most 100 characters of a text, and of what is nested only that it is. */
function shortened(value: unknown): unknown {
  if (typeof value === 'string') return value.length > 100 ? `${value.slice(0, 100).toWellFormed()}…` : value
  if (Array.isArray(value))
    return value.length <= 10 && value.every((item) => typeof item !== 'object') ? value.map(shortened) : 'a list'
  return typeof value === 'object' && value !== null ? 'an object' : value
}
