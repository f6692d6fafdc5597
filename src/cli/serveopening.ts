import type { Logger } from 'pino'
import type { App, OpenOptions } from '../app/open.js'
import type { Config } from '../config.js'
import type { Meter } from '../metrics/meter.js'
import type { Cli } from './lib/connection/session.js'
import { makeFirstOwner } from './lib/server/firstowner.js'
import { isMissing } from './setup.js'
import { version } from './version.js'

interface Opening {
  config: Config
  migrate: boolean
  logger: Logger
  isFirst: boolean
  meter?: Meter | undefined
}

/** Opens the database, and first makes the owner of a site that has none, if the settings say who it is. */
export async function openSite(cli: Cli, { config, logger, migrate, isFirst, meter }: Opening): Promise<App> {
  const isNew = isFirst && config.get('setup.email') !== undefined && (await isMissing(config))
  const app = await cli.open({ ...openingOf(logger, migrate || isNew), trace: meter?.trace })
  if (isFirst) await makeFirstOwner(app, config, logger)
  return app
}

const openingOf = (log: Pick<Logger, 'info'>, migrating: boolean): OpenOptions => ({
  migrating,
  version,
  creating: true,
  serving: true,
  onMigrated: ({ applied, kept }) =>
    log.info({ schema: applied.at(-1), kept }, 'updated the database; "feedbackctl rollback" takes that back'),
})
