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

/** What the image of a post shows; undefined where there is none. */
export function cardOfPost({ settings }: View, { title, board }: Shown): Card | undefined {
  const accent = isColor(settings.accentColor) ? settings.accentColor : DEFAULT_ACCENT
  return cardOf({ title, site: settings.title, place: board?.name, accent: `#${accent.toLowerCase()}` })
}

/** The image of a post that a chat shows with its link. What may go stale there, such as the status, is not in it. */
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
