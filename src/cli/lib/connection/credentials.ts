import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Config } from '../../../config.js'
import { replaceFile } from '../settings/configfile.js'

const fileOf = (config: Config): string => path.join(config.directory, 'tokens.json')

/** The token that `login` saved for a server. */
export const savedToken = (config: Config, server: string): string | undefined => read(config)[keyOf(server)]

/** Saves a token for later commands, readable by its owner only, and returns the file. */
export function saveToken(config: Config, server: string, token: string): string {
  const file = fileOf(config)
  replaceFile(file, `${JSON.stringify({ ...read(config), [keyOf(server)]: token }, null, 2)}\n`)
  return file
}

/** Forgets the token of a server. */
export function removeToken(config: Config, server: string): void {
  const { [keyOf(server)]: _, ...others } = read(config)
  replaceFile(fileOf(config), `${JSON.stringify(others, null, 2)}\n`)
}

const keyOf = (server: string): string => server.replace(/\/+$/, '')

function read(config: Config): Record<string, string> {
  try {
    // Only this module writes the file.
    return JSON.parse(readFileSync(fileOf(config), 'utf8')) as Record<string, string>
  } catch {
    return {}
  }
}
