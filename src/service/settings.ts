import * as Type from 'typebox'
import { changesOf } from '../core/details.js'
import { AppError, type Issue } from '../core/errors.js'
import { invalid } from '../core/fields.js'
import { LENGTHS } from '../core/lengths.js'
import { BETWEEN_LINKS, LINK_RULE } from '../core/links.js'
import type { SettingsRow } from '../db/tables.js'
import { lockSettings, readSettings, updateSettings } from '../db/settings.js'
import { colorFrom, endOf, holdLogo, linksFrom, logoAddress, logoFrom, styleFrom, withoutImages } from './lib/brand.js'
import { change } from './lib/change.js'
import type { Context } from './lib/context.js'
import {
  limitFrom,
  LIMITS_OF_SITE,
  RATE_RULE,
  TIME_NEW_RULE,
  timeNewFrom,
  type LimitOfSite,
} from './lib/newaccounts.js'
import { operation } from './lib/operation.js'
import { fields, listOf, nullable } from './lib/schemas.js'
import { TIME_RULE, timeFrom } from './lib/times.js'
import { assertVersion, ifVersion, versionField, versionOf } from './lib/versions.js'

export { blockDomains, blockedDomains, setBlockedDomains, unblockDomains } from './blockeddomains.js'
export { limits, type NewAccountLimit } from './newaccounts.js'

export const Labs = Type.Record(Type.String(), Type.Boolean(), { description: 'Experimental features by name' })

const Settings = Type.Object({
  title: Type.String(),
  description: nullable('string'),
  logo: nullable('string'),
  logoDark: nullable('string', { description: 'The logo in dark mode; null: as in light mode' }),
  icon: nullable('string'),
  accentColor: nullable('string', { description: 'Six hexadecimal digits' }),
  googleAnalyticsId: nullable('string'),
  isPoweredBy: Type.Boolean(),
  allowSignup: Type.Boolean(),
  holdFirstPosts: Type.Boolean(),
  developer_mode: Type.Boolean(),
  labs: Labs,
  announcement: nullable('string', { description: 'Markdown, above every page' }),
  announcementUntil: nullable('string', { description: 'When the announcement ends; null: when it is removed' }),
  signupNote: nullable('string', { description: 'Markdown, below the sign-up form' }),
  headerLinks: Type.Array(Type.String(), { description: 'Links in Markdown' }),
  footerLinks: Type.Array(Type.String(), { description: 'Links in Markdown' }),
  customCss: nullable('string', { description: 'CSS of every page but those of the dashboard' }),
  newFor: nullable('string', { description: 'How long an account is new; null: as the server is configured' }),
  limitPosts: nullable('string', { description: 'How many posts a new account may write; null: as newFor' }),
  limitComments: nullable('string', { description: 'The same for comments' }),
  limitEdits: nullable('string', { description: 'The same for edits' }),
  limitReports: nullable('string', { description: 'The same for reports' }),
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
  async run(ctx) {
    const row = await readSettings(ctx.db)
    return { settings: toSettings(ctx, row), version: versionOf(changeable(row)) }
  },
})

const text = (description: string) =>
  Type.Optional(nullable('string', { maxLength: LENGTHS.setting, trim: true, description }))
// Its length has its own error code
const uncounted = (description: string) => Type.Optional(nullable('string', { trim: true, description }))
const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const limitField = (name: keyof typeof LIMITS_OF_SITE) =>
  uncounted(`How many ${name} a new account may write: ${RATE_RULE} (empty: as limits.${name} of the server)`)
const markdown = (description: string) =>
  Type.Optional(
    nullable('string', { maxLength: 500, trim: true, description: `${description}, in Markdown (empty: none)` }),
  )
