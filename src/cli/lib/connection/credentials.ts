import { lstatSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Config } from '../../../config.js'
import { AppError } from '../../../core/errors.js'
import { whyNotRead } from '../../../core/filecauses.js'
import { replaceFile } from '../settings/configfile.js'
import { serverKey } from './places.js'

const fileOf = (config: Config): string => path.join(config.directory, 'tokens.json')

/** The token that `login` saved for a server. */
export const savedToken = (config: Config, server: string): string | undefined => read(config).get(serverKey(server))

/** Saves a token for later commands, readable by its owner only, and returns the file. */
export function saveToken(config: Config, server: string, token: string): string {
  write(config, (tokens) => tokens.set(serverKey(server), token))
  return fileOf(config)
}

/** Forgets the token of a server. */
export function removeToken(config: Config, server: string): void {
  write(config, (tokens) => tokens.delete(serverKey(server)))
}

/** Other commands may save or remove other tokens meanwhile. */
const write = (config: Config, change: (tokens: Map<string, string>) => void): void =>
  replaceFile(fileOf(config), () => {
    const tokens = read(config)
    change(tokens)
    return `${JSON.stringify(Object.fromEntries(tokens), null, 2)}\n`
  })

/** All saved tokens. An unreadable file is an error: writing a new one would lose the tokens of other servers. */
function read(config: Config): Map<string, string> {
  const file = fileOf(config)
  const tokens = parsed(textOf(file))
  if (!tokens) throw unreadable(file, 'its text is not what "feedbackctl login" writes')
  // People may have written another spelling of the address
  return new Map(Object.entries(tokens).map(([server, token]) => [serverKey(server), token]))
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (!lstatSync(file, { throwIfNoEntry: false })) return '{}'
    throw unreadable(file, whyNotRead(error))
  }
}

function parsed(text: string): Record<string, string> | undefined {
  try {
    const found: unknown = JSON.parse(text)
    const isTable = typeof found === 'object' && found !== null && !Array.isArray(found)
    return isTable && Object.values(found).every((each) => typeof each === 'string')
      ? (found as Record<string, string>)
      : undefined
  } catch {
    return undefined
  }
}

const unreadable = (file: string, why: string): AppError =>
  new AppError(
    'CONFIG_INVALID',
    `Cannot read the saved tokens in ${file}: ${why}. Nothing was changed. Correct the file, or move it away and sign in again.`,
    { place: file },
  )
