import { setImmediate as turn } from 'node:timers/promises'
import type { App } from '../app/open.js'
import { AppError } from '../core/errors.js'
import { buildServer } from '../http/server.js'
import { operations } from '../service/index.js'
import { routes } from '../web/index.js'
import { surfaceOf } from '../web/kit/surface.js'

interface Answer {
  status: number
  body: Buffer
  /** The target of a redirect. */
  location: string | undefined
}

/** Asks the pages and the API of a site as a visitor, in this process: without a port, a cache and limits. */
export interface Visitor {
  get(this: void, address: string): Promise<Answer>
  /** Answers of operations, which the API takes with a body. */
  post(this: void, path: string, body: object): Promise<Answer>
  close(this: void): Promise<void>
}

/** `copiedAt` makes the pages those of a copy. */
export async function openVisitor(app: App, copiedAt: string): Promise<Visitor> {
  let cause = ''
  const log = { level: 'error', stream: { write: (line: string) => void (cause = causeIn(line)) } }
  const site = { ...app.base, ping: app.ping }
  const server = await buildServer(operations, site, log, { surfaces: [surfaceOf({ ...routes, copiedAt })] })
  await server.ready()
  const ask = async (request: { method: 'GET' | 'POST'; url: string; payload?: object }): Promise<Answer> => {
    await turn() // SQLite answers at once: without it, signals and what waits for a turn would wait for the end
    const {
      statusCode: status,
      rawPayload: body,
      headers,
    } = await server.inject({
      ...request,
      headers: {
        accept: request.method === 'GET' ? 'text/html' : 'application/json',
        ...(app.base.siteLanguage !== undefined && { 'accept-language': app.base.siteLanguage }),
      },
    })
    if (status >= 500)
      throw new AppError('SERVER_ERROR', `The site cannot show ${request.url}${cause && `: ${cause}`}.`)
    return { status, body, location: headers.location?.toString() }
  }
  return {
    get: (url) => ask({ method: 'GET', url }),
    post: (url, payload) => ask({ method: 'POST', url, payload }),
    close: () => server.close(),
  }
}

function causeIn(line: string): string {
  try {
    return (JSON.parse(line) as { err?: { message?: string } }).err?.message ?? ''
  } catch {
    return ''
  }
}
