import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { wordsOf, type Words } from '../../core/catalogue.js'
import { AppError } from '../../core/errors.js'
import { languageFor } from '../../core/language.js'
import type { LegalPage } from '../../core/legal.js'
import { shownLogo } from '../../core/logo.js'
import { IMAGES } from '../../core/images/address.js'
import { render, type Html } from '../../core/markdown/index.js'
import { contentOf, type ResponseCache } from '../../http/cache/responses.js'
import { clientOf } from '../../http/client.js'
import { asAppError, isAnswer, publicError } from '../../http/errors.js'
import type { Site } from '../../http/lib/site.js'
import { canNow, isPermitted, notAllowed, refusalTo, visitor, type Actor } from '../../service/lib/access.js'
import type { Context } from '../../service/lib/context.js'
import { list as legalPages } from '../../service/legal.js'
import { execute, refusalOf, type AnyOperation, type KnownCall } from '../../service/lib/operation.js'
import { actorOf } from '../../service/lib/sessions.js'
import { count } from '../../service/moderation.js'
import { count as unread } from '../../service/notifications.js'
import { profile } from '../../service/profile.js'
import { status as totpStatus } from '../../service/totp.js'
import { site as siteSettings, type Settings } from '../../service/settings.js'
import { addressesOf, withQuery, type Addresses } from './addresses.js'
import { readCookies, setCookie } from './cookies.js'
import { compressed } from './encoding.js'
import { pathAndQuery } from './fields.js'
import { HEADERS, headersWith } from './headers.js'
import {
  Ended,
  Redirect,
  type AnyPage,
  type Flash,
  type Form,
  type LiveView,
  type Outcome,
  type PageCache,
  type Said,
  type SentFile,
  type View,
} from './page.js'
import type { Repeat } from './repeat.js'
import type { FrameProps, Routes } from './routes.js'
import { SECTIONS } from './sections.js'

/** One request for a page, or with a form. */
export interface PageRequest {
  raw: FastifyRequest
  reply: FastifyReply
  url: string
  db: Context['db']
  /** What the page declares; 'never' for what is no page, and once something is shown that does not last. */
  cache: PageCache
  /** Called before the response is sent: it is stored on its way out. */
  allowCaching?: (expiresAt: number) => void
  form: Form
  file?: SentFile | undefined
  html: Html
  /** What was done before, to say it on the next page. */
  said: readonly Said[]
  refusals: View['refusals']
  waiting?: number
  unread?: number
  isMailStopped?: boolean
  legal?: readonly LegalPage[]
  /** Until when it may be cached, Unix ms. */
  lasts?: number
  /** The token of the session that began with the request, or got another id. */
  began?: string | undefined
}

interface Parts {
  server: FastifyInstance
  site: Site
  responses: ResponseCache
  routes: Routes
}

