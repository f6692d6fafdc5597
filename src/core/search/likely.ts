/** Minimum score of a probable duplicate. See `likenessOf`. */
export const LIKELY = 0.4

/** Minimum score of a related post. See `likenessOf`. */
export const RELATED = 0.3
