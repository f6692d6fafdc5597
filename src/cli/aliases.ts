import { AppError } from '../core/errors.js'
import { quoted } from '../core/text.js'
import type { Terminal } from './lib/terminal/terminal.js'
import { optionValue } from './lib/texts/commandline.js'
import { shellWords } from './lib/texts/shellwords.js'

/** An alias name. It needs no quoting in a shell or in TOML. */
export const ALIAS_NAME = /^[A-Za-z0-9][\w-]{0,31}$/

/** The words that an alias stands for. `known` are the commands. They begin with a command, so that none stands for another alias. */
export function targetOf(name: string, line: string, known: readonly string[]): string[] {
  const words = shellWords(line)
  if (!words) throw new AppError('USAGE', `The alias ${quoted(name)} has a quotation mark without another: ${line}`)
  const [first] = words
  if (first === undefined || !known.includes(first))
    throw new AppError('USAGE', `The alias ${quoted(name)} must begin with a command; ${quoted(first ?? '')} is none.`)
  return words
}

/**
 * The terminal with what an alias stands for in place of it, as first word, with what follows it. A command is never an
 * alias, so that only a word which is none has the configuration read.
 */
export async function withAlias<T extends Pick<Terminal, 'args' | 'env' | 'cwd'>>(
  terminal: T,
  known: readonly string[],
): Promise<T> {
  const [name, ...rest] = terminal.args
  if (name === undefined || !ALIAS_NAME.test(name) || known.includes(name)) return terminal
  const line = (await aliasesOf(terminal)).get(name)
  if (line === undefined) return terminal
  const args = [...targetOf(name, line, known), ...rest]
  return Object.defineProperties({} as T, {
    ...Object.getOwnPropertyDescriptors(terminal), // stdin is opened when it is read
    args: { value: args, enumerable: true },
  })
}

/** Those of the configuration, of which mistakes are told by the commands that need the rest of it. */
export async function aliasesOf({
  args,
  env,
  cwd,
}: Pick<Terminal, 'args' | 'env' | 'cwd'>): Promise<ReadonlyMap<string, string>> {
  const { loadConfig } = await import('../config.js')
  const config = optionValue(args, '--config')
  const flags = config ? { config } : {}
  return (await loadConfig({ flags, env, cwd, newFile: true, lenient: true })).aliases
}
