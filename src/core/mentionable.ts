/** Whether a text can mention a user name: a dot or hyphen at its end could be of the sentence. */
export const isMentionable = (username: string): boolean => /^\w(?:.*\w)?$/.test(username)
