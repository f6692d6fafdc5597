import type { TObject } from 'typebox'
import { fieldsOf, invalidField } from '../../../core/fields.js'
import { quoted } from '../../../core/text.js'

const MINUTE_MS = 60_000
const UNITS_MS: Record<string, number> = {
  m: MINUTE_MS,
  h: 60 * MINUTE_MS,
  d: 24 * 60 * MINUTE_MS,
  w: 7 * 24 * 60 * MINUTE_MS,
  y: 365 * 24 * 60 * MINUTE_MS,
}

const FORMS = 'how long ago (30m, 12h, 7d, 2w, 1y), today, yesterday, or a date, such as 2026-03-01'

/** The values, with a time in place of how long ago it was: `30m`, `12h`, `7d`, `2w`, `1y`, `today`, `yesterday`. */
export function withTimes(schema: TObject, values: Record<string, unknown>, now: Date): Record<string, unknown> {
  const resolved = { ...values }
  for (const { name, time, keepsAge } of fieldsOf(schema)) {
    const value = values[name]
    if (time && !keepsAge && typeof value === 'string') resolved[name] = timeOf(name, value.trim(), now)
  }
  return resolved
}

/** A date or a time is left for the operation to check. */
function timeOf(field: string, text: string, now: Date): string {
  const [, count, unit = ''] = /^(\d{1,5})([mhdwy])$/.exec(text) ?? []
  const ms = UNITS_MS[unit]
  if (ms !== undefined) return new Date(now.getTime() - Number(count) * ms).toISOString()
  const days = DAYS.get(text.toLowerCase())
  if (days !== undefined) return new Date(now.getFullYear(), now.getMonth(), now.getDate() - days).toISOString()
  if (/^\d{4}-/.test(text)) return text
  const message = `${field} must be ${FORMS}; ${quoted(text)} is not.`
  throw invalidField({ code: 'INVALID_TIME', message, field, rule: FORMS, value: text.slice(0, 100) })
}

/** Days that begin at midnight here. */
const DAYS: ReadonlyMap<string, number> = new Map([['today', 0], ['yesterday', 1]]) // prettier-ignore
