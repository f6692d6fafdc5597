import type { Argument } from 'commander'

const declared = new WeakMap<Argument, readonly string[]>()

/** Declares the words that a shell completes an argument to. Other words are taken too. */
export const setWords = (argument: Argument | undefined, words: readonly string[]): void =>
  void (argument && declared.set(argument, words))

export const wordsOf = (argument: Argument | undefined): readonly string[] =>
  (argument && (argument.argChoices ?? declared.get(argument))) ?? []
