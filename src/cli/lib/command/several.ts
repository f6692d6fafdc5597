import { createInterface } from 'node:readline'
import type { Command } from 'commander'
import { AppError, serverError } from '../../../core/errors.js'
import { counted, escaped, printable } from '../../../core/text.js'
import { formatOf, isStructured, jsonOf, print, type OutputFlags } from '../output/output.js'
import type { Column } from '../output/table.js'
import { confirm, type Confirmation } from '../prompts/prompts.js'
import { canPrompt, colors, hasColor, say, tell, write, type Terminal } from '../terminal/terminal.js'

export interface Flags extends OutputFlags {
  dryRun?: boolean
  yes?: boolean
  input?: boolean
}

/** The outcome for one of the named things. */
export interface Outcome<Row> {
  body: unknown
  rows: readonly Row[]
  said: string | undefined
}

export type FixesFor = (this: void, errors: readonly AppError[]) => Promise<readonly string[]>

interface Several<Row> {
  names: readonly string[]
  /** Verb and noun for messages: `delete`, `post`. */
  verb: string
  noun: string
  columns: readonly Column<Row>[]
  id(this: void, row: Row): string
  /** The question before data is lost; undefined where nothing is, or where the operation will refuse. */
  question?: ((name: string) => Promise<Confirmation | undefined>) | undefined
  act(this: void, name: string): Promise<Outcome<Row>>
  /** What helps after these errors, one of each kind. */
  fixesFor?: FixesFor
}

/** The names, with those that stdin has, one a line, in place of `-`; each once. */
export async function namesGiven({ stdin }: Terminal, names: readonly string[]): Promise<string[]> {
  const typed: string[] = []
  if (names.includes('-')) for await (const line of createInterface({ input: stdin })) typed.push(line.trim())
  const all = names.flatMap((name) => (name === '-' ? typed.filter((line) => line !== '') : [name]))
  return [...new Set(all)]
}

/** What helps after errors of a command with these names. */
export const fixesAfter =
  (leaf: Command, args: readonly string[], names: readonly string[]): FixesFor =>
  async (errors) => {
    const { fixesOf, fixFor } = await import('../errors/fixes.js')
    const command = [...(leaf.parent?.parent ? [leaf.parent.name()] : []), leaf.name()]
    const failed = { command, names, options: leaf.options, fixes: fixesOf(leaf) }
    return errors.flatMap((error) => fixFor(error, args, failed))
  }

/** Exit codes from the worst on, and what they mean for the names after it: an unreachable server stops the command. */
const WORST = [1, 6, 4, 5, 3, 2]
/** Some things were done, and some were not. */
const PARTLY = 7
export const UNREACHABLE = 6

/** The exit code of a command of which some parts failed. */
export const exitOf = (failures: readonly number[], done: number): number =>
  done > 0 ? PARTLY : (WORST.find((code) => failures.includes(code)) ?? failures[0] ?? 0)

/** How many questions are shown before the one for all of them. */
const MOST_SHOWN = 20

/**
 * Does the same to several things, one after the other, and asks once for all of them. What fails is said, and the
 * others are done. JSON is an array with the answer for each, in the order they were named; with -o jsonl, csv and tsv
 * each row is written as soon as it is done.
 */
export async function actOnAll<Row>(terminal: Terminal, flags: Flags, several: Several<Row>): Promise<void> {
  const { names, noun, act } = several
  const results = resultsOf(terminal, flags, several)
  const failures: number[] = []
  const errors = new Map<string, AppError>()
  let done = 0
  const fail = (name: string, thrown: unknown) => {
    const error = thrown instanceof AppError ? thrown : serverError(thrown)
    if (error.exit === 130 || (done + failures.length === 0 && isOfAll(error, name, noun))) throw error
    failures.push(error.exit)
    errors.set(`${error.code} ${error.unknown}`, error)
    sayFailure(terminal, flags, name, error)
  }
  if (names.length === 0) tell(terminal, 'No names were given. Nothing was changed.')
  const isSure = flags.yes || flags.dryRun || names.length === 0
  const sure = isSure ? names : await confirmed(terminal, flags, several, fail)
  for (const name of sure) {
    try {
      await results.add(await act(name))
      done += 1
    } catch (error) {
      fail(name, error)
      if (failures.at(-1) === UNREACHABLE) break
    }
  }
  await results.end()
  const untried = names.length - done - failures.length
  if (failures.length > 0) {
    process.exitCode = exitOf(failures, done)
    const rest = untried > 0 ? ` ${untried} more were not tried.` : ''
    if (isStructured(formatOf(terminal, flags))) return
    tell(terminal, `${failures.length} of ${counted(names.length, noun)} failed.${rest}`)
    sayFixes(terminal, flags, (await several.fixesFor?.([...errors.values()])) ?? [])
  }
}

