/** What `is_spam` of a post or comment says: everybody may see it, or the team hid it, or has not looked at it yet. */
export const SHOWN = 0
export const SPAM = 1
/** The first of a new person, where the site holds it until the team has had a look. */
export const HELD = 2
/** It was merged into another post, which stands for it. No list has it. */
export const MERGED = 3
export type Hidden = typeof SHOWN | typeof SPAM | typeof HELD | typeof MERGED

/** `display` of a merged post. That of others is 1, or 0 where only those who read private boards see it. */
export const UNLISTED = 2
/** `display` of spam in `post_counts`, so that lists are counted with spam and without. Rows of `posts` never have it. */
export const COUNTED_AS_SPAM = 3
