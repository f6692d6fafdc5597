import { HELD, SHOWN, type Hidden } from '../../core/hidden.js'
import { hasShown } from '../../db/moderation.js'
import { readSettings } from '../../db/settings.js'
import { can, MODERATORS } from './access.js'
import type { Change } from './change.js'

/** Whether what a person writes is held until the team has looked at it: where the site wants that, while nothing of theirs is shown. */
export async function hiddenFirst({ db, actor }: Change, userId: string): Promise<Hidden> {
  if (MODERATORS.some((permission) => can(actor, permission))) return SHOWN
  if ((await readSettings(db)).holdFirstPosts === 0) return SHOWN
  return (await hasShown(db, userId)) ? SHOWN : HELD
}
