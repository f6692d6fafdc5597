import { isRefused, type NAMED } from '../../service/lib/importrecords.js'
import type { SourceRecord } from '../source.js'

type Named = (typeof NAMED)[number]
export type Place = Extract<SourceRecord, { type: Named }>
type Post = Extract<SourceRecord, { type: 'post' }>

const keyOf = ({ type, sourceId }: Pick<Place, 'type' | 'sourceId'>): string => `${type} ${sourceId}`

/** Hands out what posts refer to, once each: what the source calls it is its id. */
export class Places {
  readonly #seen = new Set<string>()
  /** Records that every import refuses. A post that names one of them is refused too. */
  readonly #refused = new Set<string>()

  once<T extends Named>(
    type: T,
    sourceId: string,
    fields: Omit<Extract<SourceRecord, { type: T }>, 'type' | 'sourceId'>,
  ): SourceRecord[] {
    const record = { type, sourceId, ...fields } as Place // of its type
    if (this.#seen.has(keyOf(record))) return []
    this.look(record)
    return [record]
  }

  /** Takes note of a record that the source yields itself. */
  look(record: Place): void {
    this.#seen.add(keyOf(record))
    if (isRefused(record, new Date())) this.#refused.add(keyOf(record))
  }

  /**
   * A post with what it names before it. Nothing is created for a post that will be refused: it carries what it names, and
   * brings it once it is mended.
   */
  *before(post: Post, named: readonly Place[]): Generator<SourceRecord> {
    const needs = named.filter((each) => !this.#seen.has(keyOf(each)))
    const whole = needs.length > 0 ? { ...post, needs } : post
    if (named.some((each) => this.#refused.has(keyOf(each))) || isRefused(whole, new Date())) {
      yield whole
      return
    }
    for (const { type, sourceId, ...fields } of needs) yield* this.once(type, sourceId, fields)
    yield post
  }
}
