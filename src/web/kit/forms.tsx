import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { AppError } from '../../core/errors.js'
import { imagePath } from '../../core/images/address.js'
import { IMAGE_TYPES, imageTypeOf } from '../../core/images/types.js'
import { asAppError } from '../../http/errors.js'
import { create } from '../../service/images.js'
import type { AnyOperation } from '../../service/lib/operation.js'
import { withQuery } from './addresses.js'
import { pathAndQuery } from './fields.js'
import { MAX_ALT, MAX_IMAGES, type SentImage } from './multipart.js'
import { Redirect, type AnyAction, type Fields, type Outcome, type LiveView } from './page.js'
import { pathOf, pendingFields, pendingIn, type Pending } from './pending.js'
import { saidBy, wantsJson, type PageRequest, type Renderer } from './renderer.js'
import { ASK_AGAIN, repeatOf, textsOf, type Repeat } from './repeat.js'
import type { Routes } from './routes.js'

/** A form that was sent: the route of its action, and what fills it. */
interface Sent extends Pending {
  act: AnyAction
  images?: readonly SentImage[]
}

/** Runs the actions of forms. */
export class Forms {
  readonly #renderer: Renderer
  readonly #routes: Routes

  constructor(renderer: Renderer, routes: Routes) {
    this.#renderer = renderer
    this.#routes = routes
  }

  /**
   * Does what a form asks for, in the name of who sent it or of this new session. Where the page of the form cannot say
   * what went wrong, a page of its own says it, and has the form once more if it may succeed later.
   */
  async receive(request: PageRequest, sent: Sent, token?: string): Promise<FastifyReply> {
    try {
      return await this.#run(request, await this.#renderer.viewOf(request, sent.params, token), sent)
    } catch (error) {
      const repeat = await this.#repeatOf(sent, pathAndQuery(request.url)[0])
      return this.#renderer.fail(request.raw, request.reply, error, { repeat, token, said: request.said })
    }
  }

  /** Visitors are led to sign in first, and the form goes with them. */
  async #run(request: PageRequest, view: LiveView, sent: Sent): Promise<FastifyReply> {
    const { raw } = request
    const { act, fields: form, images = [] } = sent
    request.form = { values: form, error: undefined }
    const operation = act.operation as AnyOperation | null
    try {
      if (act.images !== undefined && images.length > 0) await addImages(view, form, act.images, images)
      if (form[ASK_AGAIN] !== undefined && act.page) return await this.#renderer.show(request, view, await act.page())
      const between = wantsJson(raw) ? undefined : await act.before?.(view, form)
      if (between) {
        if (operation) await this.#renderer.findRefusals(request, view, [operation])
        request.html = await view.render(between.texts ?? [])
        return await this.#renderer.sendPage(request, view, {
          title: between.title,
          section: between.section ?? between.page?.frame?.(view),
          isFramed: between.page?.frame !== undefined,
          children: between.show,
        })
      }
      if (operation && operation.access !== 'public' && !view.viewer)
        return await this.#signInFirst(request, view, sent)
      const output = operation
        ? await view.call(operation, { ...act.input(view, form), ...versionIn(operation, form) })
        : undefined
      const outcome = await act.done(view, output, form)
      return await this.#finish(request, view, act, form, outcome)
    } catch (error) {
      const outcomeOf = error instanceof AppError ? act.treatAsDone?.[error.code] : undefined
      if (outcomeOf) return this.#finish(request, view, act, form, await outcomeOf(view, form))
      return this.#refuse(request, view, act, form, error)
    }
  }

  /** Signs in or out, goes on with what a visitor wanted before, and leads to the next page. */
  async #finish(
    request: PageRequest,
    view: LiveView,
    act: AnyAction,
    form: Fields,
    outcome: Outcome,
  ): Promise<FastifyReply> {
    this.#renderer.keep(request.reply, outcome)
    const pending = request.began === undefined ? undefined : pendingIn(form)
    const wanted = pending && (await this.#actionOf(pending))
    if (pending && wanted && mayWait(wanted)) {
      const next: PageRequest = { ...request, url: pathOf(pending), said: saidBy(outcome), began: undefined }
      return this.receive(next, { ...pending, act: wanted }, request.began)
    }
    return this.#renderer.end(request, view, outcome)
  }

  /** Shows the form again, with what was typed and what is wrong with it. */
  async #refuse(
    request: PageRequest,
    view: LiveView,
    act: AnyAction,
    form: Fields,
    error: unknown,
  ): Promise<FastifyReply> {
    const known = error instanceof Redirect ? undefined : asAppError(error)
    const isBroken = !known || (known.status >= 500 && known.code !== 'MAIL_CONFIG_MISSING')
    if (isBroken || !act.page || wantsJson(request.raw)) throw error
    if (known.retryAfter !== undefined) request.reply.header('retry-after', String(known.retryAfter))
    request.form = { values: form, error: known }
    return this.#renderer.show(request, view, await act.page(), known.status === 400 ? 422 : known.status)
  }

  async #signInFirst(request: PageRequest, view: LiveView, sent: Sent): Promise<FastifyReply> {
    const { act } = sent
    if (wantsJson(request.raw)) throw view.actor.refusal ?? new AppError('INVALID_AUTH_HEADER', 'Sign in first.')
    if (!mayWait(act)) throw new Redirect(withQuery('/login', { redirect: act.page && pageOf(view) }))
    request.form = { values: pendingFields(sent), error: undefined }
    return this.#renderer.show(request, view, await this.#routes.login())
  }

  async #repeatOf({ act, fields }: Sent, to: string): Promise<Repeat> {
    const repeat = repeatOf(act, to, fields)
    const pending = pendingIn(fields)
    const wanted = pending && (await this.#actionOf(pending))
    return wanted ? { ...repeat, texts: textsOf(wanted, pending.fields) } : repeat
  }

  async #actionOf({ route }: Pending): Promise<AnyAction | undefined> {
    const { actions } = this.#routes
    return Object.hasOwn(actions, route) ? actions[route]?.() : undefined
  }
}

