/** From this score on, a post may be the wish that somebody is about to write: `likenessOf` gives it. */
export const LIKELY = 0.4

/** From this score on, a post is worth a look beside another. */
export const RELATED = 0.3
