/** What `is_spam` of a post or comment says: everybody may see it, or the team hid it, or has not looked at it yet. */
export const SHOWN = 0
export const SPAM = 1
/** The first of a new person, where the site holds it until the team has had a look. */
export const HELD = 2
export type Hidden = typeof SHOWN | typeof SPAM | typeof HELD
