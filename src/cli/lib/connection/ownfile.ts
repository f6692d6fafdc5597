import path from 'node:path'
import type { Config } from '../../../config.js'
import type { Cli } from './session.js'
import type { PreparedSettings } from '../settings/configfile.js'

/** The user's own configuration file. It has the contexts and aliases: a file in the current folder defines neither. */
export const ownFile = (config: Config): string =>
  config.isChosen ? config.file : path.join(config.directory, 'config.toml')

/** The configuration, even if it names a context that does not exist: commands about contexts can repair that. */
export const readable = (cli: Cli): Promise<Config> => cli.config({ lenient: true, newFile: true })

/** Commits a change of a configuration file. A dry run discards it. */
export function end({ commit, discard }: PreparedSettings, { dryRun }: { dryRun?: boolean }): void {
  if (dryRun) discard()
  else commit()
}