const links = (place: string, maxItems: number) =>
  Type.Optional(
    listOf({
      maxItems,
      rule: `a list of at most ${maxItems} links`,
      divided: BETWEEN_LINKS,
      description: `Links in the ${place} of every page, each ${LINK_RULE}`,
    }),
  )

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
      logo: uncounted(
        'Address of the logo, which is also the icon, or of an image that was uploaded here (empty: none)',
      ),
      logoDark: uncounted('The same for the logo in dark mode (empty: as in light mode)'),
      accentColor: uncounted('Three or six hexadecimal digits, with or without # (empty: none)'),
      googleAnalyticsId: text('Measurement id of Google Analytics'),
      allowSignup: flag('Whether people can sign up themselves'),
      holdFirstPosts: flag(
        'Whether the posts and comments of somebody of whom none is shown yet wait until a moderator keeps one',
      ),
      developer_mode: flag('Whether the web client shows ids'),
      announcement: markdown('A line above every page'),
      announcementUntil: Type.Optional(
        nullable('string', {
          trim: true,
          description: `When the announcement ends: ${TIME_RULE} (empty: when it is removed)`,
        }),
      ),
      signupNote: markdown('A line below the sign-up form, such as one about your terms'),
      headerLinks: links('header', 6),
      footerLinks: links('footer', 12),
      customCss: Type.Optional(
        nullable('string', {
          maxLength: LENGTHS.css,
          trim: true,
          description: 'CSS of every page but those of the dashboard; it may load nothing (empty: none)',
        }),
      ),
      newFor: uncounted(`How long an account is new: ${TIME_NEW_RULE} (empty: as accounts.new of the server)`),
      limitPosts: limitField('posts'),
      limitComments: limitField('comments'),
      limitEdits: limitField('edits'),
      limitReports: limitField('reports'),
      ifVersion,
    },
    'all',
  ),
  output: Type.Object({ settings: Settings }),
  async run(ctx, { ifVersion: seen, ...input }) {
    const {
      title,
      logo,
      logoDark,
      accentColor,
      allowSignup,
      holdFirstPosts,
      developer_mode: developerMode,
      announcement,
      announcementUntil,
      signupNote,
      headerLinks,
      footerLinks,
      customCss,
      newFor,
      ...rest
    } = input
    const { tried, caught, assertNone } = collected()
    const light = logo === undefined ? undefined : await logoFrom(ctx, 'logo', logo).catch(caught)
    const dark = logoDark === undefined ? undefined : await logoFrom(ctx, 'logoDark', logoDark).catch(caught)
    const changes = {
      ...rest,
      ...(title !== undefined && { title: title || 'Feedback' }),
      ...(light !== undefined && { logo: light, icon: light }),
      ...(dark !== undefined && { logoDark: dark }),
      ...(accentColor !== undefined && { accentColor: tried(() => colorFrom(accentColor), null) }),
      ...(allowSignup !== undefined && { allowSignup: allowSignup ? 1 : 0 }),
      ...(holdFirstPosts !== undefined && { holdFirstPosts: holdFirstPosts ? 1 : 0 }),
      ...(developerMode !== undefined && { developer_mode: developerMode ? 1 : 0 }),
      ...(announcement !== undefined && {
        announcement: tried(() => withoutImages('announcement', announcement), null),
      }),
      ...(announcementUntil !== undefined && {
        announcementUntil: tried(() => timeFrom('announcementUntil', announcementUntil || undefined) ?? null, null),
      }),
      ...(signupNote !== undefined && { signupNote: tried(() => withoutImages('signupNote', signupNote), null) }),
      ...(headerLinks && { headerLinks: tried(() => linksFrom('headerLinks', headerLinks), '') }),
      ...(footerLinks && { footerLinks: tried(() => linksFrom('footerLinks', footerLinks), '') }),
      ...(customCss !== undefined && { customCss: tried(() => styleFrom('customCss', customCss), null) }),
      ...(newFor !== undefined && { newFor: tried(() => timeNewFrom(newFor), null) }),
      ...limitsFrom(rest, tried),
    }
    assertNone()
    if (Object.keys(changes).length === 0) return { settings: toSettings(ctx, await readSettings(ctx.db)) }
    return change(ctx, async ({ db, record }) => {
      const before = await lockSettings(db)
      assertVersion(seen, changeable(before))
      await holdLogo(ctx, db, 'logo', light)
      await holdLogo(ctx, db, 'logoDark', dark)
      const row = await updateSettings(db, { ...changes, ...endOf(before, changes, ctx.now()) })
      record('site.updated', 'site', row.title, undefined, changesOf('site', before, row))
      return { settings: toSettings(ctx, row) }
    })
  },
})

