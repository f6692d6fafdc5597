// Runs in a thread of checkpointer.ts. The build makes one file of it, as a thread of a running server may start after an
// upgrade has replaced the folder of the program.
import { workerData } from 'node:worker_threads'
import type BetterSqlite from 'better-sqlite3'

export interface CheckpointData {
  file: string
  /** The file of the addon, which the process has loaded. */
  addon: string
  /** Whether it is that of better-sqlite3, and not of better-sqlite3-node20. */
  usesCurrent: boolean
  /** Milliseconds between attempts. */
  retry: number
  /** Milliseconds that the end of a checkpoint may hold writers up. */
  patience: number
}

const { file, addon, usesCurrent, retry, patience } = workerData as CheckpointData

const database = open()
const timer = setInterval(() => {
  // First beside the writers. Emptying the WAL holds them up: only where no reader is in the way.
  for (const mode of ['passive', 'passive', 'truncate']) {
    const [row] = database.pragma(`wal_checkpoint(${mode})`) as { busy: number; log: number; checkpointed: number }[]
    if (!row || row.busy !== 0 || row.checkpointed < 0.9 * row.log) return
  }
  clearInterval(timer)
  database.close()
}, retry)

function open(): BetterSqlite.Database {
  const loaded = { exports: {} }
  process.dlopen(loaded, addon)
  const Database = packageOf(usesCurrent)
  const nativeBinding = loaded.exports as string // it takes a loaded addon too, unlike its types
  return new Database(file, { fileMustExist: true, timeout: patience, nativeBinding })
}

/** esbuild bundles what is installed: one of them may not be. */
function packageOf(isCurrent: boolean): typeof BetterSqlite {
  try {
    if (isCurrent) return require('better-sqlite3') as typeof BetterSqlite
    return require('better-sqlite3-node20') as typeof BetterSqlite
  } catch (cause) {
    throw new Error('better-sqlite3 was not there when the program was built.', { cause })
  }
}
