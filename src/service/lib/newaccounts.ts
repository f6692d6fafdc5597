import { durationOf } from '../../core/durations.js'
import { invalidField } from '../../core/fields.js'
import { rateOf, type LimitName, type Rate, type Rates } from '../../core/limits.js'
import { readSettings } from '../../db/settings.js'
import type { Context } from './context.js'

/** The setting of the site for each limit. It overrides the configuration. */
export const LIMITS_OF_SITE = {
  posts: 'limitPosts',
  comments: 'limitComments',
  edits: 'limitEdits',
  reports: 'limitReports',
} as const satisfies Partial<Record<LimitName, string>>
export type LimitOfSite = (typeof LIMITS_OF_SITE)[keyof typeof LIMITS_OF_SITE]

export const TIME_NEW_RULE = 'a time of at most 366 days, such as 12h or 3d, or off'
export const RATE_RULE = 'a number and a time of at most 24 hours, such as 20/1h or 5/1d, or off'

/** Returns the limit of new accounts for this caller; null for no limit, undefined if the account is not new. */
export async function limitOfNew(name: LimitName, ctx: Context, rates: Rates): Promise<Rate | null | undefined> {
  const { joinedAt, isUnverified } = ctx.actor
  if (joinedAt === undefined) return undefined
  const settings = await readSettings(ctx.db)
  const newFor = settings.newFor === null ? ctx.newFor : durationOf(settings.newFor)
  if (newFor === undefined || newFor === null) return undefined
  if (isUnverified !== true && ctx.now().getTime() - Date.parse(joinedAt) >= newFor * 1000) return undefined
  const own = name in LIMITS_OF_SITE ? settings[LIMITS_OF_SITE[name as keyof typeof LIMITS_OF_SITE]] : null
  return own === null ? rates[name] : rateOf(own)
}

/** Returns the limit to store; null if the text is empty, so that the configuration applies. Throws RATE_INVALID. */
export function limitFrom(field: string, text: string | null): string | null {
  const given = compact(text)
  if (given === '') return null
  if (rateOf(given) !== undefined) return given
  throw invalidField({ code: 'RATE_INVALID', message: `${field} must be ${RATE_RULE}.`, field, rule: RATE_RULE, value: given }) // prettier-ignore
}

export function timeNewFrom(text: string | null): string | null {
  const [field, rule, given] = ['newFor', TIME_NEW_RULE, compact(text)]
  if (given === '') return null
  if (durationOf(given) !== undefined) return given
  throw invalidField({ code: 'DURATION_INVALID', message: `${field} must be ${rule}.`, field, rule, value: given })
}

const compact = (text: string | null): string =>
  (text ?? '')
    .trim()
    .replaceAll(/\s*([/smhdw])\s*/gi, '$1')
    .toLowerCase()
