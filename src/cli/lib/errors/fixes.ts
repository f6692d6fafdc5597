import type { Command, Option } from 'commander'
import type { AppError, ErrorCode } from '../../../core/errors.js'
import { likely } from '../../../core/guesses.js'
import { LISTS_OF_UNKNOWN } from '../../../core/nouns.js'
import { FieldOption } from '../flags/options.js'
import { commandLine, connectionOptions, withValue } from '../texts/commandline.js'
import { Mistyped } from '../texts/mistyped.js'
import { usualFixes } from './usualfixes.js'

/** Commands that fix an error, without `feedbackctl` and connection options. */
export type Fixes = Partial<Record<ErrorCode, readonly string[]>>

/** The command that failed. */
export interface Failed {
  /** The server of the command, by a flag, a variable or a file. */
  server?: string | undefined
  /** The names of the contexts that the configuration has. */
  contexts?: readonly string[]
  /** The names of the command and its branch, as far as they exist: `['boards', 'list']`. */
  command: readonly string[]
  /** Its arguments. */
  names?: readonly string[]
  options: readonly Option[]
  fixes?: Fixes
}

const fixesByCommand = new WeakMap<Command, Fixes>()

export const setFixes = (command: Command, fixes: Fixes): void => void fixesByCommand.set(command, fixes)

export const fixesOf = (command: Command): Fixes => fixesByCommand.get(command) ?? {}

/** Lines that show how to fix an error, usually a command to run. */
export function fixFor(error: AppError, args: readonly string[], failed: Failed): readonly string[] {
  const { server, contexts = [], command, names = [], options, fixes = {} } = failed
  const secrets = options.flatMap((option) =>
    option instanceof FieldOption && option.secret ? [option.long ?? ''] : [],
  )
  const run = (...commands: readonly string[]) =>
    commands.map((words) => commandLine([...words.split(' '), ...connectionOptions(args)], secrets))
  if (error instanceof Mistyped && error.corrected) return [commandLine(error.corrected, secrets)]
  const chosen = withChoice(error, args, options)
  if (chosen) return [commandLine(chosen, secrets)]
  const ownFixes = fixes[error.code]
  if (ownFixes) return run(...ownFixes)
  if (error.unknown !== undefined) return run(`${LISTS_OF_UNKNOWN[error.unknown]} list`)
  return usualFixes({ error, args, server, contexts, command, names, secrets })[error.code]
}

/** The command with the choice that was probably meant, where nothing else is wrong. */
function withChoice(
  { errors = [] }: AppError,
  args: readonly string[],
  options: readonly Option[],
): string[] | undefined {
  const [issue, ...others] = errors
  if (issue === undefined || others.length > 0) return undefined
  for (const option of options) {
    if (!(option instanceof FieldOption) || option.field !== issue.field) continue
    const { words = [] } = option
    const wrong = [issue.value].flat().find((value) => typeof value === 'string' && !words.includes(value))
    const meant = typeof wrong === 'string' ? likely(wrong, words) : undefined
    const corrected = meant === undefined ? undefined : withValue(args, option, [wrong as string, meant])
    if (corrected) return corrected
  }
  return undefined
}
