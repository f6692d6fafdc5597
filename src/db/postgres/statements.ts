import { PLANNED_EACH_TIME } from '../dialect.js'

/**
 * Statements that get a name. The program has far fewer, but visitors choose how long some lists are, and each length
 * is one.
 */
const MAX_NAMES = 500

/**
 * Names for statements: PostgreSQL then parses and plans each once per connection, which takes longer than most of them
 * run.
 */
export class StatementNames {
  readonly #names = new Map<string, string>()
  #generation = 0

  /** After a migration: every statement gets a new name. */
  renew(): void {
    this.#generation++
    this.#names.clear()
  }

  /** Returns undefined for a statement that PostgreSQL parses and plans each time it runs. */
  nameOf(text: string): string | undefined {
    if (text.includes(PLANNED_EACH_TIME)) return undefined
    let name = this.#names.get(text)
    if (name === undefined && this.#names.size < MAX_NAMES) {
      name = `f${this.#generation}_${this.#names.size}`
      this.#names.set(text, name)
    }
    return name
  }
}