/** Whether every name would fail the same way: an option is wrong, or names what does not exist, or the role does not. */
function isOfAll({ exit, code, unknown, errors = [] }: AppError, name: string, noun: string): boolean {
  if (exit === 2 || code === 'INVALID_ROLE_ID' || (code === 'ROLE_NOT_FOUND' && noun !== 'role')) return true
  return unknown !== undefined && errors.every(({ value }) => value !== name)
}

/** Says what helps, each once. */
export function sayFixes(terminal: Terminal, flags: Flags, fixes: readonly string[]): void {
  const { dim } = colors(hasColor(terminal, terminal.stderr, flags))
  for (const [index, fix] of [...new Set(fixes)].entries())
    say(terminal, `  ${index === 0 ? dim('fix') : '   '}   ${printable(fix)}`)
}

/** The names whose loss was confirmed, with one question for all of them. Says which of them cannot be found. */
async function confirmed<Row>(
  terminal: Terminal,
  flags: Flags,
  { names, verb, noun, question }: Several<Row>,
  fail: (name: string, error: unknown) => void,
): Promise<readonly string[]> {
  if (!question) return names
  const all = `${verb.charAt(0).toUpperCase()}${verb.slice(1)} ${counted(names.length, noun)}?`
  if (!canPrompt(terminal, flags)) {
    await confirm(terminal, flags, all)
    return names
  }
  const questions: string[] = []
  const found: string[] = []
  let typed = false
  for (const name of names) {
    try {
      const confirmation = await question(name)
      found.push(name)
      if (confirmation === undefined) continue
      questions.push(typeof confirmation === 'string' ? confirmation : confirmation.question)
      typed ||= typeof confirmation !== 'string' && confirmation.type !== undefined
    } catch (error) {
      fail(name, error)
    }
  }
  if (questions.length === 0) return found
  for (const line of questions.slice(0, MOST_SHOWN)) tell(terminal, printable(line), { start: '  ' })
  if (questions.length > MOST_SHOWN) say(terminal, `  … ${questions.length - MOST_SHOWN} more`)
  const one = `${verb.charAt(0).toUpperCase()}${verb.slice(1)} ${counted(questions.length, noun)}?`
  await confirm(terminal, flags, typed ? { question: one, type: String(questions.length) } : one)
  return found
}

function sayFailure(terminal: Terminal, flags: Flags, name: string, error: AppError): void {
  if (formatOf(terminal, flags) === 'json') return say(terminal, escaped(JSON.stringify({ name, ...error.body, exit: error.exit }))) // prettier-ignore
  const { red } = colors(hasColor(terminal, terminal.stderr, flags))
  tell(terminal, `${printable(name)}: ${printable(error.message)} (${error.code})`, { start: `${red('✗')} ` })
}

/** Writes what is done: at once where the format allows it, at the end where the whole is one table or document. */
export function resultsOf<Row>(
  terminal: Terminal,
  flags: Flags,
  { columns, id }: Pick<Several<Row>, 'columns' | 'id'>,
) {
  const format = formatOf(terminal, flags)
  const collected: Outcome<Row>[] = []
  const isWhole = format === 'table' || format === 'wide' || format === 'yaml'
  let count = 0

  async function asJson({ body, rows }: Outcome<Row>): Promise<void> {
    const { picked } = await import('../output/choice.js')
    const shown = typeof flags.fields === 'string' ? picked(rows[0], flags.fields) : (body ?? null)
    await write(terminal, `${count === 0 ? '[' : ','}${jsonOf(shown, flags)}`)
  }

  return {
    async add(outcome: Outcome<Row>): Promise<void> {
      if (format === 'json') await asJson(outcome)
      else if (isWhole) collected.push(outcome)
      else
        await print(terminal, count === 0 ? flags : { ...flags, header: false, bom: false }, { ...outcome, columns, id, single: false }) // prettier-ignore
      count += 1
      const isShown = isWhole && outcome.rows.length > 0 && !flags.dryRun // a table says it too
      if (outcome.said !== undefined && !isShown) tell(terminal, printable(outcome.said))
    },
    async end(): Promise<void> {
      if (format === 'json') return write(terminal, count === 0 ? '[]\n' : ']\n')
      if (!isWhole) return
      const rows = collected.flatMap((each) => each.rows)
      await print(terminal, flags, {
        body: collected.map(({ body }) => body ?? null),
        rows,
        columns,
        id,
        single: false,
      })
    },
  }
}
