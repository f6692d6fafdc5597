import { randomBytes } from 'node:crypto'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import path from 'node:path'
import { Option, type Command } from 'commander'
import { parseListenAddress } from '../core/addresses.js'
import { AppError } from '../core/errors.js'
import { whyNotWritten } from '../core/filecauses.js'
import type { Cli } from './lib/connection/session.js'
import { setFixes } from './lib/errors/fixes.js'
import { explain } from './lib/flags/helptext.js'
import { print, type OutputFlags } from './lib/output/output.js'
import { withFields } from './lib/output/rowfields.js'
import type { Column } from './lib/output/table.js'
import { tellPlan } from './lib/prompts/dryrun.js'
import { confirm } from './lib/prompts/prompts.js'
import { say, tell, write, type Terminal } from './lib/terminal/terminal.js'
import { socketUnitOf, unitOf } from './serviceunit.js'
import { programFile } from './version.js'

interface Flags extends OutputFlags {
  name: string
  user?: true
  socket?: true
  dryRun?: boolean
  yes?: boolean
  input?: boolean
}

/** Where the files of a service are, and what asks systemd about it. */
interface Place {
  name: string
  isUsers: boolean
  needsRoot: boolean
  unit: string
  socketUnit: string
  config: string
  /** The folder of the data, in words. */
  data: string
  /** Of the unit. */
  text: string
  systemctl(this: void, ...args: string[]): Promise<string>
}

interface State {
  name: string
  unit: string
  active: string
  enabled: string
  /** Of the unit that keeps the port open; absent in services of earlier versions. */
  socket: string
}

const STATE: (keyof State)[] = ['name', 'unit', 'active', 'enabled', 'socket']
const columns: Column<State>[] = [
  { head: 'NAME', field: 'name', text: ({ name }) => name, drop: 0 },
  { head: 'ACTIVE', field: 'active', text: ({ active }) => active, drop: 0 },
  { head: 'ENABLED', field: 'enabled', text: ({ enabled }) => enabled, drop: 0 },
  { head: 'SOCKET', field: 'socket', text: ({ socket }) => socket, drop: 0 },
  { head: 'UNIT', field: 'unit', text: ({ unit }) => unit, drop: 1, whole: true },
]

export function register(group: Command, cli: Cli): void {
  const { terminal } = cli
  const withPlace = (command: Command) =>
    command
      .addOption(new Option('--name <name>', 'name of the service').default('feedbackctl'))
      .option('--user', 'a service of this user, which ends when they have signed out')
  const flagsOf = (command: Command) => command.optsWithGlobals<Flags>()

  const printing = withPlace(explain(group.command('print').description('Print the systemd units for the server'), {
    own: [],
    examples: ['service print > /etc/systemd/system/feedbackctl.service', 'service print --socket > /etc/systemd/system/feedbackctl.socket'],
    notes: ['The server needs both. Where a configuration file is there, the socket has the address of its "listen".'],
  })) // prettier-ignore
  printing.option('--socket', 'print the unit of the socket, which stays open while the server restarts').action(async () => {
    const flags = flagsOf(printing)
    const place = placeOf(terminal, flags)
    await write(terminal, flags.socket ? await socketOf(place) : place.text)
  }) // prettier-ignore

  const installing = withPlace(explain(group.command('install').description('Install a server as a service, and start it'), {
    own: [],
    examples: ['service install', 'service install --name ideas --dry-run', 'service install --user'],
    notes: [
      'It writes the units of the server and of its socket, and a configuration file if there is none, and starts the server now and with the machine. Run again, it updates the units, as after an upgrade or a change of "listen".',
    ],
  })) // prettier-ignore
  setFixes(installing, { OUTPUT_FAILED: ['service install --dry-run'] })
  installing.option('--dry-run', 'show what would be done, but change nothing').action(async () => {
    const flags = flagsOf(installing)
    const place = placeOf(terminal, flags)
    const steps = installation(place, await socketOf(place))
    if (flags.dryRun) return tellPlan(terminal, steps.map(({ does }) => does)) // prettier-ignore
    await assertSystemd(place)
    for (const { run } of steps) await run()
    tell(terminal, `The service ${place.name} is installed and runs. Its settings are in ${place.config}, its data is in ${place.data}. For a new site, make the owner:`) // prettier-ignore
    const option = (await saysWhere(place)) ? '' : ` --data-dir ${place.data}`
    say(terminal, `  feedbackctl setup${option} --config ${place.config}`)
  })

  const uninstalling = withPlace(explain(group.command('uninstall').description('Stop a service and remove its units. Its data and settings stay'), {
    own: [],
    examples: ['service uninstall', 'service uninstall --name ideas --yes'],
  })) // prettier-ignore
  setFixes(uninstalling, { NOT_FOUND: ['service install'], OUTPUT_FAILED: ['service uninstall --dry-run'] })
  uninstalling
    .option('--dry-run', 'show what would be done, but change nothing')
    .option('-y, --yes', 'skip the confirmation prompt')
    .action(async () => {
      const flags = flagsOf(uninstalling)
      const place = placeOf(terminal, flags)
      assertInstalled(place)
      const steps = removal(place)
      if (flags.dryRun) return tellPlan(terminal, steps.map(({ does }) => does)) // prettier-ignore
      await assertSystemd(place)
      if (!flags.yes)
        await confirm(terminal, flags, `Stop the service ${place.name} and remove its units? Its data stays.`)
      for (const { run } of steps) await run()
      tell(terminal, `The service ${place.name} is removed. Its settings stay in ${place.config}, its data in ${place.data}.`) // prettier-ignore
    })

  const showing = withPlace(explain(withFields(group.command('status').description('Show whether a service is installed and runs'), STATE), {
    own: [],
    examples: ['service status', 'service status --name ideas --json'],
  })) // prettier-ignore
  setFixes(showing, { NOT_FOUND: ['service install'], OUTPUT_FAILED: ['service print'] })
  showing.action(async () => {
    const flags = flagsOf(showing)
    const place = placeOf(terminal, flags)
    assertInstalled(place)
    const shown = async (unit: string) => {
      const text = await place.systemctl('show', unit, '--property=ActiveState,UnitFileState')
      const value = (key: string) => new RegExp(`^${key}=(.*)$`, 'm').exec(text)?.[1] || 'unknown'
      return { active: value('ActiveState'), enabled: value('UnitFileState') }
    }
    const { active, enabled } = await shown(`${place.name}.service`)
    const socket = existsSync(place.socketUnit) ? (await shown(`${place.name}.socket`)).active : 'none'
    const row = { name: place.name, unit: place.unit, active, enabled, socket }
    await print(terminal, flags, { body: row, rows: [row], columns, id: ({ name }) => name, single: true })
  })
}