/** Makes HTML of pages, and of errors. */
export class Renderer {
  readonly addresses: Addresses
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
    this.addresses = addressesOf(parts.site.siteUrl)
  }

  /** `db` reads through the query cache. */
  open(
    raw: FastifyRequest,
    reply: FastifyReply,
    { cache = 'never', db = this.#parts.site.db }: Partial<Pick<PageRequest, 'cache' | 'db'>> = {},
  ): PageRequest {
    return {
      raw,
      reply,
      url: raw.url,
      db,
      cache,
      form: { values: {}, error: undefined },
      html: noHtml,
      said: [],
      refusals: new Map(),
    }
  }

  /** Whoever sends a request for what is no page, by the header of the API or by the cookie. */
  actorOf({ headers }: FastifyRequest): Promise<Actor> {
    const { session } = readCookies(this.#parts.site.siteUrl, headers.cookie)
    return actorOf(headers.authorization ?? (session === undefined ? undefined : `Bearer ${session}`), this.#parts.site)
  }

  /** The view of whoever sends the request, or of this token. */
  async viewOf(request: PageRequest, params: Record<string, string>, token?: string): Promise<LiveView> {
    const { raw, db, url } = request
    const sent = token ?? readCookies(this.#parts.site.siteUrl, raw.headers.cookie).session
    const browser = {
      keep: (kept: string, until: string) => {
        request.began = kept
        this.#keepSession(request, kept, until)
      },
    }
    const actorBy = async (reads: Pick<Context, 'db' | 'browser'>) => {
      const found = await actorOf(sent === undefined ? undefined : `Bearer ${sent}`, { ...this.#parts.site, ...reads })
      return found.key ? actorOf(undefined, this.#parts.site) : found // a key is for programs
    }
    const actor = await actorBy({
      db,
      browser: { keep: (kept, until) => this.#keepSession(request, kept, until) },
    })
    const context = (): Context => ({
      ...this.#parts.site,
      ...STRICT,
      db,
      actor,
      actorNow: () => actorBy({ db: this.#parts.site.db }), // without the browser: its answer has begun
      origin: 'http',
      client: clientOf(raw),
      browser,
      lasts: (until) => (request.lasts = Math.min(until, request.lasts ?? Infinity)),
      dryRun: false,
    })
    const call: KnownCall = async (op, input) => {
      if (!op.cache && request.cache !== 'never')
        throw new Error(`A cached page calls ${op.id}, which declares no cache.`)
      return execute(op, context(), input)
    }
    const viewer = actor.refusal === null && actor.userId !== null ? (await call(profile, {})).user : null
    const words = wordsOf(
      viewer?.language ?? languageFor(raw.headers['accept-language'], this.#parts.site.siteLanguage),
    )
    const { settings } = await call(siteSettings, {})
    const { base } = this.addresses
    const [path, query] = pathAndQuery(url)
    const announcement = await this.#announced(settings, request)
    return {
      ...this.addresses,
      call,
      dryRun: (op, input) => execute(op, { ...context(), dryRun: true }, input),
      send: (op, input, body) => execute(op, { ...context(), ...(body && { body }) }, input),
      sendDry: (op, input, body) => execute(op, { ...context(), dryRun: true, ...(body && { body }) }, input),
      file: request.file,
      guard: (name, work) => this.#parts.site.limits?.guard(name, context(), undefined, work) ?? work(),
      actor,
      viewer,
      can: (permission) => canNow(actor, permission),
      settings: {
        ...inLanguage(settings, words),
        logo: shownLogo(settings.logo, this.#parts.site),
        logoDark: shownLogo(settings.logoDark, this.#parts.site),
      },
      announcement,
      words,
      t: words.t,
      sendsMail: this.#parts.site.mail !== null,
      mailPagesOnly: this.#parts.routes.mailPagesOnly ?? false,
      copiedAt: this.#parts.routes.copiedAt,
      url,
      path,
      params,
      query,
      queried: (name) => new URLSearchParams(url.slice(path.length)).getAll(name),
      may: (op) => isPermitted(op, actor),
      said: [...saidIn(query.done, words), ...request.said],
      undo: query.undo,
      get form() {
        return request.form
      },
      html: (text) => request.html(text),
      async render(texts) {
        const { html, isFinal } = await render(texts)
        if (!isFinal) request.cache = 'never' // the next visitor may see it rendered
        return inBase(html, base)
      },
      refusalOf: (op) => refusalOf(op, context()),
      get legal() {
        return request.legal ?? []
      },
      get waiting() {
        return request.waiting
      },
      get unread() {
        return request.unread ?? 0
      },
      get isMailStopped() {
        return request.isMailStopped ?? false
      },
      get refusals() {
        return request.refusals
      },
    }
  }

  /** What the owner announces now. A cached page ends with it. */
  async #announced({ announcement, announcementUntil }: Settings, request: PageRequest): Promise<string | undefined> {
    if (announcement === null) return undefined
    const ends = announcementUntil === null ? Infinity : Date.parse(announcementUntil)
    if (ends <= this.#parts.site.now().getTime()) return undefined
    request.lasts = Math.min(ends, request.lasts ?? Infinity)
    const text = { markdown: announcement, level: 2 } as const
    return (await render([text])).html(text).replaceAll(/<(\/?)h[1-6]>/g, '<$1p>') // it is above the title of the page
  }

  /** The cookie lives as long as the session does if it is not used. */
  #keepSession(request: PageRequest, token: string, until: string): void {
    const { siteUrl, now } = this.#parts.site
    const seconds = Math.ceil((Date.parse(until) - now().getTime()) / 1000)
    setCookie(request.reply, siteUrl, 'session', token, Math.max(seconds, 1))
    request.cache = 'never' // the cookie is of one browser
  }

  send(request: PageRequest, view: View, html: VNode, status = 200): FastifyReply {
    const isCached = request.cache === 'actor' || (request.cache === 'visitor' && !view.viewer)
    if (isCached && status === 200) request.allowCaching?.(Math.min(view.actor.expiresAt, request.lasts ?? Infinity))
    return request.reply
      .code(status)
      .headers({
        ...headersWith([view.settings.logo, view.settings.logoDark]),
        'content-language': view.words.language,
      })
      .header('cache-control', !isCached ? 'no-store' : view.viewer ? 'private, no-cache' : 'no-cache')
      .type('text/html; charset=utf-8')
      .send(compressed(request.raw, request.reply, `<!doctype html>${renderToString(html)}`))
  }

  async show(request: PageRequest, view: LiveView, page: AnyPage, status = 200): Promise<FastifyReply> {
    if ((page.signedIn || page.section) && !view.viewer) throw new Redirect(withQuery('/login', { redirect: view.url }))
    if (page.section && !view.can('dashboard:read')) {
      request.cache = 'never' // what follows is of one person
      const { isNeeded } = await view.call(totpStatus, {})
      if (isNeeded) throw new Redirect('/settings#second-factor') // which says why a role does not count
    }
    assertThere(view, page)
    // Who looks at an address first, as programs that check links do, must not use it up
    if (page.ends && request.raw.method === 'HEAD')
      return request.reply.headers({ ...HEADERS, 'cache-control': 'no-store' }).send()
    const data = await page.load(view).catch((error: unknown) => {
      if (error instanceof Ended) return error
      throw error
    })
    if (data instanceof Ended) {
      if (!page.ends) throw new Error('A page ends with an outcome that it does not declare.')
      this.keep(request.reply, data.outcome)
      return this.end(request, view, data.outcome)
    }
    await this.#findLegal(request, view)
    if (page.texts) request.html = await view.render(page.texts(view, data))
    await this.#count(request, view)
    await this.findRefusals(request, view, page.forms)
    const title = page.title(view, data)
    const { Layout } = await this.#parts.routes.frame()
    const html = (
      <Layout
        view={view}
        title={title}
        head={page.head?.(view, data)}
        isUnlisted={page.isUnlisted ?? (page.section !== undefined || status !== 200)}
        section={page.section ?? page.frame?.(view)}
        isFramed={page.frame !== undefined}
        isSetup={page.isSetup}
      >
        {page.show(view, data)}
      </Layout>
    )
    return this.send(request, view, html, status)
  }

  /** The cookies of an outcome. */
  keep(reply: FastifyReply, { session, language }: Outcome): void {
    const { siteUrl } = this.#parts.site
    if (session !== undefined) setCookie(reply, siteUrl, 'session', session)
    if (language !== undefined) setCookie(reply, siteUrl, 'language', language)
    reply.header('cache-control', 'no-store')
  }

  /** Leads to the page of an outcome, or shows it. */
  async end(request: PageRequest, view: LiveView, outcome: Outcome): Promise<FastifyReply> {
    const { raw, reply } = request
    if (outcome.again) return this.show(request, view, outcome.again)
    if (outcome.show) return this.sendPage(request, view, { title: outcome.title ?? '', section: outcome.section, children: outcome.show }) // prettier-ignore
    if (wantsJson(raw)) return reply.headers(HEADERS).send({ to: this.addresses.href(outcome.to), ...outcome.json })
    const [said] = saidBy(outcome)
    if (view.mailPagesOnly && said) return this.say(request, view, said)
    return this.redirect(reply, saying(outcome.to, [...saidBy(outcome), ...request.said], outcome.undo))
  }

  /** Finds what refuses the operations of forms, before they are shown. The last reads of a request, as they are not cached. */
  async findRefusals(request: PageRequest, view: LiveView, operations: readonly AnyOperation[] = []): Promise<void> {
    const found = await Promise.all(operations.map(async (op) => [op.id, await view.refusalOf(op)] as const))
    request.refusals = new Map(found.flatMap(([id, refusal]) => (refusal ? [[id, refusal]] : [])))
  }

  /** Counts what waits and what is unread, for the links to them. */
  async #count(request: PageRequest, view: View): Promise<void> {
    if (view.viewer && view.may(unread)) {
      const { unread: number, isMailStopped } = await view.call(unread, {})
      Object.assign(request, { unread: number, isMailStopped })
    }
    if (view.viewer && view.can('dashboard:read') && view.may(count))
      request.waiting = (await view.call(count, {})).total
  }

  /** Loads the names of the legal pages for the footer. */
  async #findLegal(request: PageRequest, view: View): Promise<void> {
    if (view.mailPagesOnly) return
    request.legal = (await view.call(legalPages, {})).pages.map(({ name }) => name)
  }

  /** A page that says what was done, where there is no other to say it on. */
  async say(request: PageRequest, view: View, { flash, count }: Said): Promise<FastifyReply> {
    const title = view.t(`flash.${flash}`, { count: count ?? 0 })
    const { Notice } = await this.#parts.routes.frame()
    return this.sendPage(request, view, { title, children: <Notice title={title} /> })
  }

  /** Sends what is no page of its own: a question in between, or what is shown only once. */
  async sendPage(
    request: PageRequest,
    view: View,
    { title, section, isFramed, children }: Pick<FrameProps, 'title' | 'section' | 'isFramed' | 'children'>,
  ): Promise<FastifyReply> {
    await this.#findLegal(request, view)
    await this.#count(request, view)
    const { Layout } = await this.#parts.routes.frame()
    return this.send(request, view, <Layout view={view} title={title} section={section} isFramed={isFramed} isUnlisted>{children}</Layout>) // prettier-ignore
  }

  /** `to` is without the base path. */
  redirect(reply: FastifyReply, to: string, status: 301 | 303 = 303): FastifyReply {
    return reply.headers({ ...HEADERS, 'cache-control': 'no-store' }).redirect(this.addresses.href(to), status)
  }

  /** Leads on, or shows what went wrong: to who sent the request, or to this new session. */
  async fail(
    raw: FastifyRequest,
    reply: FastifyReply,
    error: unknown,
    { repeat, token, said = [] }: { repeat?: Repeat; token?: string | undefined; said?: readonly Said[] } = {},
  ): Promise<FastifyReply> {
    if (error instanceof Redirect) return this.redirect(reply, saying(error.to, said), error.status)
    const known = hidden(raw, asAppError(error))
    if (known.retryAfter !== undefined) reply.header('retry-after', String(known.retryAfter))
    const isOurs = !isAnswer(known)
    if (isOurs) {
      raw.errorOf = this.#parts.server.repeats.report(known, raw.id, { reqId: raw.id })
      const kept = known.code === 'DATABASE_UNREACHABLE' ? this.#parts.responses.whileAway(raw.raw) : undefined
      if (kept) {
        const { headers, bytes } = contentOf(kept)
        return reply.code(200).headers(headers).send(bytes)
      }
    }
    const shown = isOurs ? publicError(known) : known
    if (wantsJson(raw)) return reply.code(shown.status).headers(HEADERS).send(shown.body)
    const request = { ...this.open(raw, reply), said }
    const view = await this.viewOf(request, {}, token).catch(() => this.#blankView(raw))
    if (raw.method !== 'POST' && shown.status === 404) {
      const to = await this.#parts.routes.moved?.(view).catch(() => undefined)
      if (to !== undefined) return this.redirect(reply, to, 301)
    }
    await this.#findLegal(request, view).catch(() => undefined)
    const page = await this.#parts.routes.error()
    const { Layout } = await this.#parts.routes.frame()
    const html = (
      <Layout view={view} title={page.title(view, shown)} isUnlisted>
        {page.show(view, shown, isOurs ? repeat : undefined)}
      </Layout>
    )
    return this.send(request, view, html, shown.status)
  }

  /** A view without the database. */
  #blankView(raw: FastifyRequest): LiveView {
    const words = wordsOf(languageFor(raw.headers['accept-language'], this.#parts.site.siteLanguage))
    const [path, query] = pathAndQuery(raw.url)
    return {
      ...this.addresses,
      call: unreachable,
      dryRun: unreachable,
      send: unreachable,
      sendDry: unreachable,
      file: undefined,
      guard: unreachable,
      actor: visitor(new AppError('INVALID_AUTH_HEADER', 'This is a page for visitors.')),
      viewer: null,
      can: () => false,
      settings: { ...BLANK },
      announcement: undefined,
      legal: [],
      words,
      t: words.t,
      sendsMail: false,
      mailPagesOnly: this.#parts.routes.mailPagesOnly ?? false,
      copiedAt: this.#parts.routes.copiedAt,
      url: raw.url,
      path,
      params: {},
      query,
      queried: () => [],
      may: () => false,
      said: [],
      undo: undefined,
      waiting: undefined,
      unread: 0,
      isMailStopped: false,
      form: { values: {}, error: undefined },
      html: noHtml,
      render: unreachable,
      refusalOf: unreachable,
      refusals: new Map(),
    }
  }
}

/** An address whose page says what was done. */
function saying(to: string, said: readonly Said[], undo?: string): string {
  if (said.length === 0) return to
  const [address = '', fragment] = to.split('#', 2)
  const query = new URLSearchParams(address.slice(pathAndQuery(address)[0].length))
  query.set('done', said.map(({ flash, count }) => (count === undefined ? flash : `${flash}.${count}`)).join(','))
  if (undo === undefined) query.delete('undo')
  else query.set('undo', undo)
  return `${pathAndQuery(address)[0]}?${query.toString()}${fragment ? `#${fragment}` : ''}`
}

export function saidBy({ flash }: Outcome): readonly Said[] {
  if (flash === undefined) return []
  return typeof flash === 'string' ? [{ flash }] : 'flash' in flash ? [flash] : flash
}

/** Images of texts are at the root; a site may be below a path. A text has no `<` of its own in HTML. */
const inBase = (html: Html, base: string): Html =>
  base === '' ? html : (text) => html(text).replaceAll(OF_IMAGE, `$1${base}${IMAGES}/`)
const OF_IMAGE = new RegExp(`(<(?:img src|a href)=")${IMAGES}/`, 'g')

/** What the address says was done. */
const saidIn = (done: string | undefined, words: Words): Said[] =>
  (done ?? '').split(',', 2).flatMap((each) => {
    const [, name = '', count] = /^(\w+)(?:\.(\d{1,9}))?$/.exec(each) ?? []
    const isText = (key: string): key is Flash => words.has(`flash.${key}`)
    return isText(name) ? [{ flash: name, count: count === undefined ? undefined : Number(count) }] : []
  })

/** Whatever the settings say: those are for clients that do not show what is wrong. */
const STRICT = { commonPasswords: 'refuse', unknownAccounts: 'hide' } as const

/** A site has a description before its owner writes one: that is ours, and translated. */
const inLanguage = (settings: Settings, { t }: Words): Settings =>
  settings.description === wordsOf('en').t('site.description')
    ? { ...settings, description: t('site.description') }
    : settings

const noHtml: Html = () => {
  throw new Error('A page shows a text without declaring `texts`.')
}

const unreachable = () => Promise.reject(new AppError('DATABASE_UNREACHABLE', 'The database cannot be reached.'))

const BLANK = {
  title: 'Feedback',
  description: null,
  logo: null,
  logoDark: null,
  icon: null,
  accentColor: null,
  googleAnalyticsId: null,
  isPoweredBy: false,
  allowSignup: false,
  holdFirstPosts: false,
  developer_mode: false,
  labs: {},
  announcement: null,
  announcementUntil: null,
  signupNote: null,
  headerLinks: [],
  footerLinks: [],
  customCss: null,
  newFor: null,
  limitPosts: null,
  limitComments: null,
  limitEdits: null,
  limitReports: null,
}

/** A page that someone may not see is a page that is not there. */
const hidden = ({ method }: FastifyRequest, error: AppError): AppError =>
  method !== 'POST' && error.code === 'NOT_ENOUGH_PERMISSION'
    ? new AppError('NOT_FOUND', 'There is no such page.')
    : error

/** A page of the team is there for those who may use its section, and run the operation that it is for. */
function assertThere(view: View, { section, of, isEntrance }: AnyPage): void {
  if (section && !view.can('dashboard:read')) throw notAllowed(['dashboard:read'])
  const { actor } = view
  if (section && !isEntrance) assertAnyPermitted(SECTIONS[section].operations, actor)
  if (of) assertAnyPermitted([of], actor)
}

function assertAnyPermitted(operations: readonly AnyOperation[], actor: Actor): void {
  const [refusal] = operations.map((op) => refusalTo(op, actor))
  if (refusal && !operations.some((op) => isPermitted(op, actor))) throw refusal
}

/** Whether a script asks, and shows the answer itself. */
export const wantsJson = ({ headers }: FastifyRequest): boolean =>
  headers.accept?.startsWith('application/json') ?? false
