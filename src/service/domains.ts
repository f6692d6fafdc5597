import { quoted } from '../core/text.js'
import { domainToASCII } from 'node:url'
import * as Type from 'typebox'
import isFQDN from 'validator/lib/isFQDN.js'
import { AppError, type Failure } from '../core/errors.js'
import { invalidField } from '../core/fields.js'
import { readSettings, updateSettings } from '../db/settings.js'
import type { Db } from '../db/connect.js'
import type { SettingsRow } from '../db/tables.js'
import { findOwner } from '../db/users.js'
import { change } from './change.js'
import { operation } from './operation.js'
import { domainOf } from './people.js'
import { fields, listOf } from './schemas.js'

const RULE = 'a list of at most 1000 domain names'

const Domains = Type.Object({ domains: Type.Array(Type.String()) })

export const blockedDomains = operation({
  id: 'settings.blockedDomains',
  summary: 'Show the domains that no account may have its address at',
  http: 'GET /settings/blocked-domains 200',
  access: 'settings:read',
  errors: [],
  input: fields({}),
  output: Domains,
  async run({ db }) {
    return { domains: listIn(await readSettings(db)) }
  },
})

export const blockDomains = operation({
  id: 'settings.blockDomains',
  summary: 'Choose the domains, with all below them, that no account may have its address at',
  http: 'PUT /settings/blocked-domains 200',
  access: 'settings:update',
  errors: [],
  input: fields({ domains: listOf({ maxItems: 1000, rule: RULE, description: 'All of them; the list there was is replaced' }) }),
  output: Domains,
  run(ctx, input) {
    const domains = [...new Set(input.domains.map((domain) => domain.trim().toLowerCase()))]
    const wrong = domains.find((domain) => !isFQDN(domain))
    if (wrong !== undefined) throw refused('DOMAIN_INVALID', `${quoted(wrong)} is not the name of a domain.`, wrong)
    return change(ctx, async ({ db, record }) => {
      await updateSettings(db, { blockedDomains: JSON.stringify(domains) })
      const owner = await findOwner(db)
      const locking = owner && blocking(domains, owner.email)
      if (locking !== undefined) throw refused('OWNER_BLOCKED', `${locking} would lock out the owner of the site, whose address is there.`, locking)
      record('site.updated', 'site')
      return { domains }
    })
  },
})

/** What an address can be refused for, by `assertEmail` and here. */
export const ADDRESS_ERRORS = ['EMAIL_INVALID', 'INVALID_EMAIL_DOMAIN', 'EMAIL_DOMAIN_BLACKLISTED'] as const satisfies Failure[]

/** Refuses addresses at a blocked domain, or at one below it. */
export async function assertAddressAllowed(db: Db, address: string): Promise<void> {
  if (blocking(listIn(await readSettings(db)), address) === undefined) return
  throw new AppError('EMAIL_DOMAIN_BLACKLISTED', `Addresses at ${domainOf(address)} are not accepted here. Use another.`)
}

/** The blocked domain that the address is at. Compared as DNS does, which knows one form of a name in any script. */
function blocking(domains: string[], address: string): string | undefined {
  const domain = `.${domainToASCII(domainOf(address))}`
  return domains.find((blocked) => domain.endsWith(`.${domainToASCII(blocked)}`))
}

const listIn = ({ blockedDomains: json }: SettingsRow): string[] => JSON.parse(json) as string[] // written by us only

const refused = (code: string, message: string, value: string) => invalidField({ code, message, field: 'domains', rule: RULE, value: value.slice(0, 100) })
