import * as Type from 'typebox'
import { AppError } from '../../core/errors.js'
import { assertReadable, invalidField, parse } from '../../core/fields.js'
import { LENGTHS } from '../../core/lengths.js'
import { STATUS_KINDS } from '../../core/statuskinds.js'
import { fields, nullable, oneOf } from './schemas.js'

/** Characters of what a source calls a thing. */
const MOST_OF_ID = 255
/** Texts of other products may be longer than those that are written here. */
const MOST_OF_TEXT = LENGTHS.text
const sourceId = Type.String({ minLength: 1, maxLength: MOST_OF_ID })
const reference = Type.Optional(nullable('string', { minLength: 1, maxLength: MOST_OF_ID }))
const time = Type.Optional(nullable('string', { maxLength: 40 }))
const url = Type.Optional(nullable('string', { maxLength: 1000 }))
const color = Type.Optional(nullable('string', { maxLength: 7 }))
const flag = Type.Optional(Type.Boolean())
const name = Type.String({ minLength: 1, maxLength: 1000, trim: true })
const text = nullable('string', { maxLength: MOST_OF_TEXT })

/** What a line of an import may be. References are what the source calls the other thing, which comes before. */
const RECORDS = {
  board: fields({ sourceId, name, url, color, isPrivate: flag, hidesVoters: flag, createdAt: time }),
  status: fields({
    sourceId,
    name,
    url,
    color,
    isPrivate: flag,
    kind: Type.Optional(oneOf(STATUS_KINDS)),
    createdAt: time,
  }),
  tag: fields({ sourceId, name, color, isPrivate: flag, createdAt: time }),
  person: fields({
    sourceId,
    name: Type.Optional(nullable('string', { maxLength: 1000, trim: true })),
    email: Type.Optional(nullable('string', { maxLength: 1000, trim: true })),
    isVerified: flag,
    isBlocked: flag,
    passwordHash: Type.Optional(nullable('string', { maxLength: MOST_OF_TEXT })),
    createdAt: time,
  }),
  post: fields({
    sourceId,
    title: Type.String({ maxLength: MOST_OF_TEXT, trim: true }),
    text: Type.Optional(text),
    slugId: Type.Optional(Type.String({ pattern: '^[0-9a-z]{20}$', rule: '20 lower-case letters and digits' })),
    board: reference,
    status: reference,
    author: reference,
    tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: MOST_OF_ID }), { maxItems: 20 })),
    createdAt: time,
    updatedAt: time,
    importedVotes: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000_000 })),
    paths: Type.Optional(Type.Array(Type.String({ minLength: 2, maxLength: 2000 }), { maxItems: 10 })),
  }),
  vote: fields({ sourceId: Type.Optional(sourceId), post: sourceId, person: sourceId, createdAt: time }),
  comment: fields({
    sourceId,
    post: sourceId,
    author: reference,
    parent: reference,
    text: Type.String({ minLength: 1, maxLength: MOST_OF_TEXT, trim: true }),
    createdAt: time,
    isInternal: flag,
    isUpdate: flag,
    isAnswer: flag,
    status: reference,
  }),
  merge: fields({ post: sourceId, into: sourceId }),
}

export type RecordType = keyof typeof RECORDS
export type Fields<T extends RecordType> = Type.Static<(typeof RECORDS)[T]>
export type ImportRecord = { [T in RecordType]: { type: T; fields: Fields<T> } }[RecordType]

/** `matched`: the site had it, by its name, its address or a vote. `existing`: an import brought it before. */
export type Outcome = 'created' | 'matched' | 'existing' | 'failed'

export const RECORD_TYPES = Object.keys(RECORDS) as RecordType[]

/** Throws an error of the contract for what is no record. */
export function recordIn(values: Record<string, unknown>): ImportRecord {
  const { type, ...given } = values
  assertReadable(given)
  if (!isRecordType(type))
    throw invalidField({
      code: 'INVALID_VALUE',
      message: `type must be one of ${RECORD_TYPES.join(', ')}.`,
      field: 'type',
      rule: `one of: ${RECORD_TYPES.join(', ')}`,
    })
  return { type, fields: parse(RECORDS[type], given) } as ImportRecord // the schema of the type
}

const isRecordType = (type: unknown): type is RecordType => RECORD_TYPES.some((each) => each === type)

/** A time as it is stored, or the other where there is none. Throws for what is no time, and for a time to come. */
export function timeOf(field: string, given: string | null | undefined, other: string, now: Date): string {
  if (given === null || given === undefined) return other
  const time = new Date(given)
  if (!/^\d{4}-\d\d-\d\d/.test(given) || Number.isNaN(time.getTime()) || time.getTime() < 0)
    throw wrongTime(field, `${field} must be a time such as 2026-01-31T12:00:00Z.`)
  if (time.getTime() > now.getTime() + A_DAY) throw wrongTime(field, `${field} must not be in the future.`)
  return time.toISOString()
}

/** Clocks differ, and so do time zones that a source leaves out. */
const A_DAY = 86_400_000

const wrongTime = (field: string, message: string): AppError =>
  invalidField({ code: 'INVALID_TIME', message, field, rule: 'a time in ISO 8601 that is not to come' })

/** A path as requests have it: without a query, and without a slash at its end. */
export const pathOf = (given: string): string => {
  const path = given.split(/[?#]/, 1)[0] ?? ''
  return `/${path.split('/').filter(Boolean).join('/')}`
}