/**
 * Uploads images, and adds to the text of the form the Markdown that shows them, or sets fields to their addresses. Those
 * that come before one that is refused are in the form then, so that they need not be sent again.
 */
async function addImages(
  view: LiveView,
  form: Fields,
  to: NonNullable<AnyAction['images']>,
  images: readonly SentImage[],
): Promise<void> {
  if (!view.viewer) {
    if (typeof to === 'string' && form[to]?.trim()) return // it waits for the sign-in, without images
    throw view.actor.refusal ?? new AppError('INVALID_AUTH_HEADER', 'Sign in first.')
  }
  const [first] = images
  if (images.length > MAX_IMAGES) {
    form[first?.field ?? 'images'] = ''
    throw new AppError('IMAGE_REFUSED', `A form takes at most ${MAX_IMAGES} images.`, { reason: 'image-count' })
  }
  for (const { field: sent, name, bytes } of images) {
    const field = typeof to === 'string' ? to : to[sent]
    if (field === undefined) continue
    form[sent] = '' // the error of a refused one is shown there
    const body = { type: imageTypeOf(bytes) ?? IMAGE_TYPES[0], bytes: Readable.from([bytes]) }
    const { image } = await view.send(create, {}, body)
    delete form[sent]
    if (typeof to !== 'string') {
      form[field] = image.url
      continue
    }
    const alt = (form.imageAlt?.trim() || name.replace(/\.\w+$/, '')).replaceAll(/[[\]\\\s]+/g, ' ').slice(0, MAX_ALT)
    const text = form[field]?.trimEnd() ?? ''
    form[field] = `${text}${text === '' ? '' : '\n\n'}![${alt.toWellFormed()}](${view.href(imagePath(image))})`
  }
  form.imageAlt = ''
}

/** Where a form about an account stands. */
const pageOf = ({ path }: Pick<LiveView, 'path'>): string => (path.startsWith('/dashboard/') ? path : '/settings')

/** The version of what a form changes, as `Version` put it there. */
const versionIn = ({ input }: AnyOperation, { ifVersion }: Fields): object =>
  ifVersion && Object.hasOwn(input.properties, 'ifVersion') ? { ifVersion } : {}

/**
 * Whether a form may wait until its visitor has signed in. Those about an account may not: they have passwords in them,
 * and would be done to the account of whoever signs in.
 */
const mayWait = ({ operation }: AnyAction): boolean =>
  operation !== null && operation.access !== 'public' && operation.access !== 'session'
