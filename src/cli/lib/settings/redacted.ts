import type { Config } from '../../../config.js'
import { redactedUrl } from '../../../core/addresses.js'
import { isSecret, type Key } from '../../../core/settings.js'

/** Hides secrets; in a URL, only the password. */
export function redacted(config: Pick<Config, 'get'>, key: Key): string {
  const value = config.get(key) ?? ''
  if (!isSecret(key)) return redactedUrl(value)
  return key.endsWith('.url') ? redactedUrl(value) : '***'
}
