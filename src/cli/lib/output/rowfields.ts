import { CommanderError, type Command } from 'commander'
import { write, type Terminal } from '../terminal/terminal.js'
import { formatOf, type OutputFlags } from './output.js'

type Fields = readonly string[] | ((args: readonly string[]) => Promise<readonly string[]> | readonly string[])

const declared = new WeakMap<Command, Fields>()

/**
 * Declares the fields of the rows that a command prints, which may depend on its arguments. `--fields` alone lists them,
 * and then the command needs no arguments.
 */
export function withFields<C extends Command>(command: C, fields: Fields): C {
  declared.set(command, fields)
  const parse = command.parseOptions.bind(command)
  command.parseOptions = (args) => {
    const parsed = parse(args)
    const { fields: chosen } = command.optsWithGlobals<OutputFlags>()
    if (chosen === true) for (const argument of command.registeredArguments) argument.argOptional()
    return parsed
  }
  return command
}

/**
 * Runs before each command: lists its fields where --fields is given alone, which ends the command with success, and
 * refuses names that its rows do not have.
 */
export async function heedFields(terminal: Terminal, command: Command): Promise<void> {
  const flags = command.optsWithGlobals<OutputFlags>()
  const fields = declared.get(command)
  if (flags.fields === undefined || fields === undefined) return
  formatOf(terminal, flags) // refuses contradictory flags
  const known = typeof fields === 'function' ? await fields(command.args) : fields
  const { assertFields } = await import('./choice.js')
  assertFields(flags.fields, known, terminal.args)
  if (flags.fields !== true) return
  await write(terminal, known.map((name) => `${name}\n`).join(''))
  throw new CommanderError(0, 'feedbackctl.fields', '')
}
