/** A body that somebody sends. It is received as it is taken. */
export interface Body {
  /** Its media type. */
  type: string
  bytes: AsyncIterable<Uint8Array>
}
