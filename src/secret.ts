import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Config } from './config.js'
import { AppError } from './core/errors.js'
import { makeFolder } from './core/folder.js'

const MIN_LENGTH = 16

/**
 * The secret that signs tokens: the setting, or a file in the data folder. Read at first use, because few commands need
 * it.
 */
export function lazySecret(config: Config): () => string {
  let secret: string | undefined
  return () => (secret ??= config.get('secret') ?? secretOfFile(path.join(config.get('data.dir') ?? '.', 'secret')))
}

function secretOfFile(file: string): string {
  const secret = read(file) ?? create(file)
  if (secret.length >= MIN_LENGTH) return secret
  throw new AppError(
    'CONFIG_INVALID',
    `The secret in ${file} has ${secret.length} characters, and needs at least ${MIN_LENGTH}. Restore the file, or remove it if this site has issued no token yet.`,
  )
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
  const temporary = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`
  makeFolder(path.dirname(file))
  writeFileSync(temporary, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flush: true })
  try {
    linkSync(temporary, file) // unlike a rename, it fails if the file exists by now
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  } finally {
    rmSync(temporary)
  }
  return readFileSync(file, 'utf8').trim()
}
