import type { Config } from '../config.js'
import { durationOf } from '../core/durations.js'
import { createBackup } from './create.js'
import { planPrune, removePlanned } from './prune.js'

/** The scheduled backups of `backup.every`; undefined if it is off. */
export function scheduledBackups(config: Config, version: string) {
  const every = durationOf(config.get('backup.every') ?? 'off')
  if (!every) return undefined
  return {
    every: every * 1000,
    async create(this: void, signal: AbortSignal) {
      const onProgress = () => signal.throwIfAborted()
      const { file, bytes } = await createBackup(config, { to: undefined, version, now: new Date(), onProgress })
      return { file: file ?? '', bytes: bytes ?? 0 }
    },
    async prune(this: void, signal: AbortSignal) {
      const planned = await planPrune(config, { onProgress: () => signal.throwIfAborted() })
      await removePlanned(planned)
      return planned.removed.map(({ file }) => file)
    },
  }
}
