import type { Command } from 'commander'
import type { App, OpenOptions } from '../../../app/open.js'
import type { Config } from '../../../config.js'
import { hasPassword } from '../../../core/addresses.js'
import { AppError } from '../../../core/errors.js'
import { flagOf, variableOf, type Key } from '../../../core/settings.js'
import { printable } from '../../../core/text.js'
import type { Call } from '../../../service/lib/operation.js'
import type { CurlFlags } from '../flags/ascurl.js'
import { say, tell, type Terminal } from '../terminal/terminal.js'
import { commandLine } from '../texts/commandline.js'

/** What every command gets: the terminal, the configuration and the connection. */
export interface Cli {
  terminal: Terminal
  /** Loads the configuration once. A command with its own settings passes their flags in the first call. */
  config(
    this: void,
    own?: { flags?: Record<string, string | undefined>; newFile?: boolean; lenient?: boolean },
  ): Promise<Config>
  /** Loads it again, for a server, or to look at it beforehand. */
  reload(
    this: void,
    own: { flags?: Record<string, string | undefined>; newFile?: boolean; lenient?: boolean },
  ): Promise<Config>
  /** Opens the local database. It is closed when the command ends. */
  open(this: void, options?: OpenOptions): Promise<App>
  /**
   * Connects to the operations: in this process, or over HTTP with --server. `as` is the user to act as, local only.
   * A local database that does not exist is made only with `creating`.
   */
  connect(this: void, options?: ConnectOptions): Promise<Call>
  /**
   * Runs calls as one transaction, which an error takes back. With `looks`, no other command that looks for what it
   * creates runs meanwhile; with `takenBack`, all of it is taken back at the end too. Undefined where that is not possible: with --server, and in a dry run. Then nothing was run.
   */
  together<T>(
    this: void,
    options: ConnectOptions & { looks?: boolean; takenBack?: boolean },
    work: (call: Call) => Promise<T>,
  ): Promise<T | undefined>
  close(this: void): Promise<void>
}

/** How long a glance waits for a server or PostgreSQL, in milliseconds. */
const GLANCE_MS = 1000

interface ConnectOptions {
  dryRun?: boolean
  /** Connects without changing the database, and gives up after a second. For completion. */
  glance?: boolean
  creating?: boolean
  as?: string | undefined
  /** Without the names that only commands accept. */
  literal?: boolean
}

export function session(terminal: Terminal, program: Command): Cli {
  let loaded: Promise<Config> | undefined
  let opened: Promise<App> | undefined
  const load = async (own: Parameters<Cli['config']>[0]): Promise<Config> => {
    const { loadConfig } = await import('../../../config.js')
    const flags = { ...settingFlags(program), ...own?.flags }
    return loadConfig({ ...own, flags, env: terminal.env, cwd: terminal.cwd })
  }
  const config: Cli['config'] = (own) =>
    (loaded ??= load(own).then((settings) => {
      for (const sentence of settings.ignored) tell(terminal, `Warning: ${sentence}`)
      for (const key of ['database.url', 'mail.url'] as const) warnOfPassword(terminal, settings, key)
      return settings
    }))
  const open: Cli['open'] = (options) =>
    (opened ??= Promise.all([config(), import('../../../app/open.js')])
      .then(([settings, { openApp }]) => openApp(settings, { onMigrated: tellUpgrade, ...options }))
      .catch((error: unknown) => {
        opened = undefined // the next call tries again
        throw error
      }))
  const tellUpgrade: OpenOptions['onMigrated'] = ({ applied, kept }) => {
    tell(terminal, `Updated the database to schema ${applied.at(-1)}. "feedbackctl rollback" takes that back.`)
    tell(terminal, `Kept the database as it was: ${kept}`)
  }
  // A person who mistyped a folder sees that the site is another one. Programs make sites as they like.
  const onCreated: OpenOptions['onCreated'] = (file) => {
    if (terminal.stderr.isTTY) tell(terminal, `There was no site here: ${file} is a new one. "feedbackctl setup" creates its owner.`) // prettier-ignore
  }
  const traceOf = () =>
    program.opts<{ verbose?: boolean }>().verbose
      ? (text: string, ms: number) => say(terminal, `${ms.toFixed(1).padStart(7)} ms  ${printable(text)}`)
      : undefined
  return {
    terminal,
    config,
    reload: load,
    open,
    async connect({ as, creating = false, glance = false, literal = false, ...options } = {}) {
      const settings = await config()
      const server = settings.get('server')
      if (program.opts<CurlFlags>().asCurl) options.dryRun = true // whatever a command looks up, it changes nothing
      if (server === undefined)
        return Promise.all([import('../../../app/call.js'), import('./names.js')]).then(
          async ([{ localCall }, { withNames }]) =>
            (literal ? (call: Call) => call : withNames)(
              localCall(await open({ creating, glance: glance ? GLANCE_MS : undefined, trace: traceOf(), onCreated }), {
                ...options,
                as,
              }),
            ),
        )
      if (as !== undefined)
        throw new AppError(
          'USAGE',
          `--as does not work with a server (from ${settings.origin('server')}). Leave it out, or sign in as ${as}.`,
        )
      const [{ remote }, { withNames }, { savedToken }] = await Promise.all([
        import('../../../client/remote.js'),
        import('./names.js'),
        import('./credentials.js'),
      ])
      const token = settings.get('token')
      let isSaid = false
      const onRefused = (message: string) => {
        if (isSaid) return
        isSaid = true
        tell(terminal, `${message} You see what visitors see. To sign in, run:`)
        say(terminal, `  ${commandLine(['login', '--server', server])}`)
      }
      const saved = token === undefined ? savedToken(settings, server) : undefined
      return (literal ? (call: Call) => call : withNames)(
        remote({
          server,
          token: token ?? saved,
          isSaved: saved !== undefined,
          timeout: glance ? GLANCE_MS : undefined,
          onRefused,
          trace: traceOf(),
          ...options,
        }),
      )
    },
    async together({ as, looks = false, takenBack = false, creating = false, dryRun = false }, work) {
      if (dryRun || program.opts<CurlFlags>().asCurl || (await config()).get('server') !== undefined) return undefined
      const [{ localTransaction }, { withNames }] = await Promise.all([
        import('../../../app/call.js'),
        import('./names.js'),
      ])
      const app = await open({ creating, trace: traceOf(), onCreated })
      return localTransaction(app, { as, looks, takenBack }, (call) => work(withNames(call)))
    },
    async close() {
      const app = await opened?.catch(() => undefined) // a failure to open was reported already
      opened = undefined
      await app?.close()
    },
  }
}

function warnOfPassword(terminal: Terminal, settings: Config, key: Key): void {
  const flag = `--${flagOf(key)}`
  if (settings.origin(key) !== flag || !hasPassword(settings.get(key) ?? '')) return
  tell(terminal, `Warning: other users of this machine can see the password of ${flag} in "ps". Use ${flag}-file, or set ${variableOf(key)}.`) // prettier-ignore
}

/** The values of a command's text flags, by flag name. */
export function settingFlags(command: Command): Record<string, string | undefined> {
  const entries = command.options.map(
    (option) => [option.name(), command.opts<Record<string, unknown>>()[option.attributeName()]] as const,
  )
  return Object.fromEntries(entries.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])))
}

/** Refuses --server for a command that works only on the machine of the site. */
export function assertLocal(config: Config, verb: string): void {
  if (config.get('server') !== undefined)
    throw new AppError(
      'USAGE',
      `"${verb}" works only on the machine of the site. Run it there, without the server, which comes from ${config.origin('server')}.`,
    )
}
