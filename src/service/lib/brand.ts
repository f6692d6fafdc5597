import isURL from 'validator/lib/isURL.js'
import { AppError } from '../../core/errors.js'
import { invalidField } from '../../core/fields.js'
import { IMAGES, imageAt, imagePath, imagesIn, type ImageAddress } from '../../core/images/address.js'
import { LENGTHS } from '../../core/lengths.js'
import { LINK_RULE, linkIn } from '../../core/links.js'
import { loadingIn, STYLE_RULE } from '../../core/styles.js'
import { holdImage } from '../../db/images.js'
import type { Db, SettingsRow } from '../../db/tables.js'
import type { Context } from './context.js'
import { imageFor } from './images.js'

/** The image of this site that is the logo, by its address or as it is stored; undefined for any other address. */
const logoImage = ({ siteUrl }: Pick<Context, 'siteUrl'>, logo: string | null): ImageAddress | undefined =>
  [`${siteUrl}${IMAGES}/`, `${IMAGES}/`].some((start) => logo?.startsWith(start)) ? imageAt(logo ?? '') : undefined

/** The address of a stored logo. An image of this site is stored as a path, so that it moves with the site. */
export const logoAddress = ({ siteUrl }: Pick<Context, 'siteUrl'>, logo: string | null): string | null =>
  logo?.startsWith(`${IMAGES}/`) ? `${siteUrl}${logo}` : logo

/** A refused address. The codes of the contract do not say which logo it is of, so an error about the dark one names its field. */
function wrongLogo(field: LogoField, code: 'INVALID_LOGO_URL' | 'LOGO_URL_TOO_LONG', message: string): AppError {
  if (field === 'logo') return new AppError(code, message)
  return invalidField({ code, message, field, rule: 'the address of an image' })
}

export type LogoField = 'logo' | 'logoDark'

/**
 * The address to store. Browsers load it, so it must be a public http or https address, or that of an image on this site
 * that the actor may see.
 */
export async function logoFrom(ctx: Context, field: LogoField, logo: string | null): Promise<string | null> {
  if (!logo) return null
  const { siteUrl } = ctx
  const image = logoImage(ctx, logo)
  if (image) {
    if (await imageFor(ctx, image.imageId)) return imagePath(image)
    throw wrongLogo(field, 'INVALID_LOGO_URL', 'There is no such image on this site. Upload it again.')
  }
  const rules = {
    protocols: ['http', 'https'],
    disallow_auth: true,
    host_blacklist: [/\.localhost$/i],
    max_allowed_length: Infinity,
  }
  if (!isURL(logo, rules))
    throw wrongLogo(
      field,
      'INVALID_LOGO_URL',
      'The logo must be the address of an image, like https://example.com/logo.png.',
    )
  if (siteUrl.startsWith('https:') && /^http:/i.test(logo))
    throw wrongLogo(
      field,
      'INVALID_LOGO_URL',
      'The logo must have an https address, because the site has one: browsers load nothing over http on an https page.',
    )
  if (logo.length > LENGTHS.setting)
    throw wrongLogo(
      field,
      'LOGO_URL_TOO_LONG',
      'The address of the logo is longer than 255 characters. Give a shorter one.',
    )
  return logo
}

/** Keeps the image of a new logo until the transaction ends. */
export async function holdLogo(ctx: Context, db: Db, field: LogoField, logo: string | null | undefined): Promise<void> {
  const image = logoImage(ctx, logo ?? null)
  if (image && !(await holdImage(db, image.imageId)))
    throw wrongLogo(field, 'INVALID_LOGO_URL', 'The image was deleted meanwhile. Upload it again.')
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

/** Refuses CSS that could load from other hosts: what it loads, and when, would tell them of who reads a page, and of what. */
export function styleFrom(field: string, css: string | null): string | null {
  if (!css) return null
  const text = css.replaceAll(/\r\n?/g, '\n')
  const value = loadingIn(text)
  if (value === undefined) return text
  const message = `${field} must be ${STYLE_RULE}; ${JSON.stringify(value)} is not.`
  throw invalidField({ code: 'CSS_NOT_ALLOWED', message, field, rule: STYLE_RULE, value })
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
