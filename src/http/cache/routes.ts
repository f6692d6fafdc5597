/** Request headers that a response can vary by. On a cacheable route the others are removed from the request. */
export const VARYING = [
  'accept',
  'accept-encoding',
  'accept-language',
  'authorization',
  'cookie',
  'host',
  'origin',
] as const
export type Vary = (typeof VARYING)[number]

/** The `config.cache` of a route whose responses may be cached. */
export interface CacheDeclaration {
  /** The headers in the cache key, beside the URL and the body. */
  vary: readonly Vary[]
}

export interface CacheableRoute extends CacheDeclaration {
  method: 'GET' | 'POST'
  /** In Fastify's syntax: `/api/v1/boards/:url`. */
  path: string
}

/** Finds the cacheable route of a request. Unlike Fastify it is case-sensitive; other spellings are not cached. */
export class CacheableRoutes {
  readonly #exact = new Map<string, CacheableRoute>()
  readonly #patterns: [RegExp, CacheableRoute][] = []
  readonly #prompt = new Set<string>()

  add(route: CacheableRoute): void {
    if (!route.path.includes(':')) this.#exact.set(`${route.method} ${route.path}`, route)
    else this.#patterns.push([new RegExp(`^${route.method} ${route.path.replaceAll(/:\w+/g, '[^/]+')}$`), route])
  }

  /** Adds a route that bypasses the queue of `Turns`. */
  addPrompt(methods: readonly string[], path: string): void {
    for (const method of methods) this.#prompt.add(`${method} ${path}`)
  }

  isPrompt(method: string | undefined, url: string): boolean {
    return this.#prompt.has(`${method} ${url}`)
  }

  find(method: string | undefined, url: string): CacheableRoute | undefined {
    if (method !== 'GET' && method !== 'POST') return undefined
    const query = url.indexOf('?')
    const target = `${method} ${query < 0 ? url : url.slice(0, query)}`
    return this.#exact.get(target) ?? this.#patterns.find(([pattern]) => pattern.test(target))?.[1]
  }
}
