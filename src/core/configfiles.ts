import { existsSync, statSync } from 'node:fs'
import type { TomlError } from 'smol-toml'
import { AppError } from './errors.js'
import { didYouMean, likely } from './guesses.js'
import { keys, settings } from './settings.js'
import { placeOf, type Attempt, type Context, type Contexts, type Layer } from './sources.js'
import { isTable, lineOfKey, type Table } from './tomllines.js'
import { readTrusted } from './trust.js'
import { reading, textOfFile } from './valuefiles.js'

interface ConfigFile {
  file: string
  /** The file of --config, the one in the current folder, or one of the usual two. */
  kind: 'chosen' | 'here' | 'usual'
}

/** Where the keys of a table are. */
interface Source {
  /** For errors. */
  origin: string
  /** Prefix of each key in the file. */
  prefix: string
  text: string
}

interface Found {
  layer: Layer
  contexts: Contexts
  /** Names of command lines. */
  aliases: ReadonlyMap<string, string>
}

export const NOTHING: Found = { layer: new Map(), contexts: new Map(), aliases: new Map() }

const CONTEXT_NAME = /^[\w.@-]+$/

/** The key of a context that commands ask for its name before they change it. It is no setting: no flag can turn it off. */
export const PROTECTED = 'protected'

/** Reads the settings of a file, and its tables [contexts.NAME]. */
export function fromFile(
  { file, kind }: ConfigFile,
  parse: (text: string) => unknown,
  attempt: Attempt,
  ignored: string[],
): Found {
  const layer: Layer = new Map()
  const contexts = new Map<string, Context>()
  const aliases = new Map<string, string>()
  const read = (to: Layer, { origin, prefix, text }: Source, [name, value]: [string, unknown]) => {
    const line = lineOfKey(text, prefix + name)
    const key = keys.find((known) => known === name)
    if (!key || (to !== layer && key === 'context'))
      throw new AppError(
        'CONFIG_INVALID',
        `${origin} has an unknown key "${name}"${line === undefined ? '' : ` in line ${line}`}.${didYouMean(meantKey(name))}`,
        { place: placeOf({ origin: file, line }) },
      )
    if (kind === 'here' && settings[key].notFromHere?.(String(value))) return ignore(key)
    to.set(key, { value: String(value), origin, line })
  }
  const ignore = (what: string) =>
    void ignored.push(
      `Ignored ${what} in ${file}: the current folder may be somebody else's. Set it in another way (feedbackctl help environment).`,
    )
  const readContext = (text: string, name: string, table: unknown) => {
    if (!isTable(table) || !CONTEXT_NAME.test(name))
      throw new AppError(
        'CONFIG_INVALID',
        `${file} has a context ${JSON.stringify(name)} that is not valid. A context is a table, [contexts.NAME], and a name has letters, digits and . _ @ - only.`,
      )
    const { [PROTECTED]: isProtected = false, ...own } = table
    const context: Layer = new Map()
    // An invalid value protects too: a typing error must not unlock a site
    contexts.set(name, { settings: context, isProtected: isProtected !== false, file })
    const source = { origin: `${file} [contexts.${name}]`, prefix: `contexts.${name}.`, text }
    if (typeof isProtected !== 'boolean')
      attempt(() => {
        const line = lineOfKey(text, source.prefix + PROTECTED)
        throw new AppError('CONFIG_INVALID', `${source.origin}: ${PROTECTED} must be true or false.`, { place: placeOf({ origin: file, line }) }) // prettier-ignore
      })
    for (const entry of flattened(own)) attempt(() => read(context, source, entry))
  }
  attempt(() => {
    if (!existsSync(file)) return
    const found = textOf({ file, kind })
    if ('problem' in found) return void ignored.push(`Ignored ${file}: ${found.problem}.`)
    const { contexts: named, aliases: lines, ...own } = tableIn(file, found.text, parse)
    const source = { origin: file, prefix: '', text: found.text }
    for (const entry of flattened(own)) attempt(() => read(layer, source, entry))
    if (lines !== undefined && kind === 'here') ignore('aliases')
    else if (lines !== undefined) attempt(() => readAliases(lines, { file, to: aliases }))
    if (named === undefined) return
    if (kind === 'here') return ignore('contexts')
    if (!isTable(named)) throw new AppError('CONFIG_INVALID', `${file}: contexts must be tables, [contexts.NAME].`)
    for (const [name, table] of Object.entries(named)) attempt(() => readContext(found.text, name, table))
  })
  return { layer, contexts, aliases }
}

function readAliases(lines: unknown, { file, to }: { file: string; to: Map<string, string> }): void {
  if (!isTable(lines)) throw new AppError('CONFIG_INVALID', `${file}: aliases must be a table, [aliases].`)
  for (const [name, line] of Object.entries(lines)) {
    if (typeof line !== 'string') throw new AppError('CONFIG_INVALID', `${file}: the alias ${JSON.stringify(name)} must be a text, such as "posts list".`) // prettier-ignore
    to.set(name, line)
  }
}

/**
 * The setting that was probably meant: a near name, or one with a near last word in another table: that of no table, or
 * the only one.
 */
function meantKey(name: string): string | undefined {
  const last = (key: string) => key.slice(key.lastIndexOf('.') + 1)
  const word = likely(last(name), keys.map(last))
  const alike = keys.filter((key) => last(key) === word)
  return likely(name, keys) ?? alike.find((key) => key === word) ?? (alike.length === 1 ? alike[0] : undefined)
}

/** Where somebody chose the file, they have to know that it is not obeyed. A device or a pipe is what the shell made. */
function textOf({ file, kind }: ConfigFile): ReturnType<typeof readTrusted> {
  if (kind === 'chosen' && !statSync(file).isFile()) return { text: textOfFile(file, '--config', 'configuration') }
  const found = reading(file, 'the configuration file', () => readTrusted(file))
  if (kind === 'chosen' && 'problem' in found)
    throw new AppError('CONFIG_INVALID', `The configuration file ${file} is not obeyed: ${found.problem}.`)
  return found
}

function tableIn(file: string, text: string, parse: (text: string) => unknown): Table {
  try {
    return parse(text) as Table
  } catch (error) {
    const { message, line, column } = error as TomlError
    const reason = message.split('\n')[0]?.replace(/^Invalid TOML document: /, '') // other lines quote the file, which may hold a secret
    throw new AppError('CONFIG_INVALID', `${file} is not valid TOML in line ${line}, column ${column}: ${reason}.`, {
      place: placeOf({ origin: file, line }),
    })
  }
}

const flattened = (table: Table, prefix = ''): [string, unknown][] =>
  Object.entries(table).flatMap(([name, value]) =>
    isTable(value) ? flattened(value, `${prefix}${name}.`) : [[prefix + name, value] as [string, unknown]],
  )
