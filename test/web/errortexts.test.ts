import { expect, it } from 'vitest'
import { wordsOf } from '../../src/core/catalogue.js'
import { AppError, errorCodes, type ErrorCode } from '../../src/core/errors.js'
import { LANGUAGES } from '../../src/core/language.js'
import { codesOf } from '../../src/http/api/openapi.js'
import type { AnyOperation } from '../../src/service/lib/operation.js'
import { routes } from '../../src/web/index.js'
import { create } from '../../src/service/images.js'

/** Codes that no form of a browser causes: it sends text, and never JSON. */
const UNSHOWN = new Set(['INVALID_JSON', 'UNSUPPORTED_MEDIA_TYPE'])

/** Rules of a field that text can break, and the code without one of its own. */
const RULES = {
  minLength: 'TOO_SHORT',
  maxLength: 'TOO_LONG',
  enum: 'UNKNOWN_CHOICE',
  pattern: 'INVALID_VALUE',
} as const

interface Property {
  codes?: Record<string, string>
}

function codesOfFields({ input }: AnyOperation): string[] {
  return Object.values(input.properties as Record<string, Property>).flatMap((property) => [
    ...Object.values(property.codes ?? {}),
    ...Object.entries(RULES).flatMap(([rule, code]) => (rule in property && !property.codes?.[rule] ? [code] : [])),
  ])
}

it.each(LANGUAGES)('every refusal of a form has a text: %s', async (language) => {
  const words = wordsOf(language)
  const missing = new Set<string>()
  const actions = Object.values(routes.actions)
  for (const load of actions) {
    const { operation, treatAsDone = {} } = await load()
    if (!operation) continue
    const op = operation as unknown as AnyOperation
    for (const code of [...codesOf(op), ...codesOfFields(op), 'TEXT_UNREADABLE'])
      if (!(code in treatAsDone) && !UNSHOWN.has(code) && !words.has(`error.${code}`))
        missing.add(`${code} of ${op.id}`)
  }
  expect(actions.length).toBeGreaterThan(30)
  expect([...missing]).toEqual([])
})

it('an error that is about fields is about those of a form', async () => {
  const inputs: Partial<Record<ErrorCode, Set<string>>> = {}
  for (const load of Object.values(routes.actions)) {
    const { operation, images } = await load()
    // A form uploads its images before it is done
    const files = images === undefined ? [] : typeof images === 'string' ? ['images'] : Object.keys(images)
    for (const file of files) for (const code of codesOf(create)) (inputs[code] ??= new Set()).add(file)
    if (!operation) continue
    const op = operation as unknown as AnyOperation
    for (const code of codesOf(op))
      for (const name of Object.keys(op.input.properties)) (inputs[code] ??= new Set()).add(name)
  }
  const declared = errorCodes.map((code) => ({ code, fields: new AppError(code, '').fields }))
  expect(declared.filter(({ fields }) => fields.length > 0).length).toBeGreaterThan(10)
  for (const { code, fields } of declared)
    expect([code, fields.filter((name) => !inputs[code]?.has(name))]).toEqual([code, []])
})
