/**
 * What an import brings that is recognised when it comes again. `awaiting` is a text that lacks an image which a later
 * import may bring.
 */
export const IMPORTED_KINDS = ['board', 'status', 'tag', 'person', 'image', 'post', 'vote', 'comment', 'merge', 'awaiting'] as const // prettier-ignore
export type ImportedKind = (typeof IMPORTED_KINDS)[number]
