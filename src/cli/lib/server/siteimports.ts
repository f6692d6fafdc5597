import type { App } from '../../../app/open.js'
import type { Config } from '../../../config.js'
import type { Context } from '../../../service/lib/context.js'

/** What a server puts an export in with, and files of other products, at the request of the owner. */
export function siteImports(app: App, config: Config): NonNullable<Context['imports']> {
  const files = async () => (await import('./importfiles.js')).importFiles(config.get('data.dir'))
  return {
    async *lines(bytes, options) {
      const { importOpen } = await import('../../../backup/importopen.js')
      yield* importOpen(config, bytes, { db: app.db, ...options })
    },
    files: {
      async *receive(bytes, options) {
        yield* (await files()).receive(bytes, options)
      },
      open: async (id, options) => (await files()).open(id, options),
      remove: async (id) => (await files()).remove(id),
      ids: async () => (await files()).ids(),
      removeAbandoned: async () => (await files()).removeAbandoned(),
      hold: async (id) => (await files()).hold(id),
      keep: async (id) => (await files()).keep(id),
    },
  }
}
