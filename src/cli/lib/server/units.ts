import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Terminal } from '../terminal/terminal.js'

/**
 * The command that restarts the service with this configuration file, as `service install` made it: `systemctl restart
 * feedbackctl`. Undefined where there is none.
 */
export function restartOfService({ env }: Pick<Terminal, 'env'>, configFile: string): string | undefined {
  const root = env.FEEDBACKCTL_TEST_ROOT ?? ''
  const home = env.XDG_CONFIG_HOME ?? path.join(env.HOME ?? '', '.config')
  const name = path.basename(path.dirname(configFile))
  const hasUnit = (folder: string, units: string) =>
    configFile === path.join(folder, name, 'config.toml') && existsSync(path.join(folder, units, `${name}.service`))
  if (hasUnit(`${root}/etc`, 'systemd/system')) return `systemctl restart ${name}`
  return hasUnit(home, 'systemd/user') ? `systemctl --user restart ${name}` : undefined
}
