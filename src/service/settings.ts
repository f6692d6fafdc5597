import { domainToASCII } from 'node:url'
import * as Type from 'typebox'
import isFQDN from 'validator/lib/isFQDN.js'
import isURL from 'validator/lib/isURL.js'
import { changesOf } from '../core/details.js'
import { AppError, type Failure } from '../core/errors.js'
import { invalidField } from '../core/fields.js'
import { quoted } from '../core/text.js'
import { LENGTHS } from '../core/lengths.js'
import type { Db, SettingsRow } from '../db/tables.js'
import { lockSettings, readSettings, updateSettings } from '../db/settings.js'
import { findOwner } from '../db/users.js'
import { change } from './lib/change.js'
import type { Context } from './lib/context.js'
import { operation } from './lib/operation.js'
import { domainOf } from './lib/people.js'
import { fields, listOf, nullable } from './lib/schemas.js'
import { assertVersion, ifVersion, versionField, versionOf } from './lib/versions.js'

export const Labs = Type.Record(Type.String(), Type.Boolean(), { description: 'Experimental features by name' })

const Settings = Type.Object({
  title: Type.String(),
  description: nullable('string'),
  logo: nullable('string'),
  icon: nullable('string'),
  accentColor: nullable('string', { description: 'Six hexadecimal digits' }),
  googleAnalyticsId: nullable('string'),
  isPoweredBy: Type.Boolean(),
  allowSignup: Type.Boolean(),
  holdFirstPosts: Type.Boolean(),
  developer_mode: Type.Boolean(),
  labs: Labs,
})
export type Settings = Type.Static<typeof Settings>

export const site = operation({
  id: 'settings.site',
  summary: 'Show the settings of the site',
  http: 'GET /settings/site 200',
  access: 'public',
  cache: 'public',
  errors: [],
  input: fields({}),
  output: Type.Object({ settings: Settings, version: versionField }),
  async run({ db }) {
    const row = await readSettings(db)
    return { settings: toSettings(row), version: versionOf(changeable(row)) }
  },
})

const text = (description: string) =>
  Type.Optional(nullable('string', { maxLength: LENGTHS.setting, trim: true, description }))
// Its length has its own error code
const uncounted = (description: string) => Type.Optional(nullable('string', { trim: true, description }))
const flag = (description: string) => Type.Optional(Type.Boolean({ description }))

/** Published clients send all settings back, and more. Fields that are not named here are ignored. */
export const update = operation({
  id: 'settings.update',
  summary: 'Change settings of the site; settings that are not given stay as they are',
  http: 'PATCH /settings/site 200',
  access: 'settings:update',
  errors: ['INVALID_LOGO_URL', 'LOGO_URL_TOO_LONG', 'INVALID_ACCENT_COLOR', 'CONTENT_CHANGED'],
  input: fields(
    {
      title: text('Title shown across the site (empty: Feedback)'),
      description: text('What the site is for'),
      logo: uncounted('Address of the logo, which is also the icon (empty: none)'),
      accentColor: uncounted('Three or six hexadecimal digits, with or without # (empty: none)'),
      googleAnalyticsId: text('Measurement id of Google Analytics'),
      allowSignup: flag('Whether people can sign up themselves'),
      holdFirstPosts: flag(
        'Whether the posts and comments of somebody of whom none is shown yet wait until a moderator keeps one',
      ),
      developer_mode: flag('Whether the web client shows ids'),
      ifVersion,
    },
    'all',
  ),
  output: Type.Object({ settings: Settings }),
  async run(ctx, { ifVersion: seen, ...input }) {
    const { title, logo, accentColor, allowSignup, holdFirstPosts, developer_mode: developerMode, ...rest } = input
    const changes = {
      ...rest,
      ...(title !== undefined && { title: title || 'Feedback' }),
      ...(logo !== undefined && { logo: logoFrom(ctx, logo), icon: logoFrom(ctx, logo) }),
      ...(accentColor !== undefined && { accentColor: colorFrom(accentColor) }),
      ...(allowSignup !== undefined && { allowSignup: allowSignup ? 1 : 0 }),
      ...(holdFirstPosts !== undefined && { holdFirstPosts: holdFirstPosts ? 1 : 0 }),
      ...(developerMode !== undefined && { developer_mode: developerMode ? 1 : 0 }),
    }
    if (Object.keys(changes).length === 0) return { settings: toSettings(await readSettings(ctx.db)) }
    return change(ctx, async ({ db, record }) => {
      const before = await lockSettings(db)
      assertVersion(seen, changeable(before))
      const row = await updateSettings(db, changes)
      record('site.updated', 'site', row.title, undefined, changesOf('site', before, row))
      return { settings: toSettings(row) }
    })
  },
})

/** What `update` sets. */
const changeable = (row: SettingsRow) => [
  row.title,
  row.description,
  row.logo,
  row.accentColor,
  row.googleAnalyticsId,
  row.allowSignup,
  row.holdFirstPosts,
  row.developer_mode,
]

/** The address to store. Browsers load it, so it must be a public http or https address. */
function logoFrom({ siteUrl }: Pick<Context, 'siteUrl'>, logo: string | null): string | null {
  if (!logo) return null
  const rules = {
    protocols: ['http', 'https'],
    disallow_auth: true,
    host_blacklist: [/\.localhost$/i],
    max_allowed_length: Infinity,
  }
  if (!isURL(logo, rules))
    throw new AppError(
      'INVALID_LOGO_URL',
      'The logo must be the address of an image, like https://example.com/logo.png.',
    )
  if (siteUrl.startsWith('https:') && /^http:/i.test(logo))
    throw new AppError(
      'INVALID_LOGO_URL',
      'The logo must have an https address, because the site has one: browsers load nothing over http on an https page.',
    )
  if (logo.length > LENGTHS.setting)
    throw new AppError(
      'LOGO_URL_TOO_LONG',
      'The address of the logo is longer than 255 characters. Give a shorter one.',
    )
  return logo
}

function colorFrom(color: string | null): string | null {
  if (!color) return null
  const [, digits] = /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(color) ?? []
  if (!digits)
    throw new AppError(
      'INVALID_ACCENT_COLOR',
      'The accent colour must be three or six hexadecimal digits, like 2f6fed.',
    )
  return (digits.length === 6 ? digits : digits.replaceAll(/./g, '$&$&')).toLowerCase()
}

const toSettings = ({
  title,
  description,
  logo,
  icon,
  accentColor,
  googleAnalyticsId,
  ...row
}: SettingsRow): Settings => ({
  title,
  description,
  logo,
  icon,
  accentColor,
  googleAnalyticsId,
  isPoweredBy: row.isPoweredBy === 1,
  allowSignup: row.allowSignup === 1,
  holdFirstPosts: row.holdFirstPosts === 1,
  developer_mode: row.developer_mode === 1,
  labs: labsOf(row),
})

export const labsOf = ({ labs }: Pick<SettingsRow, 'labs'>): Type.Static<typeof Labs> =>
  JSON.parse(labs) as Record<string, boolean> // only this file writes it

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
