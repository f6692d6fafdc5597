import { domainToASCII } from 'node:url'
import * as Type from 'typebox'
import isFQDN from 'validator/lib/isFQDN.js'
import { changesOf } from '../core/details.js'
import { AppError, type Failure } from '../core/errors.js'
import { invalidField } from '../core/fields.js'
import { quoted } from '../core/text.js'
import type { Db, SettingsRow } from '../db/tables.js'
import { lockSettings, readSettings, updateSettings } from '../db/settings.js'
import { findOwner } from '../db/users.js'
import { change } from './lib/change.js'
import type { Context } from './lib/context.js'
import { operation } from './lib/operation.js'
import { domainOf } from './lib/emails.js'
import { fields, listOf } from './lib/schemas.js'

const RULE = 'a list of at most 1000 domain names'

const Domains = Type.Object({ domains: Type.Array(Type.String()) })

export const blockedDomains = operation({
  id: 'settings.blockedDomains',
  summary: 'Show the blocked e-mail domains',
  http: 'GET /settings/blocked-domains 200',
  access: 'settings:read',
  errors: [],
  input: fields({}),
  output: Domains,
  async run({ db }) {
    return { domains: listIn(await readSettings(db)) }
  },
})

const domainsGiven = (description: string) => fields({ domains: listOf({ maxItems: 1000, rule: RULE, description }) })

export const setBlockedDomains = operation({
  id: 'settings.setBlockedDomains',
  summary: 'Replace the list of blocked e-mail domains; subdomains are included',
  http: 'PUT /settings/blocked-domains 200',
  access: 'settings:update',
  errors: [],
  input: domainsGiven('The whole list; it replaces the previous one'),
  output: Domains,
  run: (ctx, input) => changeDomains(ctx, () => domainsIn(input)),
})

export const blockDomains = operation({
  id: 'settings.blockDomains',
  summary: 'Block e-mail domains and their subdomains: no account may use them',
  http: 'POST /settings/blocked-domains 200',
  access: 'settings:update',
  errors: [],
  input: domainsGiven('Domains to add to the list'),
  output: Domains,
  run: (ctx, input) => changeDomains(ctx, (before) => [...new Set([...before, ...domainsIn(input)])]),
})

export const unblockDomains = operation({
  id: 'settings.unblockDomains',
  summary: 'Unblock e-mail domains',
  http: 'DELETE /settings/blocked-domains 200',
  access: 'settings:update',
  errors: [],
  input: domainsGiven('Domains to remove from the list'),
  output: Domains,
  run: (ctx, input) =>
    changeDomains(ctx, (before) => {
      const domains = domainsIn(input)
      const missing = domains.find((domain) => !before.includes(domain))
      if (missing !== undefined) throw refused('DOMAIN_NOT_BLOCKED', `${quoted(missing)} is not blocked.`, missing)
      return before.filter((domain) => !domains.includes(domain))
    }),
})

function domainsIn(input: { domains: string[] }): string[] {
  const domains = [...new Set(input.domains.map((domain) => domain.trim().toLowerCase()))]
  const wrong = domains.find((domain) => !isFQDN(domain))
  if (wrong !== undefined) throw refused('DOMAIN_INVALID', `${quoted(wrong)} is not a domain name.`, wrong)
  return domains
}

const changeDomains = (ctx: Context, next: (before: string[]) => string[]): Promise<{ domains: string[] }> =>
  change(ctx, async ({ db, record }) => {
    const before = await lockSettings(db)
    const domains = next(listIn(before))
    if (domains.length > 1000) throw refused('TOO_MANY', `domains must be ${RULE}.`, String(domains.length))
    const after = await updateSettings(db, { blockedDomains: JSON.stringify(domains) })
    const owner = await findOwner(db)
    const locking = owner && blocking(domains, owner.email)
    if (locking !== undefined)
      throw refused(
        'OWNER_BLOCKED',
        `${locking} would lock out the owner of the site, whose address is at this domain.`,
        locking,
      )
    record('site.updated', 'site', undefined, undefined, changesOf('site', before, after))
    return { domains }
  })

/** The codes of `assertEmail` and `assertAddressAllowed`. */
export const ADDRESS_ERRORS = [
  'EMAIL_INVALID',
  'INVALID_EMAIL_DOMAIN',
  'EMAIL_DOMAIN_BLACKLISTED',
] as const satisfies Failure[]

/** Refuses an address at a blocked domain or at a subdomain of it. */
export async function assertAddressAllowed(db: Db, address: string): Promise<void> {
  if (blocking(listIn(await readSettings(db)), address) === undefined) return
  throw new AppError(
    'EMAIL_DOMAIN_BLACKLISTED',
    `Addresses at ${domainOf(address)} are not accepted here. Use another.`,
  )
}

/** The blocked domain of the address. Compared in ASCII, the one form that DNS has of a name in any script. */
function blocking(domains: string[], address: string): string | undefined {
  const domain = `.${domainToASCII(domainOf(address))}`
  return domains.find((blocked) => domain.endsWith(`.${domainToASCII(blocked)}`))
}

// Only this file writes it
const listIn = ({ blockedDomains: json }: SettingsRow): string[] => JSON.parse(json) as string[]

const refused = (code: string, message: string, value: string) =>
  invalidField({ code, message, field: 'domains', rule: RULE, value: value.slice(0, 100) })
