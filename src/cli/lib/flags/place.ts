import { statSync } from 'node:fs'
import path from 'node:path'
import { absoluteUrl, databaseUrlProblem, hasPassword, redactedUrl } from '../../../core/addresses.js'
import { AppError } from '../../../core/errors.js'
import { tell, type Terminal } from '../terminal/terminal.js'

/** Notations of a database as an argument, for help. */
export const PLACE =
  'sqlite:PATH, postgres://USER@HOST/DATABASE, env:NAME, a data folder or a configuration file (.toml)'

/** Like `addressOf`. Warns of a password in the argument, which other users of the machine can see. */
export async function placeOf(terminal: Terminal, argument: string, name: 'FROM' | 'TO'): Promise<string> {
  const place = await addressOf(terminal, argument, name)
  if (isAddress(argument) && !argument.startsWith('env:') && hasPassword(place))
    tell(terminal, `Warning: the password in ${name} is visible to all users of this machine in the process list. Put the address into a variable, and write ${name} as env:NAME.`) // prettier-ignore
  return place
}

const isAddress = (argument: string): boolean => /^[a-z]+:/i.test(argument)

/**
 * The address of a database that an argument names: itself, or as an environment variable (`env:NAME`), a configuration
 * file or a data folder has it.
 */
export async function addressOf(terminal: Terminal, argument: string, name: 'FROM' | 'TO'): Promise<string> {
  const { cwd, env } = terminal
  const [, variable] = /^env:(.*)$/s.exec(argument) ?? []
  if (variable !== undefined) {
    const value = env[variable]
    if (!value) throw new AppError('USAGE', `${name} is ${JSON.stringify(argument)}, but that variable is not set.`)
    return checked(value, cwd, `The value of ${variable}`)
  }
  if (isAddress(argument)) return checked(argument, cwd, name)
  const url = await configured(argument, terminal)
  if (url === undefined) throw new AppError('USAGE', `There is no folder or configuration file ${JSON.stringify(argument)}. ${name} is ${PLACE}.`) // prettier-ignore
  return url
}

function checked(url: string, cwd: string, what: string): string {
  const problem = databaseUrlProblem(url)
  if (problem !== undefined) throw new AppError('USAGE', `${what} ${problem}; ${JSON.stringify(redactedUrl(url))} is not.`) // prettier-ignore
  return absoluteUrl(url, cwd)
}

function isDirectory(file: string): boolean {
  try {
    return statSync(file).isDirectory()
  } catch {
    return false // also a name that no file can have
  }
}

/** The database of a data folder or a configuration file; undefined where it is neither. */
async function configured(argument: string, { cwd, env }: Terminal): Promise<string | undefined> {
  const file = path.resolve(cwd, argument)
  const isFolder = isDirectory(file)
  if (isFolder) return absoluteUrl(`sqlite:${path.join(file, 'feedback.db')}`, cwd)
  if (!file.endsWith('.toml')) return undefined
  const { loadConfig } = await import('../../../config.js')
  const { HOME, XDG_DATA_HOME, STATE_DIRECTORY } = env
  const config = await loadConfig({ flags: { config: file }, env: { HOME, XDG_DATA_HOME, STATE_DIRECTORY }, cwd })
  return config.get('database.url')
}
