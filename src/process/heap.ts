import { setFlagsFromString } from 'node:v8'
import type { Worker } from 'node:worker_threads'

/**
 * `--heap-growing-percent`: how far the old generation may grow before the next major collection. V8 would let it more
 * than double.
 */
const GROWTH_PERCENT = 10

/**
 * How often the heap is compacted, and how long the flag for it stays on, in milliseconds. By default V8 compacts only
 * pages that are 70 % empty, or while the process is idle: a server under load then holds twice the memory it uses. With
 * `--optimize-for-size` the next major collection compacts, which takes 30 ms instead of 10. The flag cannot stay on: V8
 * would also optimize less code, which costs a fifth more CPU.
 */
const COMPACTION = { every: 20_000, within: 2000 }

/**
 * Limits how far the heap grows between collections: the young generation stays at its size, old objects are collected
 * sooner, and the heap is compacted regularly. Call it early: the young generation grows to 33 MB while a server starts,
 * and never shrinks. V8 reads the flags at each collection, so they may change while the process runs. Returns a function
 * that undoes it. Call that before the process ends, as V8 rejects a code cache that was written with other flags.
 */
export function limitHeapGrowth(): () => void {
  const hold = () => setFlagsFromString('--semi-space-growth-factor=1')
  // Starting a thread resets the flag to 2 for the whole process
  const holdAgain = (thread: Worker) => thread.once('online', hold)
  hold()
  process.on('worker', holdAgain)
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
  let ending: NodeJS.Timeout | undefined
  const stop = () => setFlagsFromString('--no-optimize-for-size')
  const compacting = setInterval(() => {
    setFlagsFromString('--optimize-for-size')
    ending = setTimeout(stop, COMPACTION.within).unref()
  }, COMPACTION.every).unref()
  return () => {
    process.off('worker', holdAgain)
    clearInterval(compacting)
    clearTimeout(ending)
    stop()
    setFlagsFromString('--semi-space-growth-factor=2')
    setFlagsFromString('--heap-growing-percent=0')
  }
}
