import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Config } from './config.js'
import { AppError } from './core/errors.js'
import { makeFolder } from './core/folder.js'

const MIN_LENGTH = 16

/** The file that holds the secret where the setting does not. */
export const secretFile = (config: Config): string => path.join(config.get('data.dir') ?? '.', 'secret')

/** Whether there is a secret, or one has to be made. */
export const hasSecret = (config: Config): boolean =>
  config.get('secret') !== undefined || existsSync(secretFile(config))

/**
 * The secret that signs tokens: the setting, or a file in the data folder, which is made unless the site `isBound` to a
 * secret that is lost. Read at first use, because few commands need it.
 */
export function lazySecret(config: Config, { isBound }: { isBound: boolean }): () => string {
  let secret: string | undefined
  return () => (secret ??= config.get('secret') ?? secretOfFile(secretFile(config), isBound))
}

function secretOfFile(file: string, isBound: boolean): string {
  const secret = read(file) ?? (isBound ? undefined : create(file))
  if (secret === undefined)
    throw new AppError(
      'SECRET_MISMATCH',
      `The secret is missing, with which this site was set up. Restore ${file}, or set FEEDBACKCTL_SECRET to it. If it is lost, make a new one: everybody has to sign in again.`,
    )
  if (secret.length >= MIN_LENGTH) return secret
  throw new AppError(
    'CONFIG_INVALID',
    `The secret in ${file} has ${secret.length} characters, and needs at least ${MIN_LENGTH}. Restore the file, or remove it if this site has issued no token yet.`,
  )
}

/** Replaces the file by one with a new secret. */
export function replaceSecret(config: Config): void {
  const file = secretFile(config)
  renameSync(writeNew(file), file)
}

/** The file of the secret, where everybody on this machine can read it. */
export function exposedSecret(config: Config): string | undefined {
  const file = secretFile(config)
  if (config.get('secret') !== undefined || process.platform === 'win32') return undefined
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0
  return mode & 0o004 ? file : undefined
}

/** Returns undefined if the file does not exist. */
function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'ENOENT') return undefined
    throw new AppError('CONFIG_INVALID', `Cannot read the secret in ${file}: ${code}.`)
  }
}

/** If two processes create the file at once, one wins and both read its secret. */
function create(file: string): string {
  const temporary = writeNew(file)
  try {
    linkSync(temporary, file) // unlike a rename, it fails if the file exists by now
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  } finally {
    rmSync(temporary)
  }
  return readFileSync(file, 'utf8').trim()
}

/** Writes a new secret to a temporary file beside the file, and returns its name. */
function writeNew(file: string): string {
  const temporary = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`
  makeFolder(path.dirname(file))
  writeFileSync(temporary, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flush: true })
  return temporary
}
