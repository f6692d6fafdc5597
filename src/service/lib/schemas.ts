import * as Type from 'typebox'
import type { Ignored } from '../../core/fields.js'
import type { Noun } from '../../core/nouns.js'

/** A field that may be null: `type: ['string', 'null']`. */
export const nullable = <T extends 'string' | 'integer'>(type: T, options: object = {}) =>
  Type.Unsafe<(T extends 'string' ? string : number) | null>({ type: [type, 'null'], ...options })

/** A name: text on one line. */
export const oneLine = (maxLength: number) => ({
  minLength: 1,
  maxLength,
  rule: `text of 1 to ${maxLength} characters`,
  trim: true,
  plain: true,
})

/** One of several words. */
export const oneOf = <const T extends readonly string[]>(choices: T, options: object = {}) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...choices], ...options })

/** A list of these words. Comma-separated in a flag or a query parameter. */
export const someOf = <const T extends readonly string[]>(choices: T, options: object = {}) =>
  Type.Unsafe<T[number][]>({ type: 'array', items: { type: 'string', enum: [...choices] }, minItems: 1, ...options })

/** A list of strings. Comma-separated in a flag or a query parameter. */
export const listOf = (options: Parameters<typeof Type.Array>[1] = {}) => Type.Array(Type.String(), options)

/** An input object. Unknown fields are refused, except those in `ignored`, which published clients send. */
export const fields = <P extends Parameters<typeof Type.Object>[0]>(properties: P, ignored: Ignored = []) =>
  Type.Object(properties, { additionalProperties: false, ignored })

export const PageInfo = Type.Object({
  count: Type.Integer({ description: 'Rows on this page' }),
  current_page: nullable('integer', { description: 'Counted from 1; null if not known' }),
  has_next_page: Type.Boolean(),
  start_cursor: nullable('string'),
  end_cursor: nullable('string', { description: 'Send it as `after` for the next page' }),
})

/** A path parameter. It is not empty, and no dot segment, which URL parsers remove. */
export const inPath = (description: string, names?: Noun) =>
  Type.String({
    minLength: 1,
    pattern: '^(?!\\.{1,2}$)',
    rule: 'text other than "", "." and ".."',
    description,
    ...(names && { names }),
  })
