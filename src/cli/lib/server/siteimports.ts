import type { App } from '../../../app/open.js'
import type { Config } from '../../../config.js'
import type { Context } from '../../../service/lib/context.js'

/** What a server puts an export in with, at the request of the owner. */
export const siteImports = (app: App, config: Config): NonNullable<Context['imports']> => ({
  async *lines(bytes, options) {
    const { importOpen } = await import('../../../backup/importopen.js')
    yield* importOpen(config, bytes, { db: app.db, ...options })
  },
})
