/** Ends a command with success, and with this message. */
export class NothingToDo extends Error {}
