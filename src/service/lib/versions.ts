import { createHash } from 'node:crypto'
import * as Type from 'typebox'
import { contentChanged } from './times.js'

/** In an answer with one row: what `ifVersion` of its update takes. */
export const versionField = Type.String({ description: 'Another after each change of what an update sets' })

/** Expected values of the row, so that concurrent edits do not overwrite each other. */
export const ifVersion = Type.Optional(
  Type.String({
    maxLength: 100,
    condition: true,
    description: 'version as you read it; CONTENT_CHANGED if it is another by now',
  }),
)

type Values = readonly (string | number | null)[]

/** Of the values, not of a time: a change of what an update does not set refuses nobody. */
export const versionOf = (values: Values): string =>
  createHash('sha256').update(JSON.stringify(values)).digest('base64url').slice(0, 22)

/** The row is locked, or the transaction is the only one that writes. */
export function assertVersion(given: string | undefined, values: Values): void {
  if (given !== undefined && given !== versionOf(values)) throw contentChanged()
}
