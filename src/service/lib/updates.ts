import * as Type from 'typebox'
import { changeOf, type FieldChange } from '../../core/details.js'
import { newId } from '../../core/ids.js'
import { insertComment } from '../../db/comments.js'
import type { PostView } from '../../db/posts/row.js'
import { can, notAllowed, type Actor } from './access.js'
import type { Change } from './change.js'
import { MAX_BODY } from './commentshapes.js'
import { imagesToShow } from './images.js'
import { personOf } from './sessions.js'

/** The fields of a change that tells people about a post. */
export const updateFields = {
  message: Type.Optional(
    Type.String({
      maxLength: MAX_BODY,
      trim: true,
      description: 'What the team says about it, as Markdown: shown above the comments; needs post:update',
    }),
  ),
  quiet: Type.Optional(
    Type.Boolean({ condition: true, description: 'Tell nobody of the new status and the message; needs post:update' }),
  ),
}

/** What the team says about a post, without HTML. */
export interface Update {
  message?: string | undefined
  /** Nobody is told. */
  quiet?: boolean | undefined
}

/** What the event of a change of which nobody is told says. */
const QUIET = changeOf('quiet', null, true)

/** The author of a post may change its text, but does not speak for the team. */
export function assertSpeaks(actor: Actor, { message, quiet }: Update): void {
  if ((message || quiet) && !can(actor, 'post:update')) throw notAllowed(['post:update'])
}

/** Adds the message to the comments, at the time of the change, and returns what its event says about it. */
export async function announce(
  tx: Change,
  { postId, title, roadmap_id, updatedAt: at }: Pick<PostView, 'postId' | 'title' | 'roadmap_id' | 'updatedAt'>,
  { message, quiet = false, isMoved }: Update & { isMoved: boolean },
): Promise<FieldChange[]> {
  const said = quiet ? [QUIET] : []
  if (!message) return said
  const id = newId()
  await insertComment(
    tx.db,
    {
      id,
      post_id: postId,
      parent_id: null,
      author_id: await personOf(tx),
      body: message,
      is_internal: 0,
      official: 'update',
      roadmap_id: isMoved ? roadmap_id : null,
      created_at: at,
      updated_at: at,
    },
    await imagesToShow(tx, message),
  )
  tx.record('comment.created', id, title, undefined, [changeOf('official', null, 'update'), ...said])
  return [changeOf('update', null, id), ...said]
}
