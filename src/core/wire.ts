/** The path of the API, which includes the version of the contract. */
export const API_ROOT = '/api/v1'

/** A request with this header is a dry run: it is checked and answered, but changes nothing. */
export const DRY_RUN_HEADER = 'feedbackctl-dry-run'

/** The header with the request id, which is also in the log. */
export const REQUEST_ID = 'x-request-id'

/** On a response to a visitor: the code of why the token of the request does not count. */
export const REFUSAL_HEADER = 'feedbackctl-refusal'

/** Bodies of fewer bytes are not compressed. */
export const SHORT = 1000

/** Proves to a server that who asks is the operator. See `GET /echoz`. */
export const PROOF_HEADER = 'feedbackctl-operator'

/** How a request arrived at the server: what is left of it behind a proxy. */
export interface Echo {
  /** The other end of the connection: the proxy, or the client itself. */
  peer: { address: string; port: number }
  /** Whether the setting `trust-proxy` names that peer. */
  isPeerTrusted: boolean
  /** Whether `trust-proxy` trusts any address of the internet. */
  trustsAll: boolean
  /** X-Forwarded-For as it came, null without. */
  forwardedFor: string | null
  /** Whom the server takes for the client. */
  client: string
}
