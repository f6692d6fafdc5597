import { NOUNS } from './nouns.js'

type Nouns = typeof NOUNS
/** A noun whose events say what changed. */
export type DetailedNoun = { [N in keyof Nouns]: Nouns[N] extends { details: object } ? N : never }[keyof Nouns]

/** A field that changed. `details` of a noun says which fields events record, so secrets and long texts are not there. */
export interface FieldChange {
  field: string
  before: string | number | boolean | null
  after: string | number | boolean | null
}

/** The values of the recorded fields, as a row has them. */
export type Recorded<N extends DetailedNoun> = Record<keyof Nouns[N]['details'], string | number | null>

/** Characters of a recorded text. */
const MAX_TEXT = 600

const bounded = (value: FieldChange['before']): FieldChange['before'] =>
  typeof value === 'string' && value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT - 1).toWellFormed()}…` : value

/** The value of a recorded field, as its events have it if they do not cut it. */
export function valueOf<N extends DetailedNoun>(noun: N, row: Recorded<N>, field: string): FieldChange['before'] {
  const { details } = NOUNS[noun] as { details: Readonly<Record<string, 'text' | 'number' | 'flag'>> }
  const value = (row as Record<string, string | number | null>)[field] ?? null
  return details[field] === 'flag' && value !== null ? value === 1 : value
}

/** Whether an event has only the start of this value. */
export const isCut = (value: FieldChange['before']): boolean =>
  typeof value === 'string' && value.length === MAX_TEXT && value.endsWith('…')

/** Whether a field has the value that an event has of it, whole or cut. */
export const isRecorded = (value: FieldChange['before'], recorded: FieldChange['before']): boolean =>
  (bounded(value) ?? '') === (recorded ?? '')

/** The recorded fields that differ between two states of a row. */
export function changesOf<N extends DetailedNoun>(noun: N, before: Recorded<N>, after: Recorded<N>): FieldChange[] {
  return Object.keys(NOUNS[noun].details).flatMap((field) => {
    const [one, other] = [valueOf(noun, before, field), valueOf(noun, after, field)]
    return one === other ? [] : [changeOf(field, one, other)]
  })
}

/** The change of a field that is not a column. */
export const changeOf = (field: string, before: FieldChange['before'], after: FieldChange['after']): FieldChange => ({
  field,
  before: bounded(before),
  after: bounded(after),
})

/** The field of an event that took another back, with the id of that one. */
export const UNDOES = 'undoes'

/** Says that a text was changed, without what it was. */
export const EDITED: FieldChange = changeOf('text', null, 'edited')
