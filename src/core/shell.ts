/** A word of a line for a POSIX shell, which is copied from a terminal. */
export const shellQuoted = (arg: string): string =>
  /^[\w@%+=:,./-]+$/.test(arg.replace('***', '')) || arg === '***' ? arg : `'${arg.replaceAll("'", String.raw`'\''`)}'`
