import { openDatabase } from '../../src/db/connect.js'
import { readSettings } from '../../src/db/settings.js'
import type { Vary } from '../../src/http/cache/routes.js'
import { buildServer } from '../../src/http/server.js'
import type { Surface } from '../../src/http/surface.js'
import { cleanup, httpOf, type TestSite } from './site.js'

/** Starts a server with one more page, which shows a request header. */
export async function withPage(site: TestSite, vary: readonly Vary[], header: string): Promise<TestSite['http']> {
  const { db, cache, ping, close } = await openDatabase(site.databaseUrl, { staleness: 0, verify: true })
  const page: Surface = (server, { responses }) =>
    void server.get('/page', { config: { cache: { vary } } }, async (request, reply) => {
      const { db: cached, allowCaching } = await responses.open(request.raw)
      await readSettings(cached)
      allowCaching('page')
      reply.type('text/plain')
      return String(request.headers[header] ?? 'none')
    })
  const log = { level: 'silent', stream: { write() {} } }
  const server = await buildServer([], { ...site.base, db, ping, cache }, log, { surfaces: [page] })
  cleanup(async () => {
    await server.close()
    await close()
  })
  return httpOf(server)
}
