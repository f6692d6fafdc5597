import { parse } from 'node:querystring'
import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../core/errors.js'
import { clientOf } from '../../http/client.js'
import { FORM_LIMIT, type Surface } from '../../http/surface.js'
import { clientKey } from '../../service/lib/clients.js'
import { customCss } from '../../service/settings.js'
import { withQuery } from './addresses.js'
import { compressed } from './encoding.js'
import { fieldsOf, MAX_FIELDS } from './fields.js'
import { serveFiles } from './files.js'
import { serveImages } from './images.js'
import { isMultipart, MULTIPART_LIMIT, receiveFile, receiveForm, type SentImage } from './multipart.js'
import { HEADERS } from './headers.js'
import { assertOwnForm } from './origin.js'
import { Redirect, type AnyAction, type SentFile } from './page.js'
import type { Forms } from './forms.js'
import type { Renderer } from './renderer.js'
import type { Routes } from './routes.js'

const cache = { vary: ['cookie', 'accept-language', 'accept-encoding'] } as const
/** Machines see what visitors see. */
const forMachines = { vary: ['accept-language', 'accept-encoding'] } as const

/** In bytes. Of a one-click nothing is read. */
const ONE_CLICK_LIMIT = 10_000

/** Parses one field more than allowed, so that `fieldsOf` can reject the form. */
const formOf = (text: string) => parse(text, '&', '=', { maxKeys: MAX_FIELDS + 1 })

/** Bytes of which the first cannot be taken. */
const failing = (error: AppError): AsyncIterable<never> => ({
  [Symbol.asyncIterator]: () => ({ next: async () => Promise.reject(error) }),
})

/** The pages of a site. What makes them is loaded at the first request: a server starts without it. */
export const surfaceOf =
  (routes: Routes): Surface =>
  async (server, { site, responses, origins, onMissing }) => {
    let made: Promise<{ renderer: Renderer; forms: Forms }> | undefined
    const makers = () => (made ??= load())
    async function load() {
      const [{ Renderer }, { Forms }] = await Promise.all([import('./renderer.js'), import('./forms.js')])
      const renderer = new Renderer({ server, site, responses, routes })
      return { renderer, forms: new Forms(renderer, routes) }
    }
    const fail = async (raw: FastifyRequest, reply: FastifyReply, error: unknown) =>
      (await makers()).renderer.fail(raw, reply, error)

    server.removeAllContentTypeParsers() // a form is no JSON
    server.addContentTypeParser('multipart/form-data', (_request, _body, done) => done(null)) // see `bodyOf`
    await server.register(formbody, { bodyLimit: FORM_LIMIT, parser: formOf })
    serveFiles(server, () => customCss(site))
    serveImages(server, site, async (raw) => (await makers()).renderer.actorOf(raw))
    server.setErrorHandler((error, raw, reply) => fail(raw, reply, error))
    if (!routes.mailPagesOnly)
      onMissing((raw, reply) => {
        const isPage = (raw.method === 'GET' || raw.method === 'HEAD') && raw.headers.accept?.includes('text/html')
        return isPage ? fail(raw, reply, new AppError('NOT_FOUND', 'There is no such page.')) : false
      })

    const pages: PageServer = { server, routes, makers, responses, origins }
    servePages(pages)
    serveDocuments(pages)
    serveDownloads(pages)
    serveActions(pages)
    await serveOneClicks(pages)
  }

interface PageServer extends Pick<Parameters<Surface>[1], 'responses' | 'origins'> {
  server: FastifyInstance
  routes: Routes
  /** Loads the modules that render pages. */
  makers(this: void): Promise<{ renderer: Renderer; forms: Forms }>
}

function servePages({ server, routes, makers, responses }: PageServer): void {
  for (const [path, find] of Object.entries(routes.pages))
    server.get<{ Params: Record<string, string> }>(
      path,
      { config: { op: `page ${path}`, part: 'page', cache } },
      async (raw, reply) => {
        const { renderer } = await makers() // before the request reads anything
        const page = await find()
        const { db, allowCaching } = await responses.open(raw.raw)
        const request = renderer.open(raw, reply, { db, cache: page.cache })
        request.allowCaching = (expiresAt) => allowCaching(`page ${path}`, expiresAt)
        const view = await renderer.viewOf(request, raw.params)
        return renderer.show(request, view, page)
      },
    )
}

