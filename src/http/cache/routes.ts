/** Request headers that a response can vary by. A cacheable route sees only those that it declares. */
export const VARYING = ['accept', 'accept-language', 'authorization', 'cookie', 'host'] as const
export type Vary = (typeof VARYING)[number]

/** Of a route's `config.cache`: its responses may be cached, and vary by these headers beside address and body. */
export interface CacheDeclaration {
  vary: readonly Vary[]
}

/** A route whose responses may be cached. */
export interface CacheableRoute extends CacheDeclaration {
  method: 'GET' | 'POST'
  /** As Fastify takes it: `/api/v1/boards/:url`. */
  path: string
}

/** Finds cacheable routes by the address of a request. An address in another letter case is found by the framework alone. */
export class CacheableRoutes {
  readonly #exact = new Map<string, CacheableRoute>()
  readonly #patterns: [RegExp, CacheableRoute][] = []

  add(route: CacheableRoute): void {
    if (!route.path.includes(':')) this.#exact.set(`${route.method} ${route.path}`, route)
    else this.#patterns.push([new RegExp(`^${route.method} ${route.path.replaceAll(/:\w+/g, '[^/]+')}$`), route])
  }

  find(method: string | undefined, url: string): CacheableRoute | undefined {
    if (method !== 'GET' && method !== 'POST') return undefined
    const query = url.indexOf('?')
    const address = `${method} ${query < 0 ? url : url.slice(0, query)}`
    return this.#exact.get(address) ?? this.#patterns.find(([pattern]) => pattern.test(address))?.[1]
  }
}
