import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

/** The database drivers may read their own files. */
const OF_ENGINE = /[/\\]src[/\\]db[/\\](sqlite|postgres)[/\\]/

type Functions = Record<string, unknown>

/** Runs a function, and returns the calls of `node:fs` that code in `src` makes, with their location. */
export async function fileReadsOf(run: () => Promise<unknown>): Promise<string[]> {
  const reads: string[] = []
  const restores = [fs, fs.promises].map((functions) => watch(functions as unknown as Functions, reads))
  syncBuiltinESMExports() // for those who have imported the functions by name
  try {
    await run()
  } finally {
    for (const restore of restores) restore()
    syncBuiltinESMExports()
  }
  return reads
}

function watch(functions: Functions, reads: string[]): () => void {
  const originals = Object.entries(functions).filter(
    (entry): entry is [string, (...args: unknown[]) => unknown] =>
      typeof entry[1] === 'function' && /^[a-z]/.test(entry[0]),
  )
  for (const [name, original] of originals)
    functions[name] = Object.assign(function watched(this: unknown, ...args: unknown[]) {
      const place = new Error('a call').stack?.split('\n').find((line) => /[/\\]src[/\\]/.test(line))
      if (place && !OF_ENGINE.test(place)) reads.push(`${name} ${place.trim()}`)
      return original.apply(this, args)
    }, original)
  return () => void Object.assign(functions, Object.fromEntries(originals))
}
