import { setImmediate } from 'node:timers/promises'
import { compileOnFirstUse } from './serializers.js'

/** The parts of a schema that say how a response is written. */
export interface ObjectSchema {
  properties: Record<string, object>
  required?: readonly string[]
}

/** Characters that are written in one turn of the event loop: half a megabyte takes five to ten milliseconds. */
const STEP = 250_000

const serializerOf = (schema: object) => compileOnFirstUse({ schema, method: '', url: '' })

/**
 * Writes a long response as JSON, row by row, so that other requests run in between. The bytes are those that the
 * serializer of the whole schema writes.
 */
export async function longJson(schema: ObjectSchema, output: Record<string, unknown>): Promise<Buffer> {
  const parts: Buffer[] = []
  let text = ''
  for (const piece of piecesOf(schema, output)) {
    text += piece
    if (text.length < STEP) continue
    parts.push(Buffer.from(text))
    text = ''
    await setImmediate()
  }
  return Buffer.concat([...parts, Buffer.from(text)])
}

function* piecesOf({ properties, required = [] }: ObjectSchema, output: Record<string, unknown>): Generator<string> {
  const names = [...new Set([...required, ...Object.keys(properties)])] // as the serializer orders them
  let before = '{'
  for (const name of names) {
    const [schema, value] = [properties[name], output[name]]
    if (schema === undefined || value === undefined) continue
    yield `${before}${JSON.stringify(name)}:`
    before = ','
    if (Array.isArray(value) && 'items' in schema) yield* rowsOf(schema.items as object, value)
    else yield serializerOf(schema)(value)
  }
  yield before === '{' ? '{}' : '}'
}

function* rowsOf(schema: object, rows: readonly unknown[]): Generator<string> {
  const serialize = serializerOf(schema)
  yield '['
  for (const [at, row] of rows.entries()) yield `${at === 0 ? '' : ','}${serialize(row)}`
  yield ']'
}
