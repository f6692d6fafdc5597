import type { CompiledQuery } from 'kysely'

/**
 * A query that most votes have nothing to do with. Votes are most of what is written, and each changes little: one that reads tells here
 * on which posts a vote may change what it finds, one that writes on which posts it changes votes, and nothing else.
 * Without it a query has to do with everything.
 */
export interface Concerned extends CompiledQuery {
  votesOn?: VotesOn<never> | undefined
}

/** Ids of posts, or how to tell them from what was found. It is kept with that, so no function that is made for one request. */
export type VotesOn<Row> = readonly string[] | ((rows: readonly Row[]) => readonly string[])

export const postsOf = (votesOn: VotesOn<never> | undefined, rows: readonly object[]): readonly string[] | undefined =>
  typeof votesOn === 'function' ? votesOn(rows as readonly never[]) : votesOn // rows of that very query

/** Posts whose votes were changed at most; beyond that it is taken for a change of everything. */
const MOST_POSTS = 10_000

/** What has changed in a database since it was opened, in its own commits and in those of others. Revisions count from 1. */
export class Changes {
  #revision = 1
  #everything = 1
  readonly #votes = new Map<string, number>()

  get revision(): number {
    return this.#revision
  }

  everything(): void {
    this.#everything = ++this.#revision
    this.#votes.clear()
  }

  votes(posts: Iterable<string>): void {
    this.#revision++
    for (const post of posts) this.#votes.set(post, this.#revision)
    if (this.#votes.size > MOST_POSTS) this.everything()
  }

  /** Whether what was found at an earlier revision, and these votes have to do with, may be another now. */
  concern(votesOn: readonly string[] | undefined, since: number): boolean {
    return (
      since < this.#everything ||
      (since < this.#revision && (!votesOn || votesOn.some((post) => (this.#votes.get(post) ?? 0) > since)))
    )
  }
}
