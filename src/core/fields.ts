import type { TObject, TSchema } from 'typebox'
import { Check, Compile, Errors } from 'typebox/schema'
import { AppError, type Issue } from './errors.js'
import { guess } from './guesses.js'
import type { Noun } from './nouns.js'
import { plainText, withoutControls } from './text.js'
import { valuesIn } from './values.js'

/**
 * A property of a schema: JSON Schema keywords, and these of ours.
 * - `codes`: the item code by violated keyword, where the contract defines one (`{ pattern: 'BOARD_COLOR_HEX_CHAR' }`)
 * - `trim`: surrounding whitespace is removed
 * - `plain`: control, direction and zero-width characters are removed, see `plainText`
 * - `anyCase`: the choices are case-insensitive
 * - `fromText`: a body may contain the integer as text; empty text counts as missing
 * - `secret`: the value never appears in an error, and keeps the control characters that every other text loses
 * - `names`: the noun of what the text names, so that commands accept shorter names for it
 * - `early`: with `names`: the operation ignores a name that it does not find, so commands look it up before
 * - `time`: a point in time; commands take how long ago it was, too
 * - `keepsAge`: how long ago it was is not made a time by commands
 * - `inDays`: a number of days; commands take `7d` and `4w`, too
 * - `condition`: says when or how to change something, not what to
 * - `divided`: a regular expression for what separates the values of a list in flags and query strings (default: a comma)
 * - `steady`: the orders of a list in which no change moves a row, so that its pages have each row once
 * - `rule`: the text of the rule in errors, where the one generated from the keywords is unclear
 * - `documentedFormat`: the `format` in the API document; the operation checks it, not the schema
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
  plain?: boolean
  anyCase?: boolean
  fromText?: boolean
  secret?: boolean
  names?: Noun
  early?: boolean
  time?: boolean
  keepsAge?: boolean
  inDays?: boolean
  condition?: boolean
  steady?: readonly string[]
  divided?: string
  rule?: string
}

export interface Field {
  name: string
  type: 'string' | 'integer' | 'boolean' | 'array'
  description: string
  default?: unknown
  choices?: string[]
  secret?: true
  names?: Noun
  early?: true
  time?: true
  keepsAge?: true
  inDays?: true
  condition?: true
  steady?: readonly string[]
  divided?: string
}

/** Unknown fields that are accepted and ignored, because existing clients send them: some, or all. */
export type Ignored = readonly string[] | 'all'

interface CompiledSchema {
  fields: Field[]
  properties: Record<string, Property>
  ignored: Ignored
  Check(value: unknown): boolean
  Errors(value: unknown): { keyword: string; instancePath: string; params: object }[]
}

/** A schema is compiled at its second check: a command makes only one, which is faster without compiling. */
const compiledSchemas = new WeakMap<TObject, CompiledSchema>()

function compiledSchema(schema: TObject): CompiledSchema {
  const known = compiledSchemas.get(schema)
  if (known) return known
  const properties = schema.properties as Record<string, Property>
  let checks = 0
  let compiled: { Check(value: unknown): boolean } | undefined
  const result: CompiledSchema = {
    fields: Object.entries(properties).map(([name, property]) => fieldOf(name, property)),
    properties,
    ignored: (schema as { ignored?: Ignored }).ignored ?? [],
    Check: (value) =>
      checks++ === 0 ? Check(schema as TSchema, value) : (compiled ??= Compile(schema as TSchema)).Check(value),
    Errors: (value) => Errors(schema as TSchema, value)[1],
  }
  compiledSchemas.set(schema, result)
  return result
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
    ...(property.names && { names: property.names }),
    ...(property.early && { early: true }),
    ...(property.time && { time: true }),
    ...(property.keepsAge && { keepsAge: true }),
    ...(property.inDays && { inDays: true }),
    ...(property.condition && { condition: true }),
    ...(property.steady && { steady: property.steady }),
    ...(property.divided !== undefined && { divided: property.divided }),
  }
}

/** The fields of a schema, for flags and query strings. */
export const fieldsOf = (schema: TObject): Field[] => compiledSchema(schema).fields

