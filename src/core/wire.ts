/** Where the operations live on a server; the version of the contract is part of it. */
export const API_ROOT = '/api/v1'

/** A request with this header is checked and answered, and leaves nothing behind. */
export const DRY_RUN_HEADER = 'feedbackctl-dry-run'

/** The header that an answer and its line in the log have in common. */
export const REQUEST_ID = 'x-request-id'
