import { randomInt } from 'node:crypto'
import * as Type from 'typebox'
import type { Issue } from '../../core/errors.js'
import { invalid } from '../../core/fields.js'
import { SLUG_MAX } from '../../core/slugs.js'

type Noun = 'BOARD' | 'ROADMAP'

/** The rules of a name. */
export const oneLine = (maxLength: number) => ({
  minLength: 1,
  maxLength,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
  rule: `text of 1 to ${maxLength} characters, none of them a control character`,
  trim: true,
})

/** The fields of whatever has a name, an address and a colour; the item codes are its noun's. */
export const naming = (noun: Noun) => ({
  name: Type.String({
    ...oneLine(50),
    description: 'Name shown to visitors',
    codes: { required: `${noun}_NAME_MISSING`, type: `${noun}_NAME_MISSING`, minLength: `${noun}_NAME_MISSING` },
  }),
  url: Type.String({
    minLength: 1,
    maxLength: SLUG_MAX,
    trim: true,
    description: 'Slug in the address',
    codes: { required: `${noun}_URL_MISSING`, type: `${noun}_URL_MISSING`, minLength: `${noun}_URL_MISSING` },
  }),
  color: Type.String({
    minLength: 6,
    maxLength: 6,
    pattern: '^[0-9a-fA-F]*$',
    rule: 'six hexadecimal digits without #',
    description: 'Six hexadecimal digits without #',
    codes: {
      minLength: `${noun}_COLOR_HEX_LENGTH`,
      maxLength: `${noun}_COLOR_HEX_LENGTH`,
      pattern: `${noun}_COLOR_HEX_CHAR`,
    },
  }),
  display: Type.Boolean({ description: 'Shown to everybody' }),
  partial: Type.Optional(
    Type.Boolean({ description: 'Leave name and url as they are if they are not given; both are needed otherwise' }),
  ),
})

/** Colours that read well under white text and beside each other. */
export const PALETTE = [
  'c2410c',
  'b45309',
  '4d7c0f',
  '15803d',
  '0f766e',
  '0e7490',
  '1d4ed8',
  '4338ca',
  '6d28d9',
  'a21caf',
  'be185d',
  'b91c1c',
]

export const anyColor = (): string => PALETTE[randomInt(PALETTE.length)] ?? ''

/** Published clients send name and url with every change, and expect to be told when one is missing; a partial change needs neither. */
export function assertWhole(noun: Noun, input: { name?: string; url?: string; partial?: boolean }): void {
  if (input.partial) return
  const missing = (['name', 'url'] as const)
    .filter((field) => input[field] === undefined)
    .map((field): Issue => ({
      code: `${noun}_${field.toUpperCase()}_MISSING`,
      message: `${field} is missing.`,
      field,
      rule: 'given, unless partial is true',
    }))
  if (missing.length > 0) throw invalid(missing)
}
