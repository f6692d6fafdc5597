import type { App } from '../app/open.js'
import { AppError } from '../core/errors.js'
import { IMAGES } from '../core/images/address.js'
import type { LegalPage } from '../core/legal.js'
import { links } from '../core/pagelinks.js'
import { API_ROOT } from '../core/wire.js'
import { AVATARS, OLD_AVATARS } from '../service/lib/avatars.js'
import { ownAddress, pageAddress, type Own } from './addresses.js'
import { addressesIn, feedAddressesIn, feedWithAddresses, withAddresses, type Ways } from './markup.js'
import { assetFile, decoded, fileOf, safeName, wayTo } from './names.js'
import { openVisitor, type Visitor } from './visitor.js'

/** A file of a copy. */
export interface CopiedFile {
  file: string
  data: Buffer | string
  kind: 'page' | 'feed' | 'data' | 'asset'
}

/** Rows that a list of the API answers with at once. */
const LIMIT = 100
/** Links to former addresses and to comments whose ends are remembered. */
const REMEMBERED = 10_000
/** Files that pages and data name. */
const FILES = ['/assets', IMAGES, AVATARS, OLD_AVATARS]
const FEED = /^(?:\/(boards|posts)\/[^/]+)?\/feed\.atom$/
/** No page of these is in a copy, and no former address. */
const SERVED = /^\/(api|assets|avatars|account|dashboard|export|login|logout|join|settings|setup|notifications|password-reset|email-verify|search|language|undo|auth)(\/|$)/ // prettier-ignore

/** The site as files that need no server, as a visitor sees it at this time. Nothing is kept of them but their names. */
export async function* copiedSite(app: App, copiedAt: Date): AsyncGenerator<CopiedFile> {
  const visitor = await openVisitor(app, copiedAt.toISOString())
  try {
    yield* new Copy(visitor, app.base.siteUrl).files()
  } finally {
    await visitor.close()
  }
}

class Copy {
  readonly #visitor: Visitor
  readonly #siteUrl: string
  /** Posts, boards, roadmaps, tags and legal pages, by the paths of their pages. */
  readonly #known = new Set<string>()
  /** Pages that links lead to, and whether they are written. */
  readonly #pages = new Set<string>()
  #waiting: string[] = []
  readonly #assets = new Map<string, boolean>()
  #found: CopiedFile[] = []
  readonly #led = new Map<string, string | undefined>()

  constructor(visitor: Visitor, siteUrl: string) {
    this.#visitor = visitor
    this.#siteUrl = siteUrl
  }

  async *files(): AsyncGenerator<CopiedFile> {
    yield { file: '.nojekyll', data: '', kind: 'asset' } // GitHub Pages then leave all files as they are
    yield* this.#data(['settings', 'site'], `${API_ROOT}/settings/site`)
    yield* this.#list('boards', ({ url }) => this.#know('boards', url))
    yield* this.#list('roadmaps', ({ url }) => this.#know('roadmaps', url))
    yield* this.#list('tags', ({ url }) => this.#known.add(pageOfTag(url ?? '')))
    yield* this.#legal()
    yield* this.#posts()
    for (const path of ['/robots.txt', '/sitemap.xml'])
      yield { file: path.slice(1), data: (await this.#visitor.get(path)).body, kind: 'asset' }
    yield* this.#feed('/feed.atom')
    for (const path of ['/', '/boards', '/roadmaps']) this.#want(path)
    yield* this.#written()
    for (const path of this.#known) {
      this.#want(path)
      yield* this.#written()
      if (path.startsWith('/posts/')) yield* this.#post(path)
      if (path.startsWith('/boards/')) yield* this.#feed(`${path}/feed.atom`)
    }
  }

  /** A browser never asks for a path with a segment of one or two dots. */
  #know(place: string, name = ''): void {
    if (!/^\.{1,2}$/.test(name)) this.#known.add(`/${place}/${encodeURIComponent(name)}`)
  }

  /** A list of the API, a file for each of its pages, and the rows. */
  async *#list(name: string, know: (row: Record<string, string>) => void): AsyncGenerator<CopiedFile> {
    for (let page = 1, pages = 1; page <= pages; page++) {
      const { body } = await this.#visitor.get(`${API_ROOT}/${name}?limit=${LIMIT}&page=${page}`)
      const answer = JSON.parse(body.toString()) as Record<string, Record<string, string>[]> & { total_pages: number }
      pages = answer.total_pages
      for (const row of answer[name] ?? []) know(row)
      yield* this.#json([name], answer, page)
    }
  }

