import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Config } from '../../../config.js'
import { AppError } from '../../../core/errors.js'
import type { Cli } from './session.js'
import type { PreparedSettings } from '../settings/configfile.js'

/** The user's own configuration file. It has the contexts and aliases: a file in the current folder defines neither. */
export const ownFile = (config: Config): string =>
  ofRoot(config.isChosen ? config.file : path.join(config.directory, 'config.toml'))

/**
 * Root obeys no file that another user can change: with the home folder of somebody else, a change there would succeed
 * and have no effect.
 */
function ofRoot(file: string): string {
  if (process.getuid?.() !== 0) return file
  let present = file
  while (!existsSync(present) && path.dirname(present) !== present) present = path.dirname(present)
  const { uid } = statSync(present)
  if (uid === 0) return file
  throw new AppError('CONFIG_INVALID', `${present} belongs to another user (uid ${uid}), and root obeys no file of others: ${file} would have no effect. Run the command as that user, or with HOME=/root.`) // prettier-ignore
}

/** The configuration, even if it names a context that does not exist: commands about contexts can repair that. */
export const readable = (cli: Cli): Promise<Config> => cli.config({ lenient: true, newFile: true })

/** Commits a change of a configuration file. A dry run discards it. */
export function end({ commit, discard }: PreparedSettings, { dryRun }: { dryRun?: boolean }): void {
  if (dryRun) discard()
  else commit()
}
