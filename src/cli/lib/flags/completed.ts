import type { Argument } from 'commander'
import type { Noun } from '../../../core/nouns.js'

/** What a shell completes an argument to. Other words are taken too. */
interface Completed {
  words?: readonly string[]
  /** The noun whose rows the argument names. */
  noun?: Noun
}

const declared = new WeakMap<Argument, Completed>()

/** Declares the words that a shell completes an argument to, or the noun whose rows it names. */
export const setCompleted = (argument: Argument | undefined, completed: Completed): void =>
  void (argument && declared.set(argument, completed))

export const wordsOf = (argument: Argument | undefined): readonly string[] =>
  (argument && (argument.argChoices ?? declared.get(argument)?.words)) ?? []

/** The noun whose rows an argument names. */
export const nounOf = (argument: Argument | undefined): Noun | undefined => argument && declared.get(argument)?.noun
