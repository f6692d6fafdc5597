/** Who may write posts on a board: everybody who may post, or only who may change posts of others. */
export const POSTING = ['everyone', 'team'] as const
export type Posting = (typeof POSTING)[number]

/** What a locked post takes no more. */
export const LOCKS = ['none', 'comments', 'votes', 'all'] as const
export type Lock = (typeof LOCKS)[number]

/** The order of the posts of a board, on its page. */
export const BOARD_SORTS = ['trending', 'newest', 'votes', 'discussed'] as const
export type BoardSort = (typeof BOARD_SORTS)[number]

/**
 * Values of `hidesVoters`, which a post keeps when its board is deleted: the board hid who voted, or hid votes from people
 * who had not voted. Otherwise 0.
 */
export const VOTERS_HIDDEN = 1
export const VOTES_HIDDEN = 2
