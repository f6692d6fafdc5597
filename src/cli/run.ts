import { CommanderError, type Command } from 'commander'
import { AppError } from '../core/errors.js'
import { flagOf } from '../core/settings.js'
import type { Cli } from './lib/connection/session.js'
import { fixesOf } from './lib/errors/fixes.js'
import { assertRequest, type CurlFlags } from './lib/flags/ascurl.js'
import { settingsOf } from './lib/flags/helptext.js'
import { report } from './lib/errors/report.js'
import { heedFields } from './lib/output/rowfields.js'
import { endAfterFailure } from './lib/terminal/ending.js'
import { NothingToDo } from './lib/terminal/nothingtodo.js'
import { tell, type ColorFlag, type Terminal } from './lib/terminal/terminal.js'
import { usageError } from './mistakes.js'
import { buildProgram, withColorFlag } from './program.js'
import { branches } from './tree.js'

/** Runs the command of this process. */
export async function runProcess(terminal: Terminal): Promise<void> {
  await run(terminal)
  await endAfterFailure(terminal)
}

/**
 * Runs one command and sets the exit code. It never calls process.exit() after writing: that truncates output in a
 * pipe.
 */
export async function run(typed: Terminal): Promise<void> {
  typed.stderr.on('error', () => {}) // a closed stderr does not stop the command
  const terminal = await expanded(typed)
  if (!terminal) return
  const { program, cli } = buildProgram(terminal)
  terminal.stdout.on('error', (error) =>
    stdoutFailed(terminal, { flags: program.opts(), command: [], options: [] }, error),
  )
  let running: Command | undefined
  program.hook('preAction', async (_program, command) => {
    running = command
    assertSettings(program, command)
    const { color } = program.opts<ColorFlag>()
    if (color === false || color === 'never') process.env.NO_COLOR = '1' // for prompts, which know no flags
    await heedFields(terminal, command)
    if (program.opts<CurlFlags>().asCurl) return assertRequest(command, namesIn(program, program.args))
    if (mayChange(command)) await guard(cli, command, namesIn(program, program.args))
  })
  try {
    await program.parseAsync(withColorFlag(program, terminal.args), { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return
    if (error instanceof NothingToDo) return tell(terminal, error.message)
    const flags = program.opts()
    const { args } = program
    const leaf = running ?? leafOf(program, args)
    const failed = {
      flags,
      ...(await placesOf(cli, error)),
      command: namesIn(program, program.args),
      names: running?.args ?? [],
      options: leaf?.options ?? [],
      fixes: running ? fixesOf(running) : {},
    }
    const whole = { terminal, flags, program, branch: branchOf(program, args), leaf }
    process.exitCode = report(terminal, failed, usageError(error, whole) ?? error)
  } finally {
    await cli.close()
  }
}

/** The terminal with the command that an alias stands for. Undefined where that is none, which is reported. */
async function expanded(terminal: Terminal): Promise<Terminal | undefined> {
  const known = [...branches.map(({ name }) => name), 'help']
  const [word = '-'] = terminal.args
  if (/^(-|__)/.test(word) || known.includes(word)) return terminal
  try {
    const { withAlias } = await import('./aliases.js')
    return await withAlias(terminal, known)
  } catch (error) {
    process.exitCode = report(
      terminal,
      { flags: {}, command: [], options: [], fixes: { USAGE: ['alias list'] } },
      error,
    )
    return undefined
  }
}

/** What changes a site has --dry-run. Others load nothing more. */
const mayChange = (command: Command): boolean => command.options.some(({ long }) => long === '--dry-run')

async function guard(cli: Cli, command: Command, names: readonly string[]): Promise<void> {
  const { guardProtected } = await import('./lib/connection/protection.js')
  await guardProtected(cli, command, names)
}

/** Throws if the command line has a setting that the command ignores. */
function assertSettings(program: Command, command: Command): void {
  const taken = settingsOf(command)
  if (!taken) return
  const flags = new Set(taken.map((key) => `--${flagOf(key)}`))
  const other = program.options.find(
    (option) =>
      option.helpGroupHeading !== undefined &&
      !flags.has(option.long ?? '') &&
      program.getOptionValueSource(option.attributeName()) === 'cli',
  )
  if (!other) return
  const verb = namesIn(program, program.args).join(' ')
  const but = taken.length > 0 ? ` but ${[...flags].join(', ')}` : ''
  throw new AppError('USAGE', `"${verb}" reads no site and takes no settings${but}. Leave out ${other.long}.`)
}

/** The server to sign in to, and the known contexts. Loads settings only for the failures that need them. */
async function placesOf(cli: Cli, error: unknown): Promise<{ server?: string | undefined; contexts?: string[] }> {
  if (!(error instanceof AppError) || ![3, 4, 5, 6].includes(error.exit)) return {}
  return cli.config().then(
    (config) => ({ server: config.get('server'), contexts: [...config.contexts.keys()] }),
    () => ({}),
  )
}

/** The branch of the command that was typed, or the group in it: the last word that has commands. */
function branchOf(command: Command, [word, ...rest]: readonly string[]): Command | undefined {
  const next = command.commands.find((each) => each.name() === word)
  if (!next) return undefined
  const group = branchOf(next, rest)
  return group && group.commands.length > 0 ? group : next
}

/** The command that was typed, as far as it exists. */
function leafOf(command: Command, [word, ...rest]: readonly string[]): Command | undefined {
  const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word ?? ''))
  return next && (leafOf(next, rest) ?? next)
}

/** The names of the command that was typed and of its parents, as far as they exist. */
function namesIn(command: Command, [word, ...rest]: readonly string[]): string[] {
  const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word ?? ''))
  return next ? [next.name(), ...namesIn(next, rest)] : []
}

/** A reader that stops early (`| head`) is no failure. Output that cannot be written at all is one. */
function stdoutFailed(terminal: Terminal, failed: Parameters<typeof report>[1], error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0)
  process.exit(
    report(terminal, failed, new AppError('OUTPUT_FAILED', `Cannot write the output: ${error.code ?? error.message}.`)),
  )
}
