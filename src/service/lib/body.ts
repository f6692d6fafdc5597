/** A body that somebody sends. It is received as it is taken. */
export interface Body {
  /** Its media type. */
  type: string
  bytes: AsyncIterable<Uint8Array>
}

/** A part of a long body. */
export interface Piece {
  text: string
  /** In place of the text, where the body is none. */
  bytes?: Uint8Array
  /** How many rows begin in it. */
  rows: number
}