  async *#legal(): AsyncGenerator<CopiedFile> {
    const { body } = await this.#visitor.get(`${API_ROOT}/settings/legal`)
    const answer = JSON.parse(body.toString()) as { pages: { name: LegalPage }[] }
    yield* this.#json(['settings', 'legal'], answer)
    for (const { name } of answer.pages) {
      this.#known.add(links.legal(name))
      yield* this.#data(['settings', 'legal', name], `${API_ROOT}/settings/legal/${name}`)
    }
  }

  /** By the last post, as what is written meanwhile would move pages. */
  async *#posts(): AsyncGenerator<CopiedFile> {
    for (let page = 1, after: string | undefined; ; page++) {
      const { body } = await this.#visitor.post(`${API_ROOT}/posts/get`, { limit: LIMIT, created: 'DESC', ...(after !== undefined && { after }) }) // prettier-ignore
      const answer = JSON.parse(body.toString()) as { posts: { slug: string; postId: string }[]; page_info: { has_next_page: boolean } } // prettier-ignore
      for (const { slug } of answer.posts) this.#know('posts', slug)
      yield* this.#json(['posts'], answer, page)
      after = answer.posts.at(-1)?.postId
      if (!answer.page_info.has_next_page || after === undefined) return
    }
  }

  /** What is beside the page of a post: its feed, and its comments as data. */
  async *#post(path: string): AsyncGenerator<CopiedFile> {
    yield* this.#feed(`${path}/feed.atom`)
    const slug = decoded(path.slice('/posts/'.length))
    const { status, body } = await this.#visitor.post(`${API_ROOT}/posts/slug`, { slug })
    if (status !== 200) return // it is gone meanwhile
    const answer = JSON.parse(body.toString()) as { post: { postId: string; commentsCount: number } }
    yield* this.#json(['posts', slug], answer)
    if (answer.post.commentsCount === 0) return
    for (let page = 1, pages = 1; page <= pages; page++) {
      const list = await this.#visitor.get(
        `${API_ROOT}/posts/${answer.post.postId}/activity?limit=${LIMIT}&page=${page}`,
      )
      if (list.status !== 200) return
      const comments = JSON.parse(list.body.toString()) as { total_pages: number }
      pages = comments.total_pages
      yield* this.#json(['posts', slug, 'activity'], comments, page)
    }
  }

  async *#data(name: readonly string[], address: string): AsyncGenerator<CopiedFile> {
    const { status, body } = await this.#visitor.get(address)
    if (status === 200) yield* this.#json(name, JSON.parse(body.toString()))
  }

  /** An answer of the API. Addresses of pictures and images lead to their files, where they are all of a text. */
  async *#json(name: readonly string[], answer: unknown, page = 1): AsyncGenerator<CopiedFile> {
    const file = `${[API_ROOT.slice(1), ...name.map(safeName)].join('/')}${page === 1 ? '' : `.page-${page}`}.json`
    const texts = new Set<string>()
    const withTexts = (change: (text: string) => string) =>
      JSON.stringify(answer, (_, value: unknown) => (typeof value === 'string' ? change(value) : value), 2)
    withTexts((text) => {
      if (this.#isFile(text)) texts.add(text)
      return text
    })
    const ways = await this.#waysOf([...texts], file)
    yield { file, data: `${withTexts((text) => (texts.has(text) ? (ways.get(text) ?? '') : text))}\n`, kind: 'data' }
    yield* this.#taken()
  }

  #isFile(text: string): boolean {
    const isAddress = /^(https?:|\/)\S+$/.test(text)
    const own = isAddress ? ownAddress(this.#siteUrl, text) : text
    return typeof own !== 'string' && isFile(own.path)
  }

  async *#feed(path: string): AsyncGenerator<CopiedFile> {
    const file = assetFile(path)
    const text = (await this.#follow(path)).toString()
    const isFeed = text.startsWith('<?xml') // one that is gone by now is a page
    const ways = await this.#waysOf(isFeed ? feedAddressesIn(text) : addressesIn(text), file, path)
    yield { file, data: isFeed ? feedWithAddresses(text, ways) : withAddresses(text, ways), kind: 'feed' }
    yield* this.#taken()
  }

  /** The pages that are wanted, and those that they lead to. One that is gone by now is what a visitor gets there. */
  async *#written(): AsyncGenerator<CopiedFile> {
    for (let page = this.#waiting.shift(); page !== undefined; page = this.#waiting.shift()) {
      const file = fileOf(page)
      const text = (await this.#follow(page)).toString()
      const ways = await this.#waysOf(addressesIn(text), file, page)
      yield { file, data: withAddresses(text, ways), kind: 'page' }
      yield* this.#taken()
    }
  }

  async #follow(address: string): Promise<Buffer> {
    for (let [at, turns] = [address, 0]; ; turns++) {
      const { body, location } = await this.#visitor.get(at)
      const to = location === undefined || turns === 3 ? '' : ownAddress(this.#siteUrl, location)
      if (typeof to === 'string') return body
      if (to.path.startsWith('/setup/'))
        throw new AppError('SITE_NOT_FOUND', 'The site is not set up, and has no posts.')
      at = to.path + (to.query.size > 0 ? `?${to.query.toString()}` : '')
    }
  }

  *#taken(): Generator<CopiedFile> {
    yield* this.#found
    this.#found = []
  }

  #want(page: string): string {
    if (!this.#pages.has(page)) {
      this.#pages.add(page)
      this.#waiting.push(page)
    }
    return fileOf(page)
  }

  async #waysOf(addresses: readonly string[], from: string, at = '/'): Promise<Ways> {
    const ways = new Map<string, string | null>()
    for (const address of addresses) {
      if (address.startsWith('#') || ways.has(address)) continue
      const own = ownAddress(this.#siteUrl, address, at)
      if (typeof own === 'string') {
        if (own !== address) ways.set(address, own)
        continue
      }
      const to = await this.#fileOf(own)
      ways.set(address, to === undefined ? null : wayTo(from, to))
    }
    return ways
  }

  /** The file that an address of the site leads to, with its fragment. */
  async #fileOf(own: Own, turns = 0): Promise<string | undefined> {
    const { path, hash } = own
    if (isFile(path)) return this.#asset(path)
    if (FEED.test(path)) return this.#isKnown(path.slice(0, -'/feed.atom'.length) || '/') ? assetFile(path) : undefined
    const page = pageAddress(own)
    if (page !== undefined && this.#isKnown(page)) return this.#want(page) + hash
    if (SERVED.test(path) || turns === 3) return undefined
    const to = await this.#leadsTo(path)
    const next = to === undefined ? '' : ownAddress(this.#siteUrl, to)
    if (typeof next === 'string') return undefined
    return this.#fileOf({ ...next, hash: next.hash || hash }, turns + 1)
  }

  #isKnown(page: string): boolean {
    const [path = ''] = page.split('?', 1)
    if (/^\/(boards|roadmaps)?$/.test(path)) return true
    if (path === '/search') return this.#known.has(pageOfTag(new URL(page, 'http://site.invalid').searchParams.get('q')?.slice('tag:'.length) ?? '')) // prettier-ignore
    return this.#known.has(path.replace(/\/voters$/, ''))
  }

  /** Where a former address of a post leads, its number, or a comment. */
  async #leadsTo(path: string): Promise<string | undefined> {
    if (!this.#led.has(path)) {
      if (this.#led.size >= REMEMBERED) this.#led.clear()
      this.#led.set(path, (await this.#visitor.get(path)).location)
    }
    return this.#led.get(path)
  }

  /** Takes a file that a page shows, if it is there for visitors. */
  async #asset(path: string): Promise<string | undefined> {
    const file = assetFile(path)
    const known = this.#assets.get(file)
    if (known !== undefined) return known ? file : undefined
    const { status, body } = await this.#visitor.get(path)
    this.#assets.set(file, status === 200)
    if (status !== 200) return undefined
    this.#found.push({ file, data: body, kind: 'asset' })
    return file
  }
}

const isFile = (path: string): boolean => FILES.some((folder) => path.startsWith(`${folder}/`))

const pageOfTag = (url: string): string => `/search?${new URLSearchParams({ q: `tag:${url}` }).toString()}`
