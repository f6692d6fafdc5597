import path from 'node:path'
import { openApp } from '../app/open.js'
import { schemaOf } from '../app/schema.js'
import type { Config } from '../config.js'
import { databaseFile } from '../core/addresses.js'
import { AppError, serverError } from '../core/errors.js'
import type { Opened, Site } from './check.js'

type Given = Pick<Site, 'now' | 'cwd' | 'version' | 'offline' | 'deep' | 'url'>

/** The site to examine, and a function that closes it. Nothing is opened yet. */
export function siteOf(config: Config, given: Given): { site: Site; close(this: void): Promise<void> } {
  const url = config.get('database.url') ?? ''
  let opening: Promise<Opened> | undefined
  const opened = () => (opening ??= open(config))
  const site: Site = {
    ...given,
    config,
    file: databaseFile(url),
    folder: path.resolve(config.get('data.dir') ?? '.'),
    opened,
    async app() {
      const found = await opened()
      if ('app' in found) return found.app
      throw 'problem' in found ? found.problem : new AppError('DATABASE_OUTDATED', 'The schema is another one.')
    },
  }
  const close = async () => {
    const found = await opening
    if (found && 'app' in found) await found.app.close()
  }
  return { site, close }
}

/** Looks at the schema first: opening the site would update it. */
async function open(config: Config): Promise<Opened> {
  try {
    const { schema, state } = await schemaOf(config)
    if (state !== 'current') return { schema, state }
    return { app: await openApp(config), schema: schema ?? '' }
  } catch (error) {
    return { problem: error instanceof AppError ? error : serverError(error) }
  }
}
