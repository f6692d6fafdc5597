import * as Type from 'typebox'
import { AppError } from '../../core/errors.js'
import { assertReadable, invalidField, parse } from '../../core/fields.js'
import { MAX_IMAGE_BYTES } from '../../core/images/types.js'
import { LENGTHS } from '../../core/lengths.js'
import { STATUS_KINDS } from '../../core/statuskinds.js'
import { withoutControls } from '../../core/text.js'
import { assertEmail } from './emails.js'
import { titleMissing } from './posttitles.js'
import { fields, nullable, oneOf } from './schemas.js'

/** Characters of what a source calls a thing. */
const MOST_OF_ID = 255
/** Texts of other products may be longer than those that are written here. */
const MOST_OF_TEXT = LENGTHS.text
/** Maximum length of an image in base64. It allows one byte past the limit of uploads, so that the error names that limit. */
const MOST_OF_DATA = Math.ceil((MAX_IMAGE_BYTES + 1) / 3) * 4
/** Characters of a line. */
export const MOST_OF_LINE = MOST_OF_DATA + 10_000
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
  image: fields({
    sourceId,
    data: Type.String({ minLength: 1, maxLength: MOST_OF_DATA, description: 'Bytes as base64' }),
    author: reference,
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
    row: Type.Optional(Type.Integer({ minimum: 1, description: 'Row of the table that it is from' })),
    needs: Type.Optional(
      Type.Array(Type.Unknown(), {
        maxItems: 50,
        description:
          'Boards, statuses, tags and people that it names. An import of a file creates them, another ignores them',
      }),
    ),
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
export function recordIn(values: Record<string, unknown>, now: Date): ImportRecord {
  const { type, ...given } = values
  assertReadable(given)
  if (!isRecordType(type))
    throw invalidField({
      code: 'INVALID_VALUE',
      message: `type must be one of ${RECORD_TYPES.join(', ')}.`,
      field: 'type',
      rule: `one of: ${RECORD_TYPES.join(', ')}`,
    })
  const record = { type, fields: parse(RECORDS[type], given) } as ImportRecord // the schema of the type
  if (record.type === 'post') for (const need of record.fields.needs ?? []) assertNamed(need, now)
  return record
}

/** Throws for what a post cannot bring along: the post is refused for the same reason. */
function assertNamed(need: unknown, now: Date): void {
  const { type } = typeof need === 'object' && need !== null ? (need as { type?: unknown }) : {}
  if (!NAMED.some((each) => each === type))
    throw invalidField({
      code: 'INVALID_VALUE',
      message: `needs must be records of type ${NAMED.join(', ')}.`,
      field: 'needs',
      rule: `records of type ${NAMED.join(', ')}`,
    })
  assertPossible(recordIn(need as Record<string, unknown>, now), now)
}

/** What a post names, but for images. */
export const NAMED = ['board', 'status', 'tag', 'person'] as const

/** Whether an import refuses a record whatever the site has: nothing else should be created for it. */
export function isRefused(given: Record<string, unknown>, now: Date): boolean {
  try {
    assertPossible(recordIn(given, now), now)
    return false
  } catch (error) {
    if (error instanceof AppError) return true
    throw error
  }
}

/** Throws for a post or a person that no site takes. */
function assertPossible({ type, fields: given }: ImportRecord, now: Date): void {
  if (type === 'post') {
    if (oneLine(given.title).trim() === '') throw titleMissing('given')
    timeOf('updatedAt', given.updatedAt, '', now)
  }
  if (type === 'person' && given.email) assertEmail(given.email)
  if (type === 'post' || type === 'person') timeOf('createdAt', given.createdAt, '', now)
}

/** What of a record tells where it counts. */
export interface Placed {
  type: RecordType
  fields: {
    sourceId?: string
    name?: string | null
    title?: string
    row?: number
    /** Of a post: absent or null for one without a board, UNREADABLE where that cannot be told. */
    board?: string | null
    post?: string
    importedVotes?: number
  }
}

/** Stands for a board: no id is empty. */
export const UNREADABLE = ''

/** What of a line that is no record can be read all the same. Undefined if not even its type can. */
export function placedIn({ type, ...given }: Record<string, unknown>): Placed | undefined {
  if (!isRecordType(type)) return undefined
  const [sourceId, name, post] = [idIn(given.sourceId), idIn(given.name), idIn(given.post)]
  const hasBoard = given.board !== undefined && given.board !== null && given.board !== ''
  return {
    type,
    fields: {
      ...(sourceId !== undefined && { sourceId }),
      ...(name !== undefined && { name }),
      ...(post !== undefined && { post }),
      ...(typeof given.title === 'string' && { title: given.title }),
      ...(typeof given.row === 'number' && { row: given.row }),
      ...(hasBoard && { board: idIn(given.board) ?? UNREADABLE }),
      importedVotes: countIn(given.importedVotes),
    },
  }
}

/** A name in the form in which records have it; some sources have numbers. */
function idIn(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string' || text.length > MOST_OF_ID || text.includes('\0') || !text.isWellFormed())
    return undefined
  return withoutControls(text) || undefined
}

function countIn(value: unknown): number {
  const count = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  return typeof count === 'number' && Number.isSafeInteger(count) && count > 0 ? count : 0
}

export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ')

/** The name under which the site has what the source calls so. */
export const shortened = (text: string, most: number): string =>
  [...oneLine(text).trim()].slice(0, most).join('').trim()

const isRecordType = (type: unknown): type is RecordType => RECORD_TYPES.some((each) => each === type)

/** A time as it is stored, or the other where there is none. Throws for what is no time, and for a time to come. */
export function timeOf(field: string, given: string | null | undefined, other: string, now: Date): string {
  if (given === null || given === undefined) return other
  const time = new Date(given)
  if (!/^\d{4}-\d\d-\d\d/.test(given) || Number.isNaN(time.getTime()) || time.getTime() < 0)
    throw wrongTime(field, `${field} must be a time such as 2026-01-31T12:00:00Z.`, 'a time in ISO 8601')
  if (time.getTime() > now.getTime() + A_DAY)
    throw wrongTime(field, `${field} must not be in the future.`, 'a time that is not to come')
  return time.toISOString()
}

/** Clocks differ, and so do time zones that a source leaves out. */
const A_DAY = 86_400_000

const wrongTime = (field: string, message: string, rule: string): AppError =>
  invalidField({ code: 'INVALID_TIME', message, field, rule })

/** A path as requests have it: without a query, and without a slash at its end. */
export const pathOf = (given: string): string => {
  const path = given.split(/[?#]/, 1)[0] ?? ''
  return `/${path.split('/').filter(Boolean).join('/')}`
}