function serveDocuments({ server, routes, makers, responses }: PageServer): void {
  for (const [path, find] of Object.entries(routes.documents))
    server.get<{ Params: Record<string, string> }>(
      path,
      { config: { op: path, part: 'feed', cache: forMachines } },
      async (raw, reply) => {
        const { renderer } = await makers()
        const at = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(raw.params[name] ?? ''))
        if (raw.url !== at) return renderer.redirect(reply, at, 301) // each address would be made anew
        const { type, headers, cache, make } = await find()
        reply.headers({ ...HEADERS, ...headers, 'cache-control': 'no-cache' }).type(type)
        if (raw.method === 'HEAD') return reply.send()
        const { db, allowCaching } = await responses.open(raw.raw)
        const request = renderer.open(raw, reply, { db, cache })
        const made = await make(await renderer.viewOf(request, raw.params))
        if (request.cache !== 'never') allowCaching(path)
        return reply.send(typeof made === 'string' ? compressed(raw, reply, made) : made)
      },
    )
}

function serveDownloads({ server, routes, makers }: PageServer): void {
  for (const [path, find] of Object.entries(routes.downloads))
    server.get<{ Params: Record<string, string> }>(path, { config: { op: path, part: 'file' } }, async (raw, reply) => {
      const { renderer } = await makers()
      const view = await renderer.viewOf(renderer.open(raw, reply), raw.params)
      const { operation, input } = await find()
      if (operation.access !== 'public' && !view.viewer) throw new Redirect(withQuery('/login', { redirect: view.url }))
      const body = await view.call(operation, input(view))
      reply.headers(HEADERS)
      return server.downloads.send(raw, reply, body, { who: view.viewer?.userId ?? clientKey(clientOf(raw)) })
    })
}

function serveActions(pages: PageServer): void {
  const { server, routes, makers, origins } = pages
  for (const [path, find] of Object.entries(routes.actions))
    server.post<{ Params: Record<string, string> }>(
      path,
      { config: { op: `form ${path}`, part: 'page' } },
      async (raw, reply) => {
        const { renderer, forms } = await makers()
        assertOwnForm(raw.headers, renderer.addresses.origin)
        const act = await find()
        if (act.operation?.ownPages) origins.assertOwnPage(raw.headers)
        const { body, images, file, close } = await bodyOf(pages, raw, act)
        try {
          return await forms.receive(
            { ...renderer.open(raw, reply), file },
            { route: path, params: raw.params, act, images, fields: fieldsOf(body, act.many) },
          )
        } finally {
          close?.()
        }
      },
    )
}

interface Sent {
  body: unknown
  images: SentImage[]
  file?: SentFile | undefined
  /** Stops an upload that is still arriving. */
  close?(this: void): void
}

/** Reads the fields of a form, with its images or its file if the action accepts any. */
async function bodyOf(pages: PageServer, raw: FastifyRequest, act: AnyAction): Promise<Sent> {
  if (!isMultipart(raw.headers)) return { body: raw.body, images: [] }
  if (act.file !== undefined) return fileOf(pages, raw, act.file)
  if (act.images === undefined) throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'This form takes no files.')
  // A form without images does not count as an upload. Its sender may be signed out
  if (Number(raw.headers['content-length']) <= FORM_LIMIT) return receiveForm(raw.headers, raw.raw)
  const incoming = await incomingOf(pages, raw, MULTIPART_LIMIT)
  try {
    return await receiveForm(raw.headers, incoming.body.bytes)
  } finally {
    incoming.close()
  }
}

async function fileOf(pages: PageServer, raw: FastifyRequest, maxBytes: number): Promise<Sent> {
  const incoming = await incomingOf(pages, raw, maxBytes + FORM_LIMIT)
  try {
    const { body, file, stop } = await receiveFile(raw.headers, incoming.body.bytes)
    const close = () => {
      stop()
      incoming.close()
    }
    return { body, images: [], file, close }
  } catch (error) {
    incoming.close()
    if (!(error instanceof AppError)) throw error
    return { body: {}, images: [], file: { name: '', bytes: failing(error) } } // the page of the form says it
  }
}

/** Accepts uploads only from people who are signed in, because they can be held in memory. */
async function incomingOf({ server, makers }: PageServer, raw: FastifyRequest, maxBytes: number) {
  const { userId, refusal } = await (await makers()).renderer.actorOf(raw)
  if (userId === null) throw refusal ?? new AppError('INVALID_AUTH_HEADER', 'Sign in first.')
  return server.uploads.open(raw, { accepts: [], maxBytes }, userId)
}

async function serveOneClicks({ server, routes, makers }: PageServer): Promise<void> {
  await server.register(async (anywhere) => {
    anywhere.removeAllContentTypeParsers()
    anywhere.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: ONE_CLICK_LIMIT }, async () => ({}))
    for (const [path, find] of Object.entries(routes.oneClicks))
      anywhere.post<{ Params: Record<string, string> }>(
        path,
        { config: { op: `one click ${path}`, part: 'page' } },
        async (raw, reply) => {
          const { renderer, forms } = await makers()
          const act = await find()
          return forms.receive(renderer.open(raw, reply), { route: path, params: raw.params, act, fields: {} })
        },
      )
  })
}
