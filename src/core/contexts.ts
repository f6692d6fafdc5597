import path from 'node:path'
import { AppError } from './errors.js'
import { guess } from './guesses.js'
import type { Key } from './settings.js'
import type { Attempt, Contexts, Layer } from './sources.js'

/** The settings that say which site a command works on. */
export const PLACES: readonly Key[] = ['server', 'data.dir', 'database.url']

interface Known {
  contexts: Contexts
  /** Files that could have it, for the error. */
  files: readonly string[]
  attempt: Attempt
}

/**
 * The sources, first wins, with the settings of the chosen context right after the source that chose it. What later
 * sources say of the place is gone, and so is their token: it belongs to another site. In a file the context also wins
 * over a place beside it, which is that of commands without a context. A place from an earlier source wins over the
 * context, none of which then counts.
 */
export function withContext(layers: readonly Layer[], { contexts, files, attempt }: Known): Layer[] {
  const index = layers.findIndex((layer) => (layer.get('context')?.value ?? '') !== '')
  const chosen = layers[index]?.get('context')
  if (chosen === undefined) return [...layers]
  const placeIn = (layer?: Layer) => PLACES.map((key) => layer?.get(key)).find((held) => held && held.value !== '')
  const without = (keys: readonly Key[]) => (layer: Layer) => new Map([...layer].filter(([key]) => !keys.includes(key)))
  if (layers.slice(0, index).some(placeIn)) return layers.map(without(['context']))
  const settings = contexts.get(chosen.value)?.settings
  const isFile = path.isAbsolute(chosen.origin)
  attempt(() => {
    const place = isFile ? undefined : placeIn(layers[index])
    if (place)
      throw new AppError(
        'USAGE',
        `Both ${chosen.origin} and ${place.origin} say which site is meant. Give one of them.`,
      )
    if (!settings) throw unknown(chosen.value, [...contexts.keys()], files)
  })
  const upTo = layers.slice(0, index + 1)
  return [
    ...(isFile ? [...upTo.slice(0, -1), ...upTo.slice(-1).map(without([...PLACES, 'token']))] : upTo),
    ...(settings ? [settings] : []),
    ...layers.slice(index + 1).map(without([...PLACES, 'token', 'context'])),
  ]
}

function unknown(name: string, names: readonly string[], files: readonly string[]): AppError {
  if (names.length === 0)
    return new AppError(
      'USAGE',
      `Unknown context "${name}". No context is set: "feedbackctl context add NAME --server URL" adds one, as a table [contexts.NAME] of ${files.at(-1) === files[0] ? files[0] : files.slice(1).join(' or ')}.`,
    )
  return new AppError('USAGE', `Unknown context "${name}".${guess(name, names)} Contexts: ${names.join(', ')}.`)
}
