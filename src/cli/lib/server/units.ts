import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Terminal } from '../terminal/terminal.js'

/**
 * The command that restarts the service of this machine with this configuration file, as `service install` made it:
 * `systemctl restart feedbackctl`. Undefined where there is none.
 */
export function restartOfService({ env }: Pick<Terminal, 'env'>, configFile: string): string | undefined {
  const root = env.FEEDBACKCTL_TEST_ROOT ?? ''
  const name = path.basename(path.dirname(configFile))
  if (configFile !== `${root}/etc/${name}/config.toml`) return undefined
  return existsSync(`${root}/etc/systemd/system/${name}.service`) ? `systemctl restart ${name}` : undefined
}