/** Converts text to the types of the schema. Text that does not fit is left for `parse` to reject. */
export function coerce(schema: TObject, text: Record<string, unknown>): Record<string, unknown> {
  const value = { ...text }
  for (const { name, type, default: preset = [], divided } of fieldsOf(schema)) {
    const raw = value[name]
    if (typeof raw !== 'string') continue
    if (type === 'array') value[name] = raw.trim() === '' ? preset : valuesIn(raw, divided)
    else if (type === 'integer') value[name] = parseInteger(raw)
    else if (type === 'boolean' && (raw === 'true' || raw === 'false')) value[name] = raw === 'true'
  }
  return value
}

/** The integer in a text, undefined if the text is empty, or the text itself if it is not an integer. */
function parseInteger(text: string): number | string | undefined {
  if (text.trim() === '') return undefined
  return /^\s*[+-]?\d+\s*$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text
}

/** Fills in defaults and validates. Throws a VALIDATION_ERROR with field, rule and value of every invalid field. */
export function parse(schema: TObject, input: unknown): Record<string, unknown> {
  const given = fieldsGiven(input)
  const compiled = compiledSchema(schema)
  const isIgnored = (name: string) => compiled.ignored === 'all' || compiled.ignored.includes(name)
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(compiled.properties, name) && !isIgnored(name))
  const value = normalized(compiled, given)
  const issues = [
    ...unknown.slice(0, MAX_UNKNOWN_FIELDS).map((name) => unknownField(compiled, name)),
    ...(compiled.Check(value) ? [] : issuesOf(compiled, value)),
  ]
  if (issues.length > 0)
    throw invalid(issues.filter((issue, index) => issues.findIndex((other) => other.field === issue.field) === index))
  return value
}

/** The number of unknown fields that an error names. */
const MAX_UNKNOWN_FIELDS = 5

/**
 * Refuses text that a database cannot store, before any query: PostgreSQL has no NUL, and an unpaired surrogate is not
 * UTF-8.
 */
export function assertReadable(input: unknown): void {
  const issues = Object.entries(fieldsGiven(input))
    .filter(([, value]) => hasUnreadableText(value))
    .map(([field]) => ({
      code: 'TEXT_UNREADABLE',
      message: `${field} contains a NUL character or an unpaired surrogate. Send valid UTF-8 text.`,
      field,
      rule: 'valid UTF-8 text without NUL',
    }))
  if (issues.length > 0) throw invalid(issues)
}

/** Checks nested values too. Iterative, because the nesting may be deep. */
function hasUnreadableText(value: unknown): boolean {
  const stack = [value]
  while (stack.length > 0) {
    const item = stack.pop()
    if (typeof item === 'string' && (item.includes('\0') || !item.isWellFormed())) return true
    if (typeof item === 'object' && item !== null) stack.push(...Object.values(item))
  }
  return false
}

function fieldsGiven(input: unknown): Record<string, unknown> {
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input as Record<string, unknown>
  throw invalid([{ code: 'OBJECT_EXPECTED', message: 'The body must be a JSON object.', field: '', rule: 'an object' }])
}

/** A VALIDATION_ERROR about several fields, for rules that a schema cannot express. */
export const invalid = (errors: Issue[]): AppError =>
  new AppError('VALIDATION_ERROR', errors.map((issue) => issue.message).join(' '), { errors })

export const invalidField = (issue: Issue): AppError => invalid([issue])

/** The known fields, with defaults, in the form in which they are checked and stored. */
function normalized({ properties }: CompiledSchema, given: Record<string, unknown>): Record<string, unknown> {
  const value: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(properties)) {
    const raw = Object.hasOwn(given, name) ? given[name] : undefined
    const converted = property.fromText && typeof raw === 'string' ? parseInteger(raw) : raw
    const item = converted === undefined ? property.default : converted
    if (item === undefined) continue
    value[name] = typeof item === 'string' ? normalizedText(property, item) : item
  }
  return value
}

