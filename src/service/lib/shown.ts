import * as Type from 'typebox'
import type { UserRow } from '../../db/tables.js'

/** Which parts of a profile others see. */
export const Shown = {
  showProfile: Type.Boolean({ description: 'Whether others see your profile' }),
  showVotes: Type.Boolean({ description: 'Whether your profile shows your votes' }),
  showComments: Type.Boolean({ description: 'Whether your profile shows your comments' }),
}

export type Shows = Pick<UserRow, keyof typeof Shown>

export const profileShown = ({ showProfile, showVotes, showComments }: Shows) => ({
  showProfile: showProfile === 1,
  showVotes: showVotes === 1,
  showComments: showComments === 1,
})
