import isURL from 'validator/lib/isURL.js'
import { AppError } from '../../core/errors.js'
import { invalidField } from '../../core/fields.js'
import { IMAGES, imageAt, imagesIn } from '../../core/images/address.js'
import { LENGTHS } from '../../core/lengths.js'
import { LINK_RULE, linkIn } from '../../core/links.js'
import type { SettingsRow } from '../../db/tables.js'
import type { Context } from './context.js'
import { imageFor } from './images.js'

/** The id of the image whose address on this site is the logo; undefined for any other address. */
export const logoImage = ({ siteUrl }: Pick<Context, 'siteUrl'>, logo: string | null): string | undefined =>
  logo?.startsWith(`${siteUrl}${IMAGES}/`) ? imageAt(logo)?.imageId : undefined

/**
 * The address to store. Browsers load it, so it must be a public http or https address, or that of an image on this site
 * that the actor may see.
 */
export async function logoFrom(ctx: Context, logo: string | null): Promise<string | null> {
  if (!logo) return null
  const { siteUrl } = ctx
  const imageId = logoImage(ctx, logo)
  if (imageId !== undefined) {
    if (await imageFor(ctx, imageId)) return logo
    throw new AppError('INVALID_LOGO_URL', 'There is no such image on this site. Upload it again.')
  }
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

export function colorFrom(color: string | null): string | null {
  if (!color) return null
  const [, digits] = /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(color) ?? []
  if (!digits)
    throw new AppError(
      'INVALID_ACCENT_COLOR',
      'The accent colour must be three or six hexadecimal digits, like 2f6fed.',
    )
  return (digits.length === 6 ? digits : digits.replaceAll(/./g, '$&$&')).toLowerCase()
}

/** The links to store, each in Markdown. */
export const linksFrom = (field: string, given: readonly string[]): string =>
  JSON.stringify(
    given.map((line) => {
      const link = linkIn(line)
      if (link) return `[${link.label}](${link.url})`
      const message = `Each of ${field} must be ${LINK_RULE}.`
      throw invalidField({ code: 'LINK_INVALID', message, field, rule: LINK_RULE, value: line.slice(0, 100) })
    }),
  )

/** Refuses images of this site: only posts and comments record that they use one, so it would be deleted as unused. */
export function withoutImages(field: string, markdown: string | null): string | null {
  if (!markdown) return null
  if (imagesIn(markdown).length === 0) return markdown
  const rule = 'text without images of this site'
  throw invalidField({
    code: 'IMAGE_NOT_ALLOWED',
    message: `${field} must be ${rule}.`,
    field,
    rule,
    value: markdown.slice(0, 100),
  })
}

type Announced = Pick<SettingsRow, 'announcement' | 'announcementUntil'>

/** Clears an end that has passed when the announcement changes without a new one. Refuses an end in the past. */
export function endOf(before: Announced, changes: Partial<Announced>, now: Date): Partial<Announced> {
  const { announcement, announcementUntil: until } = { ...before, ...changes }
  const isSame = announcement === before.announcement && until === before.announcementUntil
  if (isSame || announcement === null || until === null || Date.parse(until) > now.getTime()) return {}
  if (changes.announcementUntil === undefined) return { announcementUntil: null }
  const [field, rule] = ['announcementUntil', 'a time that is still to come']
  throw invalidField({ code: 'INVALID_TIME', message: `${field} must be ${rule}.`, field, rule, value: until })
}
