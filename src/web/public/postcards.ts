import { DEFAULT_ACCENT, isColor } from '../../core/colors.js'
import { AppError } from '../../core/errors.js'
import { cardOf, draw, type Card } from '../../core/images/card.js'
import * as service from '../../service/posts.js'
import type { View } from '../kit/page.js'
import type { Document } from '../kit/routes.js'

interface Shown {
  title: string
  board?: { name: string } | null | undefined
}

/** The content of the preview image; undefined if this server cannot draw it. */
export function cardOfPost({ settings }: View, { title, board }: Shown): Card | undefined {
  const accent = isColor(settings.accentColor) ? settings.accentColor : DEFAULT_ACCENT
  return cardOf({ title, site: settings.title, place: board?.name, accent: `#${accent.toLowerCase()}` })
}

/** The preview image of a post. Chats cache it, so it leaves out what changes, such as the status. */
export const postCard: Document = {
  type: 'image/png',
  cache: 'visitor',
  headers: { 'cross-origin-resource-policy': 'cross-origin' },
  async make(view) {
    const { post } = await view.call(service.show, { id: view.params.slug })
    const card = cardOfPost(view, post)
    if (!card) throw new AppError('NOT_FOUND', 'There is no such image.')
    return draw(card)
  },
}
