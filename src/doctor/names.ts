/** The checks, in their order, and what they look at. Help shows it without loading a check. */
export const NAMES = {
  runtime: 'Node and the modules for this machine',
  config: 'settings',
  files: 'who may read and write the files of the site',
  leftovers: 'files of commands that were killed',
  disk: 'free space',
  clock: 'the clock, against that of the database and the newest event',
  database: 'whether the database opens, and its schema',
  integrity: 'damage in the database',
  counters: 'stored counts, against the rows',
  search: 'the search index, against the posts',
  secret: 'the secret, and whether the database belongs to it',
  audit: 'the hashes of the event log',
  mail: 'the mail server, and mail that waits',
  backups: 'the age of the newest backup',
  servers: 'the servers on this database',
} as const
