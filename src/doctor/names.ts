/** The checks, in their order, and what they look at. Help shows it without loading a check. */
export const NAMES = {
  runtime: 'Node and the modules for this machine',
  files: 'who may read and write the files of the site',
  database: 'whether the database opens, and its schema',
  integrity: 'damage in the database',
  counters: 'counts that are stored, against the rows',
  secret: 'the secret, and whether the database belongs to it',
} as const
