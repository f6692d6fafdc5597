/** Adds nothing but what the triggers log by now: what the team has decided, on which counts of what waits depend. */
export const up = async (): Promise<void> => {}
