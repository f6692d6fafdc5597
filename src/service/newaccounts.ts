import * as Type from 'typebox'
import { durationText } from '../core/durations.js'
import { rateText, type LimitName } from '../core/limits.js'
import { readSettings } from '../db/settings.js'
import { LIMITS_OF_SITE, type LimitOfSite } from './lib/newaccounts.js'
import { operation } from './lib/operation.js'
import { fields, nullable } from './lib/schemas.js'

const Limit = Type.Object({
  name: Type.String({ description: 'The field of `PATCH /settings/site` that sets it' }),
  applies: Type.String(),
  site: nullable('string', {
    description: 'The value that the site sets; null if it sets none and the configuration applies',
  }),
  configured: Type.String({ description: 'The value in the configuration of the server' }),
})
export type NewAccountLimit = Type.Static<typeof Limit>

export const limits = operation({
  id: 'settings.limits',
  summary: 'Show how long an account is new, and how much it may write meanwhile',
  http: 'GET /settings/limits 200',
  access: 'settings:read',
  errors: [],
  input: fields({}),
  output: Type.Object({ limits: Type.Array(Limit) }),
  async run({ db, newFor, rates = {} }) {
    const row = await readSettings(db)
    const names = Object.entries(LIMITS_OF_SITE) as [LimitName, LimitOfSite][]
    const configured = [
      ['newFor', durationText(newFor)] as const,
      ...names.map(([name, field]) => [field, rateText(rates[name])] as const),
    ]
    return {
      limits: configured.map(([name, text]) => ({
        name,
        applies: row[name] ?? text,
        site: row[name],
        configured: text,
      })),
    }
  },
})
