import type { CompiledQuery } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Dependencies, Topic } from './dependencies.js'
import type { Invalidation } from './invalidation.js'
import type { Revision } from './revision.js'

/** Rows between two anchors. A database skips rows one by one, some 30 ns each on SQLite. */
const SPACING = 2000
/** Lists whose anchors are kept. One of a million rows has 500 anchors, about 100 kB. */
const MAX_LISTS = 20

/** A page far down a list, for which rows have to be skipped. */
export interface Seek {
  /** Names the list: filter and order, and the values of both. */
  list: string
  /** Topics whose changes can move a row of the list. */
  order: readonly Topic[]
  offset: number
  limit: number
  /** The query of a page. */
  page(this: void, page: { limit: number; offset: number; after?: object }): CompiledQuery
  /** The columns of a row that a page can start after. */
  cursor(this: void, row: object): object
}

interface Anchor {
  /** Rows up to this one, itself included. */
  position: number
  cursor: object
}

type Run = (query: CompiledQuery) => Promise<object[]>

/**
 * Remembers a row every so often in long lists, and reads a page from the nearest instead of from the top. Anchors hold
 * while nothing moves a row of their list, so a page far down costs what a near one does, but for the first after such
 * a change.
 */
export class PageAnchors {
  readonly #invalidation: Invalidation
  readonly #lists = new LRUCache<string, { anchors: Anchor[]; revision: Revision }>({ max: MAX_LISTS })

  constructor(invalidation: Invalidation) {
    this.#invalidation = invalidation
  }

  async read(seek: Seek, run: Run): Promise<object[]> {
    const { offset, limit, page, cursor } = seek
    const anchors = this.#anchorsOf(seek)
    let next = Math.min(Math.floor(offset / SPACING), anchors.length)
    while (offset - positionOf(anchors, next) >= SPACING) {
      const [row] = await run(page({ limit: 1, offset: SPACING - 1, ...after(anchors, next) }))
      if (!row) return [] // the list ends before the page
      anchors[next++] = { position: next * SPACING, cursor: cursor(row) }
    }
    return run(page({ limit, offset: offset - positionOf(anchors, next), ...after(anchors, next) }))
  }

  #anchorsOf({ list, order }: Seek): Anchor[] {
    const known = this.#lists.get(list)
    const { revision } = this.#invalidation
    const moves: Dependencies = order.map((topic) => ({ topic, refs: undefined }))
    if (known && this.#invalidation.isCurrent(moves, known.revision)) {
      known.revision = revision
      return known.anchors
    }
    const anchors: Anchor[] = []
    this.#lists.set(list, { anchors, revision })
    return anchors
  }
}

/** The position of the anchor before `next`; the top of the list is before the first. */
const positionOf = (anchors: readonly Anchor[], next: number): number => anchors[next - 1]?.position ?? 0

const after = (anchors: readonly Anchor[], next: number): { after?: object } => {
  const cursor = anchors[next - 1]?.cursor
  return cursor ? { after: cursor } : {}
}
