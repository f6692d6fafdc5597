import { existsSync, realpathSync } from 'node:fs'
import path from 'node:path'
import type { Terminal } from '../terminal/terminal.js'

interface ServiceCommands {
  /** `systemctl restart feedbackctl` */
  restart: string
  /** Updates the unit of the socket: `feedbackctl service install` */
  install: string
}

/** The commands for the service that `service install` made with this configuration file. Undefined where there is none. */
export function serviceWith({ env }: Pick<Terminal, 'env'>, configFile: string): ServiceCommands | undefined {
  const root = env.FEEDBACKCTL_TEST_ROOT ?? ''
  const home = env.XDG_CONFIG_HOME ?? path.join(env.HOME ?? '', '.config')
  const file = realOf(configFile)
  const name = path.basename(path.dirname(file))
  const hasUnit = (folder: string, units: string) =>
    file === realOf(path.join(folder, name, 'config.toml')) && existsSync(path.join(folder, units, `${name}.service`))
  const option = name === 'feedbackctl' ? '' : ` --name ${name}`
  if (hasUnit(`${root}/etc`, 'systemd/system'))
    return { restart: `systemctl restart ${name}`, install: `feedbackctl service install${option}` }
  return hasUnit(home, 'systemd/user')
    ? { restart: `systemctl --user restart ${name}`, install: `feedbackctl service install --user${option}` }
    : undefined
}

function realOf(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return file // it does not exist
  }
}
