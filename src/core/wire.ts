/** The path of the API, which includes the version of the contract. */
export const API_ROOT = '/api/v1'

/** A request with this header is a dry run: it is checked and answered, but changes nothing. */
export const DRY_RUN_HEADER = 'feedbackctl-dry-run'

/** The header with the request id, which is also in the log. */
export const REQUEST_ID = 'x-request-id'

/** On a response to a visitor: the code of why the token of the request does not count. */
export const REFUSAL_HEADER = 'feedbackctl-refusal'
