/** Reasons in the post that is to be merged. The team settles them on that post, and can merge it then. */
export const UNDECIDED = ['merge-hidden', 'merge-commented', 'merge-reported'] as const

/** Why a post is not merged: because of what it is, or of the post that it would be merged into. */
export const MERGE_REASONS = [
  ...UNDECIDED,
  'merge-itself',
  'merge-into-hidden',
  'merge-private',
  'merge-votes',
  'merge-voters',
] as const
export type MergeReason = (typeof MERGE_REASONS)[number]
