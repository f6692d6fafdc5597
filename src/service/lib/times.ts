import * as Type from 'typebox'
import { AppError } from '../../core/errors.js'
import { invalidField } from '../../core/fields.js'
import { quoted } from '../../core/text.js'
import type { Direction, Period } from '../../db/paging.js'
import { oneOf } from './schemas.js'

/** Without a zone a time would be that of the server. */
const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/
export const TIME_RULE = 'a date or a time with its zone, such as 2026-03-01 or 2026-03-01T09:30:00Z'

export const timeField = (description: string) =>
  Type.Optional(Type.String({ rule: TIME_RULE, time: true, description }))

/** The fields of a list that a time limits. */
export const periodFields = (rows: string) => ({
  since: timeField(`Only ${rows} since this time`),
  until: timeField(`Only ${rows} before this time`),
})

/** The order of a list by time, which commands take as --sort. */
export const orderFields = (usual: Direction, description = 'Sort by creation time') => ({
  created: oneOf(['asc', 'desc'], { default: usual, anyCase: true, description }),
})

/** Expected state of the row, so that concurrent edits do not overwrite each other. */
export const ifUnchanged = (what: 'updatedAt' | 'updated_at') =>
  Type.Optional(
    Type.String({
      rule: TIME_RULE,
      condition: true,
      description: `${what} as you read it; CONTENT_CHANGED if it is another by now`,
    }),
  )

export function assertUnchanged(field: string, given: string | undefined, updatedAt: string): void {
  if (given !== undefined && timeFrom(field, given) !== updatedAt) throw contentChanged()
}

export const contentChanged = () =>
  new AppError('CONTENT_CHANGED', 'It was changed meanwhile. Read it again, and decide what your change becomes.')

/** Throws a VALIDATION_ERROR for what is no time. */
export const periodFrom = ({ since, until }: Period): Period => ({
  since: timeFrom('since', since),
  until: timeFrom('until', until),
})

export const isWithin = ({ since, until }: Period, time: string): boolean =>
  (since === undefined || time >= since) && (until === undefined || time < until)

/** A date is its midnight in UTC. */
export function timeFrom(field: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const parsed = TIME.test(text) && isDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN
  const time = Number.isNaN(parsed) ? '' : new Date(parsed).toISOString()
  if (TIME.test(time)) return time // a zone can lead out of the years that have four digits
  const message = `${field} must be ${TIME_RULE}; ${quoted(text)} is not.`
  throw invalidField({ code: 'INVALID_TIME', message, field, rule: TIME_RULE, value: text.slice(0, 100) })
}

/** JavaScript takes 30 February as 2 March. */
const isDay = (day: string): boolean => !Number.isNaN(Date.parse(day)) && new Date(day).toISOString().startsWith(day)
