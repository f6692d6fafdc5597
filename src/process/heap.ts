import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/**
 * `--heap-growing-percent`: how far the old generation may grow before the next major collection. V8 would let it more
 * than double.
 */
const GROWTH_PERCENT = 10

/**
 * The young generation of a server, in bytes. V8 lets it grow to 33 MB, for the same rate of requests; with 2 MB, objects
 * of requests that are not over fill the old generation.
 */
const YOUNG = 8 * 1024 * 1024
const MOST_SURVIVORS = 2000

/**
 * How often the heap is compacted, and how long the flag for it stays on, in milliseconds. By default V8 compacts only
 * pages that are 70 % empty, or while the process is idle: a server under load then holds twice the memory it uses. With
 * `--optimize-for-size` the next major collection compacts, which takes 30 ms instead of 10. The flag cannot stay on: V8
 * would also optimize less code, which costs a fifth more CPU.
 */
const COMPACTION = { every: 20_000, within: 2000 }

/**
 * Limits how far the heap grows between collections: the young generation stays at its size, old
 * objects are collected sooner, and the heap is compacted regularly. Under load a server then holds 50 to 70 MB less. V8
 * reads the flags at each collection, so they may change while the process runs. Returns how to undo it, which the
 * process does before it ends: the code cache is kept for processes with the same flags.
 */
export function limitHeapGrowth(): () => void {
  limitYoungGeneration()
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
  let ending: NodeJS.Timeout | undefined
  const stop = () => setFlagsFromString('--no-optimize-for-size')
  const compacting = setInterval(() => {
    setFlagsFromString('--optimize-for-size')
    ending = setTimeout(stop, COMPACTION.within).unref()
  }, COMPACTION.every).unref()
  return () => {
    clearInterval(compacting)
    clearTimeout(ending)
    stop()
    setFlagsFromString('--semi-space-growth-factor=2')
    setFlagsFromString('--heap-growing-percent=0')
  }
}

/** Keeps the young generation at `YOUNG`, or at its size if it is larger: it never shrinks, so call it early. */
export function limitYoungGeneration(): void {
  const survivors: number[][] = []
  // V8 grows it when enough objects survive a collection
  while (youngGeneration() < YOUNG && survivors.length < MOST_SURVIVORS)
    survivors.push(Array.from({ length: 1000 }, () => 0)) // 8 kB
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** The size of the young generation in bytes. */
const youngGeneration = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? YOUNG
