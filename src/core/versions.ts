const NUMERIC = new Intl.Collator('en', { numeric: true })

/** Whether this version of the program came out before that one. */
export const isOlder = (version: string, than: string): boolean => NUMERIC.compare(version, than) < 0