function placeOf({ env }: Terminal, { name, user }: Flags): Place {
  if (!/^[a-z][a-z0-9-]{0,49}$/.test(name))
    throw new AppError('USAGE', `--name must be a lower-case letter, and then letters, digits and hyphens, at most 50; ${JSON.stringify(name.slice(0, 100))} is not.`) // prettier-ignore
  const isUsers = user === true
  const root = env.FEEDBACKCTL_TEST_ROOT ?? ''
  const home = env.XDG_CONFIG_HOME ?? path.join(env.HOME ?? '', '.config')
  const units = isUsers ? path.join(home, 'systemd/user') : `${root}/etc/systemd/system`
  const config = path.join(isUsers ? home : `${root}/etc`, name, 'config.toml')
  return {
    name,
    isUsers,
    needsRoot: !isUsers && root === '' && process.getuid?.() !== 0,
    unit: path.join(units, `${name}.service`),
    socketUnit: path.join(units, `${name}.socket`),
    config,
    data: isUsers ? 'the folder that "feedbackctl config get data.dir" prints' : `${root}/var/lib/${name}`,
    text: unitOf({ name, isUsers, program: [process.execPath, programFile], config }),
    systemctl: (...args) => systemctl(env, isUsers ? ['--user', ...args] : args),
  }
}

/** Commands of systemctl that fail where the server does: its journal says why. */
const STARTS = new Set(['start', 'try-restart'])

function systemctl(env: Terminal['env'], args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile('systemctl', args, { env }, (error, stdout, stderr) => {
      if (!error) return resolve(stdout)
      const lines = stderr.split('\n').filter((line) => line.trim() !== '')
      const said = lines.find((line) => !line.startsWith('Warning:')) ?? lines[0] ?? error.message
      reject(
        error.code === 'ENOENT'
          ? new AppError('USAGE', 'There is no systemd on this machine: no program systemctl. Run "feedbackctl serve" by what starts programs here, or in a container.') // prettier-ignore
          : new AppError(
              args.some((arg) => STARTS.has(arg)) ? 'SERVICE_FAILED' : 'OUTPUT_FAILED',
              `systemctl ${args.join(' ')} failed: ${said}`,
              { cause: error },
            ),
      )
    })
  })
}

/** Before anything is written. */
async function assertSystemd({ systemctl: ask, needsRoot, unit }: Place): Promise<void> {
  await ask('--version')
  if (!needsRoot) return
  throw new AppError('USAGE', `Only root can change ${unit}. Run this command with sudo, or with --user for a service of your own.`) // prettier-ignore
}

function assertInstalled({ unit, name }: Place): void {
  if (!existsSync(unit)) throw new AppError('NOT_FOUND', `There is no service ${name}: ${unit} does not exist.`)
}

interface Step {
  /** As in `Would …`. */
  does: string
  run(this: void): unknown
}

