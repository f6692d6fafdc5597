/** A response that did not come in time, or is too large, or an address that may not be dialled. */
export class HttpFailure extends Error {
  override name = 'HttpFailure'

  constructor(readonly code: 'TIMEOUT' | 'TOO_LARGE' | 'PRIVATE_ADDRESS') {
    super(code)
  }
}
