import escape from 'validator/lib/escape.js'
import { isId } from '../../core/ids.js'
import { API_ROOT } from '../../core/wire.js'
import { findUser } from '../../db/users.js'
import type { Context } from './context.js'
import { PALETTE } from './named.js'

interface Pictured {
  userId: string
  /** Empty: the picture is drawn. */
  avatar: string
}

/**
 * Where the pictures of people are, below the address of the site. A proxy may send everything but the API to another
 * web client.
 */
export const AVATARS = `${API_ROOT}/avatars`

/** Where they were in earlier versions. Feeds and pages elsewhere still name these addresses. */
export const OLD_AVATARS = '/avatars'

/** The address of a picture of a person. It says nothing that their id does not say. */
export const avatarOf = ({ siteUrl }: Pick<Context, 'siteUrl'>, { userId, avatar }: Pictured): string =>
  avatar || `${siteUrl}${AVATARS}/${userId}.svg`

/** What stands for a person without a picture: up to two initials, or `?`, on a colour of six hexadecimal digits. */
export const monogramOf = (user: { userId: string; name: string; username: string }) => ({
  color: PALETTE[Number.parseInt(user.userId.slice(-4), 16) % PALETTE.length],
  initials: initialsOf(user.name) || initialsOf(user.username) || '?',
})

/** The picture of a person: initials on a colour. Undefined if there is no such person. */
export async function drawAvatar({ db }: Pick<Context, 'db'>, userId: string): Promise<string | undefined> {
  const user = isId(userId) ? await findUser(db, userId) : undefined
  if (!user) return undefined
  const { color, initials } = monogramOf(user)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="64" height="64"><rect width="64" height="64" fill="#${color}"/><text x="32" y="32" dy=".35em" text-anchor="middle" font-family="system-ui,sans-serif" font-size="26" fill="#fff">${escape(initials)}</text></svg>\n`
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** The first letters of the first and the last word that begin with one. */
function initialsOf(name: string): string {
  const words = name.split(/[\s._-]+/u).filter((word) => /^[\p{L}\p{N}]/u.test(word))
  const firsts = [words[0], words.length > 1 ? words.at(-1) : undefined].map((word = '') => {
    for (const { segment } of graphemes.segment(word)) return [...segment].slice(0, 4).join('').toUpperCase()
    return ''
  })
  return firsts.join('')
}