/** A secret stays as it is: a password may have any character. */
function normalizedText({ secret, plain, trim, anyCase }: Property, text: string): string {
  if (secret) return trim ? text.trim() : text
  const visible = plain ? plainText(text) : withoutControls(text)
  const trimmed = trim ? visible.trim() : visible
  return anyCase ? trimmed.toLowerCase() : trimmed
}

/** TypeBox reports only a few errors at a time, or none. */
function issuesOf(compiled: CompiledSchema, value: Record<string, unknown>): Issue[] {
  const issues = compiled.Errors(value).flatMap(({ keyword, instancePath, params }) => {
    const [, field] = instancePath.split('/')
    // A nested error is reported for the top-level field.
    if (field !== undefined) return [issueOf(compiled, keyword === 'required' ? 'type' : keyword, field, value[field])]
    const { requiredProperties = [''] } = params as { requiredProperties?: string[] }
    return requiredProperties.map((name) => issueOf(compiled, keyword, name, value[name]))
  })
  return issues.length > 0
    ? issues
    : [{ code: 'INVALID_VALUE', message: 'Some fields are not valid.', field: '', rule: 'valid fields' }]
}

function issueOf({ properties }: CompiledSchema, keyword: string, field: string, value: unknown): Issue {
  const property = properties[field] ?? {}
  const rule = ruleOf(property)
  const code = property.codes?.[keyword] ?? property.codes?.['*'] ?? itemCode(keyword, property)
  if (keyword === 'required') return { code, message: `${field} is missing: it must be ${rule}.`, field, rule }
  if (property.secret) return { code, message: `${field} must be ${rule}.`, field, rule }
  return {
    code,
    message: `${field} must be ${rule}; ${quotedValue(value)} is not.${guessed(value, property)}`,
    field,
    rule,
    value: shortened(value),
  }
}

/** The choice that was probably meant, of a list in place of the first item that is none. */
function guessed(value: unknown, { enum: own, items }: Property): string {
  const choices = (own ?? items?.enum ?? []).filter((choice) => typeof choice === 'string')
  const wrong = [value].flat().find((item) => typeof item === 'string' && !choices.includes(item))
  return typeof wrong === 'string' ? guess(wrong, choices) : ''
}

function unknownField({ properties }: CompiledSchema, field: string): Issue {
  const known = Object.keys(properties)
  const hint = known.length === 0 ? ' This operation takes no fields.' : guess(field, known)
  return {
    code: 'UNKNOWN_FIELD',
    message: `There is no field ${JSON.stringify(shortened(field))}.${hint}`,
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

/** The rule of a property, as the end of "it must be …". Lengths count Unicode code points. */
function ruleOf(property: Property): string {
  const orNull = [property.type].flat().includes('null') ? ' or null' : ''
  return (property.rule ?? ruleFromKeywords(property)) + orNull
}

function ruleFromKeywords(property: Property): string {
  const [type] = [property.type ?? 'string'].flat()
  const { enum: choices, minimum, maximum, minLength = 0, maxLength } = property
  if (choices) return `one of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}`
  if (type === 'boolean') return 'true or false'
  if (type === 'array') return `a list${property.items ? ` whose items are ${ruleFromKeywords(property.items)}` : ''}`
  if (type === 'integer' && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER)
    return `a whole number from ${minimum} to ${maximum}`
  if (type === 'integer') return `a whole number${minimum === undefined ? '' : ` from ${minimum}`}`
  return maxLength === undefined ? 'text' : `text of ${minLength} to ${maxLength} characters`
}

const quotedValue = (value: unknown): string => JSON.stringify(shortened(value)) ?? 'nothing'

/** A value for an error: at most 100 characters of a text, and no nested values. */
function shortened(value: unknown): unknown {
  if (typeof value === 'string') return value.length > 100 ? `${value.slice(0, 100).toWellFormed()}…` : value
  if (Array.isArray(value))
    return value.length <= 10 && value.every((item) => typeof item !== 'object') ? value.map(shortened) : 'a list'
  return typeof value === 'object' && value !== null ? 'an object' : value
}
