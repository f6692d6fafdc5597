import * as Type from 'typebox'
import { AppError } from '../../core/errors.js'
import { invalidField } from '../../core/fields.js'
import { quoted } from '../../core/text.js'
import type { Direction, Period } from '../../db/paging.js'
import { oneOf } from './schemas.js'

/** Without a zone a time would be that of the server. */
const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/
export const TIME_RULE = 'a date or a time with its zone, such as 2026-03-01 or 2026-03-01T09:30:00Z'

/** How long ago: hours, days, weeks or years. */
const AGE = /^([1-9]\d{0,4})([hdwy])$/
const HOUR_MS = 60 * 60 * 1000
const AGE_MS: Readonly<Record<string, number>> = { h: HOUR_MS, d: 24 * HOUR_MS, w: 168 * HOUR_MS, y: 8760 * HOUR_MS }
const AGE_RULE = `${TIME_RULE}, or how long ago, such as 12h, 7d, 2w or 1y`

/** Undefined where the text says no age. */
export function ageMs(text: string): number | undefined {
  const [, count, unit = ''] = AGE.exec(text) ?? []
  const ms = AGE_MS[unit]
  return ms === undefined ? undefined : Number(count) * ms
}

export const timeField = (description: string) =>
  Type.Optional(Type.String({ rule: TIME_RULE, time: true, description }))

/** The fields of a list that a time limits. */
export const periodFields = (rows: string) => ({
  since: timeField(`Only ${rows} since this time`),
  until: timeField(`Only ${rows} before this time`),
})

/**
 * Like `periodFields`, but also accepts an age such as `7d`. With `keepsAge`, commands send the age itself, so that it
 * stays relative.
 */
export const agePeriodFields = (rows: string, { keepsAge = false } = {}) => {
  const field = (description: string) =>
    Type.Optional(Type.String({ rule: AGE_RULE, time: true, ...(keepsAge && { keepsAge }), description }))
  const time = keepsAge ? 'this time, or so long before the present hour' : 'this time'
  return { since: field(`Only ${rows} since ${time}`), until: field(`Only ${rows} before ${time}`) }
}

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

/** The same, with ages counted from the start of an hour. */
export const periodBefore = (hour: () => Date, { since, until }: Period): Period => ({
  since: timeBefore(hour, 'since', since),
  until: timeBefore(hour, 'until', until),
})

function timeBefore(hour: () => Date, field: string, text: string | undefined): string | undefined {
  const ms = text === undefined ? undefined : ageMs(text)
  if (ms === undefined) return timeFrom(field, text, AGE_RULE)
  const time = new Date(hour().getTime() - ms)
  return time.getUTCFullYear() < 1 ? '0001-01-01T00:00:00.000Z' : time.toISOString()
}

export const isWithin = ({ since, until }: Period, time: string): boolean =>
  (since === undefined || time >= since) && (until === undefined || time < until)

/** A date is its midnight in UTC. */
export function timeFrom(field: string, text: string | undefined, rule = TIME_RULE): string | undefined {
  if (text === undefined) return undefined
  const parsed = TIME.test(text) && isDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN
  const time = Number.isNaN(parsed) ? '' : new Date(parsed).toISOString()
  if (TIME.test(time)) return time // a zone can lead out of the years that have four digits
  const message = `${field} must be ${rule}; ${quoted(text)} is not.`
  throw invalidField({ code: 'INVALID_TIME', message, field, rule, value: text.slice(0, 100) })
}

/** JavaScript takes 30 February as 2 March. */
const isDay = (day: string): boolean => !Number.isNaN(Date.parse(day)) && new Date(day).toISOString().startsWith(day)
