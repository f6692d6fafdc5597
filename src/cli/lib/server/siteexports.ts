import type { App } from '../../../app/open.js'
import type { Config } from '../../../config.js'
import type { Context } from '../../../service/lib/context.js'

/** What a server takes its site out with, at the request of the owner. */
export const siteExports = (app: App, config: Config): NonNullable<Context['exports']> => ({
  async *lines({ boards }) {
    const { exportLines } = await import('../../../backup/export.js')
    yield* exportLines(config, { passwords: false, boards })
  },
  async *sheets(options) {
    const { exportSheets } = await import('../../../backup/exportcsv.js')
    yield* exportSheets(config, options)
  },
  async *pages(at) {
    const { copiedSite } = await import('../../../static/site.js')
    for await (const { file, data, kind } of copiedSite(app, at)) yield { file, text: data, rows: kind === 'page' ? 1 : 0 } // prettier-ignore
  },
  async *spooled(pieces) {
    const { spooled } = await import('../../../backup/spool.js')
    yield* spooled(
      pieces,
      [config.get('data.dir')].flatMap((folder) => folder ?? []),
    )
  },
})