function installation(place: Place, socketText: string): Step[] {
  const { name, unit, socketUnit, config, text, systemctl: ask } = place
  const [before, socketBefore] = [unit, socketUnit].map((file) => existsSync(file) ? readFileSync(file, 'utf8') : undefined) // prettier-ignore
  const run = (...args: string[]): Step => ({ does: `run systemctl ${args.join(' ')}`, run: () => ask(...args) })
  const isNew = before !== text
  const hasNewSocket = socketBefore !== socketText
  // A running server holds the port, and systemd cannot open the socket
  const isStopped = before !== undefined && hasNewSocket
  return [
    ...(isNew ? [{ does: `write ${unit}`, run: () => put(unit, text, 0o644) }] : []),
    ...(hasNewSocket ? [{ does: `write ${socketUnit}`, run: () => put(socketUnit, socketText, 0o644) }] : []),
    ...(existsSync(config) ? [] : [{ does: `write ${config}`, run: () => put(config, settingsOf(place), 0o600) }]),
    ...(isNew || hasNewSocket ? [run('daemon-reload')] : []),
    ...(isStopped ? [run('stop', ...unitsOf(place))] : []),
    // Two commands, because what "enable" says of its links would hide why the start failed
    run('enable', ...unitsOf(place)),
    run('start', ...unitsOf(place)),
    // It runs with the unit that was there before
    ...(isNew && before !== undefined && !isStopped ? [run('try-restart', `${name}.service`)] : []),
  ]
}

/** The socket comes first, because systemd does not open it while the service runs. */
const unitsOf = ({ name }: Place): string[] => [`${name}.socket`, `${name}.service`]

function removal(place: Place): Step[] {
  const { unit, socketUnit, systemctl: ask } = place
  const files = [socketUnit, unit].filter((file) => existsSync(file))
  const units = files.map((file) => path.basename(file))
  return [
    { does: `run systemctl disable ${units.join(' ')}`, run: () => ask('disable', ...units) },
    { does: `run systemctl stop ${units.join(' ')}`, run: () => ask('stop', ...units) },
    ...files.map((file) => ({ does: `remove ${file}`, run: () => rmSync(file) })),
    { does: 'run systemctl daemon-reload', run: () => ask('daemon-reload') },
  ]
}

/** Returns the unit of the socket, with the address of `listen` in the configuration file of the service. */
async function socketOf({ name, config: file }: Place): Promise<string> {
  const { loadConfig } = await import('../config.js')
  const config = existsSync(file) ? await loadConfig({ flags: { config: file }, env: {}, cwd: '/' }) : undefined
  const at = parseListenAddress(config?.get('listen') ?? LISTEN) ?? { host: '', port: 0 }
  if ('socket' in at) return socketUnitOf({ name, addresses: [at.socket], mode: config?.get('socket.mode') })
  const { host, port } = at
  if (port === 0) throw new AppError('CONFIG_INVALID', `listen in ${file} has no port. A service needs a fixed one.`) // prettier-ignore
  const found = isIP(host) ? [host] : await addressesOf(host, file)
  return socketUnitOf({ name, addresses: found.map((ip) => (isIP(ip) === 6 ? `[${ip}]:${port}` : `${ip}:${port}`)) })
}

/** Resolves a host name, because systemd accepts only addresses. */
async function addressesOf(host: string, file: string): Promise<string[]> {
  const found = await lookup(host, { all: true }).catch((cause: unknown) => {
    throw new AppError('CONFIG_INVALID', `listen in ${file} names the unknown host ${host}. Use an address.`, { cause }) // prettier-ignore
  })
  return [...new Set(found.map(({ address }) => address))]
}

const LISTEN = '127.0.0.1:8000'
const settingsOf = ({
  isUsers,
  data,
}: Place): string => `# The settings of this server, which reads them when it starts. docs/configuration.md lists them.
listen = "${LISTEN}"
setup.token = "${randomBytes(24).toString('base64url')}" # nobody else may set the site up; commands on this machine need none
trust-proxy = "loopback" # a proxy on this machine
${isUsers ? '' : `data.dir = "${data}"\n`}# site.url = "https://feedback.example.org"
`

/** Whether commands know by the file of a service where its data is: not by that of an earlier version. */
async function saysWhere({ isUsers, config: file }: Place): Promise<boolean> {
  if (isUsers) return true
  const { loadConfig } = await import('../config.js')
  const config = await loadConfig({ flags: { config: file }, env: {}, cwd: '/' })
  return [config.origin('data.dir'), config.origin('database.url')].includes(file)
}

function put(file: string, text: string, mode: number): void {
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o755 })
    writeFileSync(file, text, { mode })
  } catch (error) {
    throw new AppError('OUTPUT_FAILED', `Cannot write ${file}: ${whyNotWritten(error)}.`, { cause: error })
  }
}
