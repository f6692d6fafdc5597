/** What an import brings that is recognised when it comes again. */
export const IMPORTED_KINDS = ['board', 'status', 'tag', 'person', 'image', 'post', 'vote', 'comment', 'merge'] as const
export type ImportedKind = (typeof IMPORTED_KINDS)[number]
