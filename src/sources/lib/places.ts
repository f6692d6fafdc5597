import type { SourceRecord } from '../source.js'

type Named = 'board' | 'status' | 'tag' | 'person'

/** Hands out what posts refer to, once each: what the source calls it is its id. */
export class Places {
  readonly #seen = new Set<string>()

  once<T extends Named>(
    type: T,
    sourceId: string,
    fields: Omit<Extract<SourceRecord, { type: T }>, 'type' | 'sourceId'>,
  ): SourceRecord[] {
    const key = `${type} ${sourceId}`
    if (this.#seen.has(key)) return []
    this.#seen.add(key)
    return [{ type, sourceId, ...fields } as SourceRecord] // of its type
  }
}
