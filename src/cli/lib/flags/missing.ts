import type { Command } from 'commander'
import type { AppError } from '../../../core/errors.js'
import { Mistyped } from '../texts/mistyped.js'
import { promptedOf, requiredOf } from './helptext.js'

/** Lists all missing arguments, and options if there is no prompt for them. */
export function missingArguments(leaf: Command, args: readonly string[], canPrompt: boolean): AppError {
  const prompted = canPrompt ? {} : promptedOf(leaf)
  const isPrompted = (name: string): boolean =>
    prompted[name] !== undefined && leaf.getOptionValue(prompted[name]) === undefined
  const missing = leaf.registeredArguments
    .slice(leaf.args.length)
    .filter((each) => each.required || isPrompted(each.name()))
  const options = canPrompt
    ? []
    : leaf.options.filter((option) => option.long !== undefined && requiredOf(leaf).includes(option.long) && leaf.getOptionValue(option.attributeName()) === undefined) // prettier-ignore
  const names = [...missing.map((each) => `<${each.name()}>`), ...options.map(({ long = '' }) => long)]
  const counts = [[missing, 'argument'], [options, 'option']] as const // prettier-ignore
  const [one, both] = counts.flatMap(([{ length }, word]) =>
    length === 0 ? [] : names.length === 1 ? word : `${word}s`,
  )
  const what = both === undefined ? one : `${one} and ${both}`
  const values = missing.map((each) => each.name().toUpperCase())
  const flags = options.flatMap(({ long = '', required }) => [long, ...(required ? [long.replace(/^--/, '').toUpperCase()] : [])]) // prettier-ignore
  const end = args.includes('--') ? args.indexOf('--') : args.length
  const place = leaf.args.length === 0 ? args.findIndex((arg) => [leaf.name(), ...leaf.aliases()].includes(arg)) + 1 : 0
  const complete = args.toSpliced(end, 0, ...flags).toSpliced(place === 0 ? end : place, 0, ...values)
  return new Mistyped(`Missing required ${what}: ${names.join(', ')}. Nothing was changed.`, complete)
}
