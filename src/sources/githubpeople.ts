import type { Place, Places } from './lib/places.js'
import { objectIn, textIn } from './lib/values.js'
import type { SourceRecord } from './source.js'

/**
 * Authors by their numbers, which stay when a login changes. REST has them as `id`; GraphQL has `databaseId` only where
 * the query asks for it, and then other answers of the same import may know the number of the login.
 */
export class GithubPeople {
  readonly #places: Places
  readonly #numbers = new Map<string, string>()

  constructor(places: Places) {
    this.#places = places
  }

  /** Learns the number of a login. */
  look(user: unknown): void {
    const number = numberOf(user)
    if (number !== '') this.#numbers.set(textIn(objectIn(user).login).toLowerCase(), number)
  }

  /** '' for a deleted account. */
  idOf(user: unknown): string {
    const login = textIn(objectIn(user).login)
    return numberOf(user) || (this.#numbers.get(login.toLowerCase()) ?? (login === '' ? '' : `@${login.toLowerCase()}`))
  }

  records(user: unknown): SourceRecord[] {
    const id = this.idOf(user)
    return id === '' ? [] : this.#places.once('person', id, { name: textIn(objectIn(user).login) })
  }

  /** The person for `Places.before`, also one that was returned before. */
  named(user: unknown): Place[] {
    const sourceId = this.idOf(user)
    return sourceId === '' ? [] : [{ type: 'person', sourceId, name: textIn(objectIn(user).login) }]
  }
}

function numberOf(user: unknown): string {
  const { id, databaseId } = objectIn(user)
  return /^\d+$/.exec(textIn(databaseId) || textIn(id))?.[0] ?? ''
}
