import type { Command } from 'commander'
import type { App } from '../../app.js'
import type { Config } from '../../config.js'
import { AppError } from '../../core/errors.js'
import type { Call } from '../../service/lib/operation.js'
import type { Terminal } from './terminal.js'

/** One run of the command line: what every command is handed. */
export interface Cli {
  terminal: Terminal
  /** Read once; a command with settings of its own passes its flags in the first call. */
  config(
    this: void,
    own?: { flags?: Record<string, string | undefined>; newFile?: boolean; lenient?: boolean },
  ): Promise<Config>
  /** Opens the database of this machine; closed when the command ends. */
  open(this: void, options?: { migrating?: boolean }): Promise<App>
  /** Reaches the operations: in this process, or over HTTP with --server. `as` is in whose name, and only in this process. */
  connect(this: void, options?: { dryRun?: boolean; as?: string | undefined }): Promise<Call>
  close(this: void): Promise<void>
}

export function session(terminal: Terminal, program: Command): Cli {
  let loaded: Promise<Config> | undefined
  let opened: Promise<App> | undefined
  const config: Cli['config'] = (own) =>
    (loaded ??= import('../../config.js').then(({ loadConfig }) =>
      loadConfig({ ...own, flags: { ...settingFlags(program), ...own?.flags }, env: terminal.env, cwd: terminal.cwd }),
    ))
  const open: Cli['open'] = (options) =>
    (opened ??= Promise.all([config(), import('../../app.js')]).then(([settings, { openApp }]) =>
      openApp(settings, options),
    ))
  return {
    terminal,
    config,
    open,
    async connect({ as, ...options } = {}) {
      const settings = await config()
      const server = settings.get('server')
      if (server === undefined)
        return import('../../app.js').then(async ({ localCall }) => localCall(await open(), { ...options, as }))
      if (as !== undefined)
        throw new AppError(
          'USAGE',
          `A server (from ${settings.origin('server')}) acts only as whoever is signed in: leave --as out, or sign in as ${as}.`,
        )
      const [{ remote }, { savedToken }] = await Promise.all([
        import('../../client/remote.js'),
        import('./credentials.js'),
      ])
      return remote({ server, token: settings.get('token') ?? savedToken(settings, server), ...options })
    },
    async close() {
      await (await opened?.catch(() => undefined))?.close() // a database that could not be opened was reported already
    },
  }
}

/** The flags of settings by their name on the command line; commander keeps them in camel case. */
export function settingFlags(command: Command): Record<string, string | undefined> {
  const entries = command.options.map(
    (option) => [option.name(), command.opts<Record<string, unknown>>()[option.attributeName()]] as const,
  )
  return Object.fromEntries(entries.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])))
}

/** For what works on the database itself: a server cannot be asked for it. */
export function assertHere(config: Config, verb: string): void {
  if (config.get('server') !== undefined)
    throw new AppError(
      'USAGE',
      `"${verb}" works on this machine's database, so --server (from ${config.origin('server')}) makes no sense with it.`,
    )
}
