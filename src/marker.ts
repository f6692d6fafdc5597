import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Config } from './config.js'
import { databaseFile, redactedUrl } from './core/addresses.js'
import { AppError } from './core/errors.js'
import { createFile } from './core/files.js'
import { secretFile } from './secret.js'

const TEXT = `This file shows that the SQLite database beside it belongs to a site.
If the database is lost, feedbackctl does not start an empty one in its place,
because whoever came first could set it up. To begin a new site, remove this file.
`

const fileOf = (config: Config): string | undefined => databaseFile(config.get('database.url') ?? '')

const markerOf = (file: string): string => `${file}.site`

/** Writes a file beside the SQLite file, which shows that there is a site even where the secret is kept elsewhere. */
export function markSite(config: Config): void {
  const file = fileOf(config)
  if (file === undefined || existsSync(markerOf(file))) return
  try {
    createFile(markerOf(file), TEXT)
  } catch {
    // A full disk or another process that was faster: the next start tries again
  }
}

/** Refuses to make a new SQLite file where there was a site: whoever came first would own it. */
export function assertDatabaseKept(config: Config): void {
  const file = fileOf(config)
  if (file === undefined) return
  const secret = path.resolve(secretFile(config))
  const evidence = [markerOf(file), ...(path.dirname(file) === path.dirname(secret) ? [secret] : [])].filter((each) =>
    existsSync(each),
  )
  if (evidence.length === 0) return
  const found = statSync(file, { throwIfNoEntry: false })
  if (found && found.size > 0) return
  const [shown, it] = [evidence.join(' and '), evidence.length > 1 ? ['show', 'these files'] : ['shows', 'this file']]
  throw new AppError(
    'DATABASE_MISSING',
    `${file} is ${found ? 'empty' : 'missing'}, but ${shown} ${it[0]} that there was a site. Check database.url, or restore the database from a backup. To begin a new site, remove ${it[1]}, or choose another folder with --data-dir.`,
  )
}

/** The path of the configured SQLite database where there is none yet. */
export function missingFile(config: Config): string | undefined {
  const file = fileOf(config)
  return file === undefined || existsSync(file) ? undefined : file
}

/** Refuses to look at a SQLite database that does not exist: opening it would make an empty one. */
export function assertSiteThere(config: Config): void {
  const file = missingFile(config)
  if (file === undefined) return
  const key = config.origin('database.url') === 'default' ? 'data.dir' : 'database.url'
  throw new AppError('SITE_NOT_FOUND', `There is no site here: ${file} does not exist.`, {
    why: `${key} is ${redactedUrl(config.get(key) ?? '')}, ${config.origin(key) === 'default' ? 'the default' : `from ${config.origin(key)}`}`,
  })
}
