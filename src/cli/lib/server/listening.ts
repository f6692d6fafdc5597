import type { Config } from '../../../config.js'

/** The scheduled backups; undefined if backup.every is off. */
export async function scheduleOf(config: Config, version: string) {
  if (config.get('backup.every') === 'off') return undefined
  const { scheduledBackups } = await import('../../../backup/schedule.js')
  return scheduledBackups(config, version)
}

export function pagesOf(config: Config): 'own' | 'none' | { folder: string } {
  const folder = config.get('web.root')
  if (config.get('web.enabled') === 'false') return 'none'
  return folder === undefined ? 'own' : { folder }
}
