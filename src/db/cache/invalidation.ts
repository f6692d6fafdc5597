import type { Dependencies, Topic } from './dependencies.js'

/** A row of the log of row changes. */
export interface Change {
  topic: string
  ref: string
}

/** Changes read at once. After more, everything counts as changed. */
export const MAX_CHANGES = 1000

/** The topic of the row that a pruning of the log leaves behind. */
export const PRUNED = 'pruned'

/**
 * Whether rows may have been pruned before they were read. A pruning removes what the pruning before it could see, so a
 * reader that has seen that one's row has seen all that is gone.
 */
export const missesChanges = (rows: readonly Change[]): boolean =>
  rows.length > MAX_CHANGES || rows.filter(({ topic }) => topic === PRUNED).length > 1

/** Refs remembered for each topic; beyond that all of the topic counts as changed. */
const MAX_REFS = 10_000

interface Changed {
  /** The revision of the last change. */
  last: number
  /** Changes up to this revision are not remembered by ref. */
  forgotten: number
  /** The revision of the last change of each ref. */
  refs: Map<string, number>
}

/** When each topic last changed, as far as the log of row changes has been read. Revisions count from 1. */
export class Invalidation {
  #revision = 1
  #everything = 1
  readonly #topics = new Map<string, Changed>()

  get revision(): number {
    return this.#revision
  }

  /** Everything may have changed. */
  invalidateAll(): void {
    this.#everything = ++this.#revision
    this.#topics.clear()
  }

  invalidate(changes: readonly Change[]): void {
    const revision = ++this.#revision
    for (const { topic, ref } of changes) {
      let changed = this.#topics.get(topic)
      if (!changed) this.#topics.set(topic, (changed = { last: 0, forgotten: 0, refs: new Map() }))
      if (changed.refs.size >= MAX_REFS) Object.assign(changed, { forgotten: revision, refs: new Map() })
      changed.last = revision
      changed.refs.set(ref, revision)
    }
  }

  /** Whether nothing that `dependencies` name has changed since a revision. */
  isCurrent(dependencies: Dependencies, since: number): boolean {
    if (since === this.#revision) return true
    if (since < this.#everything) return false
    return dependencies.every(({ topic, refs }) => {
      const changed = this.#topics.get(topic satisfies Topic)
      if (!changed || changed.last <= since) return true
      return (
        refs !== undefined && changed.forgotten <= since && refs.every((ref) => (changed.refs.get(ref) ?? 0) <= since)
      )
    })
  }
}
