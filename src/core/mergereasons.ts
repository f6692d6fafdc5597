/** What is to be decided about a post before it is merged. */
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
