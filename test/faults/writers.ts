import type { Machine } from '../support/cli.js'

/** Posts that were written, by title. */
export interface Writers {
  /** Those that the server responded to with 201. */
  acknowledged: Set<string>
  /** Those whose connection was cut before the response: each may be there or not. */
  uncertain: Set<string>
  /** Status and code of every other response, with how often it came. */
  refused: Map<string, number>
  /** The longest that a response took, in milliseconds. */
  slowest(): number
  stop(): Promise<void>
}

let runs = 0

/** Writes posts over several connections until it is stopped. `url` is asked for before each post. */
export function startWriters(url: () => string, token: string, { connections = 4 } = {}): Writers {
  const [acknowledged, uncertain, refused] = [new Set<string>(), new Set<string>(), new Map<string, number>()]
  const run = ++runs
  const stopped = new AbortController()
  let slowest = 0
  const write = async (connection: number) => {
    for (let number = 0; !stopped.signal.aborted; number++) {
      const title = `post ${run}-${connection}-${number}`
      const began = performance.now()
      try {
        const response = await fetch(`${url()}/api/v1/posts`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ title }),
          signal: AbortSignal.timeout(30_000),
        })
        const body = (await response.json()) as { code?: string }
        slowest = Math.max(slowest, performance.now() - began)
        const outcome = `${response.status} ${body.code ?? ''}`
        if (response.status === 201) acknowledged.add(title)
        else refused.set(outcome, (refused.get(outcome) ?? 0) + 1)
      } catch {
        uncertain.add(title)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
  }
  const all = Array.from({ length: connections }, (_, connection) => write(connection))
  return {
    acknowledged,
    uncertain,
    refused,
    slowest: () => slowest,
    async stop() {
      stopped.abort()
      await Promise.all(all)
    },
  }
}

/** Titles of all posts of a site, read by a command. */
export async function titlesOf(machine: Machine): Promise<string[]> {
  const { stdout, stderr, code } = await machine.run('posts list --all -o jsonl')
  if (code !== 0) throw new Error(stderr)
  return stdout
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as { title: string }).title)
}
