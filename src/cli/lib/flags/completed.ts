import type { Argument } from 'commander'
import type { Noun } from '../../../core/nouns.js'

/** What a shell offers for an argument. The argument may also have other values. */
interface Completed {
  words?: readonly string[]
  /** The argument names a row of this noun. */
  noun?: Noun
  /** The argument names a context. */
  context?: true
  /** The argument names an alias. */
  alias?: true
}

const declared = new WeakMap<Argument, Completed>()

/** Declares what a shell offers for an argument. */
export const setCompleted = (argument: Argument | undefined, completed: Completed): void =>
  void (argument && declared.set(argument, completed))

export const wordsOf = (argument: Argument | undefined): readonly string[] =>
  (argument && (argument.argChoices ?? declared.get(argument)?.words)) ?? []

/** The noun of the rows that an argument names. */
export const nounOf = (argument: Argument | undefined): Noun | undefined => argument && declared.get(argument)?.noun

export const isContext = (argument: Argument | undefined): boolean =>
  argument !== undefined && declared.get(argument)?.context === true

export const isAlias = (argument: Argument | undefined): boolean =>
  argument !== undefined && declared.get(argument)?.alias === true
