import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Config } from './config.js'
import { atomicFile, replaceFile } from './core/atomicfile.js'
import { AppError } from './core/errors.js'
import { whyNotRead } from './core/filecauses.js'
import { secretProblem } from './core/settings.js'

/** The file that holds the secret where the setting does not. */
export const secretFile = (config: Config): string => path.join(config.get('data.dir') ?? '.', 'secret')

/** Whether there is a secret, or one has to be made. */
export const hasSecret = (config: Config): boolean =>
  config.get('secret') !== undefined || existsSync(secretFile(config))

/** A secret that was replaced, with which tokens are verified until then. */
interface PreviousSecret {
  secret: string
  until: Date
}

interface Secrets {
  secret(this: void): string
  previousSecret(this: void): PreviousSecret | undefined
}

/** Milliseconds between two checks whether the file was replaced. */
const LOOK_EVERY_MS = 1000

/**
 * The secret that signs tokens: the setting, or a file in the data folder, which is made unless the site `isBound` to a
 * secret that is lost. Read at first use, because few commands need it, and again when the file was replaced.
 */
export function lazySecrets(config: Config, { isBound }: { isBound: boolean }): Secrets {
  const file = secretFile(config)
  let held: { secret: string; previous: PreviousSecret | undefined; stamp: string } | undefined
  let lookedAt = 0
  const current = () => {
    if (held && performance.now() - lookedAt < LOOK_EVERY_MS) return held
    lookedAt = performance.now()
    const stamp = stampOf(file)
    // Where the file is gone, a server goes on with what it has read
    if (held && (stamp === held.stamp || stamp === undefined)) return held
    const secret = secretOfFile(file, isBound)
    return (held = { secret, previous: readPrevious(previousFile(file)), stamp: stampOf(file) ?? '' })
  }
  return {
    secret: () => config.get('secret') ?? current().secret,
    previousSecret: () => (config.get('secret') === undefined ? current().previous : undefined),
  }
}

const previousFile = (file: string): string => `${file}.previous`

function stampOf(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false })
  return found && `${found.ino} ${found.mtimeMs}`
}

function readPrevious(file: string): PreviousSecret | undefined {
  const [secret = '', until = ''] = (read(file) ?? '').split('\n')
  return secret === '' || Number.isNaN(Date.parse(until)) ? undefined : { secret, until: new Date(until) }
}

function secretOfFile(file: string, isBound: boolean): string {
  const secret = read(file) ?? (isBound ? undefined : create(file))
  if (secret === undefined)
    throw new AppError(
      'SECRET_MISMATCH',
      `The secret of this site is missing. Restore ${file}, or set FEEDBACKCTL_SECRET to it. If it is lost, make a new one: everyone has to sign in again.`,
    )
  const problem = secretProblem(secret)
  if (problem === undefined) return secret
  throw new AppError(
    'CONFIG_INVALID',
    `The secret in ${file} ${problem}. Restore the file, or remove it if this site has issued no token yet.`,
  )
}

/** Keeps the secret of the file as the previous one until a time, and replaces it by a new one. */
export function rotateSecret(config: Config, until: Date): void {
  const file = secretFile(config)
  // First the previous one: a server that reads the new secret finds both
  replaceFile(previousFile(file), `${secretOfFile(file, true)}\n${until.toISOString()}\n`)
  replaceFile(file, newSecret())
}

/** Replaces the file by one with a new secret. */
export function replaceSecret(config: Config): void {
  const file = secretFile(config)
  rmSync(previousFile(file), { force: true })
  replaceFile(file, newSecret())
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
    throw new AppError('CONFIG_INVALID', `Cannot read the secret in ${file}: ${whyNotRead(error)}.`)
  }
}

/** If two processes create the file at once, one wins and both read its secret. */
function create(file: string): string {
  const fresh = atomicFile(file)
  try {
    fresh.write(newSecret())
    fresh.create()
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  } finally {
    fresh.discard()
  }
  return readFileSync(file, 'utf8').trim()
}

const newSecret = (): string => `${randomBytes(32).toString('hex')}\n`