type Tried = <T>(make: () => T, otherwise: T) => T

/** Collects the errors of several fields, so that a form shows all of them at once. */
function collected(): { tried: Tried; caught(this: void, error: unknown): undefined; assertNone(this: void): void } {
  const issues: Issue[] = []
  let coded: AppError | undefined // the first error with a code of the contract, which the answer keeps
  const caught = (error: unknown): undefined => {
    if (!(error instanceof AppError)) throw error
    const { code, message, fields: [field = ''] } = error // prettier-ignore
    if (error.errors === undefined) coded ??= error
    issues.push(...(error.errors ?? [{ code, message, field, rule: message }]))
  }
  return {
    caught,
    tried(make, otherwise) {
      try {
        return make()
      } catch (error) {
        caught(error)
        return otherwise
      }
    },
    assertNone() {
      if (coded) throw issues.length === 1 ? coded : new AppError(coded.code, coded.message, { errors: issues })
      if (issues.length > 0) throw invalid(issues)
    },
  }
}

const limitsFrom = (input: Partial<Record<LimitOfSite, string | null>>, tried: Tried) =>
  Object.fromEntries(
    Object.values(LIMITS_OF_SITE).flatMap((field) => {
      const text = input[field]
      return text === undefined ? [] : [[field, tried(() => limitFrom(field, text), null)]]
    }),
  )

/** What `update` sets. */
const changeable = (row: SettingsRow) => [
  row.title,
  row.description,
  row.logo,
  row.logoDark,
  row.accentColor,
  row.googleAnalyticsId,
  row.allowSignup,
  row.holdFirstPosts,
  row.developer_mode,
  row.announcement,
  row.announcementUntil,
  row.signupNote,
  row.headerLinks,
  row.footerLinks,
  row.customCss,
  row.newFor,
  ...Object.values(LIMITS_OF_SITE).map((field) => row[field]),
]

const toSettings = (
  ctx: Pick<Context, 'siteUrl'>,
  { title, description, logo, icon, accentColor, googleAnalyticsId, ...row }: SettingsRow,
): Settings => ({
  title,
  description,
  logo: logoAddress(ctx, logo),
  logoDark: logoAddress(ctx, row.logoDark),
  icon: logoAddress(ctx, icon),
  accentColor,
  googleAnalyticsId,
  isPoweredBy: row.isPoweredBy === 1,
  allowSignup: row.allowSignup === 1,
  holdFirstPosts: row.holdFirstPosts === 1,
  developer_mode: row.developer_mode === 1,
  labs: labsOf(row),
  announcement: row.announcement,
  announcementUntil: row.announcementUntil,
  signupNote: row.signupNote,
  headerLinks: JSON.parse(row.headerLinks) as string[],
  footerLinks: JSON.parse(row.footerLinks) as string[],
  customCss: row.customCss,
  newFor: row.newFor,
  limitPosts: row.limitPosts,
  limitComments: row.limitComments,
  limitEdits: row.limitEdits,
  limitReports: row.limitReports,
})

/** The CSS that the owner added. */
export const customCss = async ({ db }: Pick<Context, 'db'>): Promise<string | null> =>
  (await readSettings(db)).customCss

export const labsOf = ({ labs }: Pick<SettingsRow, 'labs'>): Type.Static<typeof Labs> =>
  JSON.parse(labs) as Record<string, boolean> // only this file writes it
