import type { TObject } from 'typebox'
import { fieldsOf } from '../../core/fields.js'

const MINUTE_MS = 60_000
const UNITS_MS: Record<string, number> = {
  m: MINUTE_MS,
  h: 60 * MINUTE_MS,
  d: 24 * 60 * MINUTE_MS,
  w: 7 * 24 * 60 * MINUTE_MS,
  y: 365 * 24 * 60 * MINUTE_MS,
}

/** The values, with a time in place of how long ago it was: `30m`, `12h`, `7d`, `2w`, `1y`. */
export function withTimes(schema: TObject, values: Record<string, unknown>, now: Date): Record<string, unknown> {
  const resolved = { ...values }
  for (const { name, time } of fieldsOf(schema)) {
    const value = values[name]
    const [, count, unit = ''] = (time && typeof value === 'string' && /^(\d{1,5})([mhdwy])$/.exec(value.trim())) || []
    const ms = UNITS_MS[unit]
    if (ms !== undefined) resolved[name] = new Date(now.getTime() - Number(count) * ms).toISOString()
  }
  return resolved
}
