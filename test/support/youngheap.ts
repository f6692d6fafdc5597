import { once } from 'node:events'
import { getHeapSpaceStatistics } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { limitHeapGrowth } from '../../src/process/heap.js'

// Prints the size of the young generation in bytes after a thread has started and many objects were made: with the limit,
// and after its end.
const size = () => getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0

const kept: number[][] = []
function grow(): number {
  for (let n = 0; n < 500_000; n++) kept[n % 50_000] = [n, n]
  return size()
}

const undo = limitHeapGrowth()
const before = size()
const thread = new Worker('setTimeout(() => {}, 10)', { eval: true })
await once(thread, 'exit')
const held = grow()
undo()
process.stdout.write(JSON.stringify({ before, held, after: grow() }))
