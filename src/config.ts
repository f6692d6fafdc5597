import { existsSync, readFileSync, statSync } from 'node:fs'
import { devNull } from 'node:os'
import path from 'node:path'
import envPaths from 'env-paths'
import { absoluteUrl, parseListen, redactedUrl } from './core/addresses.js'
import { AppError } from './core/errors.js'
import { guess } from './core/guesses.js'
import { limitNames, rateOf, type Rates } from './core/limits.js'
import { flagOf, isSecret, keys, settings, variableOf, type Key } from './core/settings.js'
import { readTrusted } from './core/trust.js'

/** The settings as environment variables of a child process of this program, which then reads no configuration file. */
export const environmentOf = (config: Config): Record<string, string> => ({
  FEEDBACKCTL_CONFIG: devNull,
  ...Object.fromEntries(
    keys.flatMap((key) => {
      const value = config.get(key)
      return value === undefined ? [] : [[variableOf(key), value], [`${variableOf(key)}_FILE`, '']] // prettier-ignore
    }),
  ),
})

/** The limits, without those that are off. */
export const ratesOf = (config: Pick<Config, 'get'>): Rates =>
  Object.fromEntries(
    (['requests', ...limitNames] as const).flatMap((name) => {
      const rate = rateOf(config.get(`limits.${name}`) ?? 'off')
      return rate ? [[name, rate]] : []
    }),
  )

/** A value and its source: `--listen`, `FEEDBACKCTL_LISTEN`, a file, or `default`. */
export interface Origin {
  value: string
  origin: string
}

export interface Config {
  get(key: Key): string | undefined
  origin(key: Key): string
  /** File that setup writes to: the one of --config, else the one that sets mail.url, else the user's own. */
  file: string
  /** The file in the current folder. */
  fileHere: string
  /** Folder of the user's own files. */
  directory: string
  /** Errors found with `lenient`. Otherwise the first error is thrown. */
  problems: readonly AppError[]
  /**
   * Files and keys that are not obeyed, because somebody else may have written them, and variables that do not exist:
   * sentences for people.
   */
  ignored: readonly string[]
}

interface Sources {
  flags: Record<string, string | undefined> // by flag name without dashes
  env: Record<string, string | undefined>
  cwd: string
  /** The file of --config may be missing: setup creates it. */
  newFile?: boolean
  /** Collects errors instead of throwing the first one, for `config list`. */
  lenient?: boolean
}

/**
 * Reads every source and checks every value. Flags win over environment, environment over files. CONFIG_INVALID names
 * the source.
 */
export async function loadConfig(sources: Sources): Promise<Config> {
  const { flags, env, cwd, newFile = false, lenient = false } = sources
  const directory = envPaths('feedbackctl', { suffix: '' }).config
  const chosen = flags.config || env.FEEDBACKCTL_CONFIG
  const own = chosen ? path.resolve(cwd, chosen) : path.join(directory, 'config.toml')
  const here = path.resolve(cwd, 'feedbackctl.toml')
  const files = chosen ? [own] : [here, own, '/etc/feedbackctl/config.toml']
  const problems: AppError[] = []
  const ignored: string[] = []
  const attempt: Attempt = (work) => {
    try {
      work()
    } catch (error) {
      if (!lenient || !(error instanceof AppError)) throw error
      problems.push(error)
    }
  }

  if (chosen && !newFile) attempt(() => assertThere(own))
  const toml = files.some((file) => existsSync(file)) ? await import('smol-toml') : undefined
  const kind = (file: string) => (chosen ? 'chosen' : file === here ? 'here' : 'usual')
  const fromFiles = files.map((file) =>
    toml ? fromFile({ file, kind: kind(file) }, toml.parse, attempt, ignored) : new Map<Key, Origin>(),
  )
  const layers = [
    fromFlags(flags, cwd, attempt),
    fromEnvironment(env, attempt),
    fromPlatform(env),
    ...fromFiles,
    defaults(env),
  ]
  const found: Layer = new Map()
  for (const layer of layers)
    for (const [key, held] of layer) if (held.value !== '' && !found.has(key)) found.set(key, held)
  derive(found)
  for (const [key, held] of found) attempt(() => check(key, held))
  return {
    get: (key) => found.get(key)?.value,
    origin: (key) => found.get(key)?.origin ?? 'not set',
    file: files.find((_, index) => fromFiles[index]?.has('mail.url')) ?? own,
    fileHere: here,
    directory,
    problems,
    ignored: [...ignored, ...unknownVariables(env)],
  }
}

/** The address that the server listens on. */
export const listenAddress = (config: Config): { host: string; port: number } =>
  parseListen(config.get('listen') ?? '') ?? { host: '127.0.0.1', port: 8000 }

function assertThere(file: string): void {
  if (!existsSync(file)) throw new AppError('CONFIG_INVALID', `There is no configuration file ${file}.`)
}

type Layer = Map<Key, Origin>

/** Runs the work for one key. With `lenient` an error in one key does not stop the others. */
type Attempt = (work: () => void) => void

function fromFlags(flags: Sources['flags'], cwd: string, attempt: Attempt): Layer {
  const layer: Layer = new Map()
  const read = (key: Key) => {
    const flag = flagOf(key)
    const [value, file] = [flags[flag], flags[`${flag}-file`]]
    if (value) layer.set(key, { value, origin: `--${flag}` })
    else if (file)
      layer.set(key, { value: contents(path.resolve(cwd, file), `--${flag}-file`), origin: `--${flag}-file` })
  }
  for (const key of keys) attempt(() => read(key))
  return layer
}

function fromEnvironment(env: Sources['env'], attempt: Attempt): Layer {
  const layer: Layer = new Map()
  const read = (key: Key) => {
    const variable = variableOf(key)
    const [value, file] = [env[variable], env[`${variable}_FILE`]]
    const credential = env.CREDENTIALS_DIRECTORY && path.join(env.CREDENTIALS_DIRECTORY, key)
    if (value && file)
      throw new AppError('CONFIG_INVALID', `Both ${variable} and ${variable}_FILE are set. Unset one of them.`)
    if (value) layer.set(key, { value, origin: variable })
    else if (file) layer.set(key, { value: contents(file, `${variable}_FILE`), origin: `${variable}_FILE` })
    else if (credential && existsSync(credential))
      layer.set(key, { value: contents(credential, 'CREDENTIALS_DIRECTORY'), origin: `systemd credential ${key}` })
  }
  for (const key of keys) attempt(() => read(key))
  return layer
}

/** Read elsewhere in the program, or by its tests. */
const OTHER_VARIABLES = /^FEEDBACKCTL_(CONFIG|WORKER|FAULTS|TEST_\w+)$/

function unknownVariables(env: Sources['env']): string[] {
  const known = keys.flatMap((key) => [variableOf(key), `${variableOf(key)}_FILE`])
  const names = Object.keys(env).filter((name) => name.startsWith('FEEDBACKCTL_') && !OTHER_VARIABLES.test(name))
  return names
    .filter((name) => !known.includes(name))
    .map(
      (name) =>
        `${name} is not a variable that feedbackctl reads.${guess(
          name.slice(12),
          known.map((each) => each.slice(12)),
          (meant) => `FEEDBACKCTL_${meant}`,
        )}`,
    )
}

const bracketed = (host: string): string => (/^[^[].*:.*:/.test(host) || host === '::' ? `[${host}]` : host)

/** Variables that hosting platforms set. FEEDBACKCTL_* wins over them. */
function fromPlatform({ HOST, PORT, DATABASE_URL }: Sources['env']): Layer {
  const layer: Layer = new Map()
  if (PORT)
    layer.set('listen', {
      value: `${HOST ? bracketed(HOST) : '127.0.0.1'}:${PORT}`,
      origin: HOST ? 'HOST and PORT' : 'PORT',
    })
  else if (HOST) layer.set('listen', { value: `${bracketed(HOST)}:8000`, origin: 'HOST' })
  if (DATABASE_URL) layer.set('database.url', { value: DATABASE_URL, origin: 'DATABASE_URL' })
  return layer
}

interface ConfigFile {
  file: string
  /** The file of --config, the one in the current folder, or one of the usual two. */
  kind: 'chosen' | 'here' | 'usual'
}

function fromFile(
  { file, kind }: ConfigFile,
  parse: (text: string) => unknown,
  attempt: Attempt,
  ignored: string[],
): Layer {
  const layer: Layer = new Map()
  const read = (name: string, value: unknown) => {
    const key = keys.find((known) => known === name)
    if (!key) throw new AppError('CONFIG_INVALID', `${file} has an unknown key "${name}".${guess(name, keys)}`)
    if (kind === 'here' && settings[key].notFromHere?.(String(value)))
      return void ignored.push(
        `Ignored ${key} in ${file}: the current folder may be somebody else's. Set it in another way (feedbackctl help environment).`,
      )
    layer.set(key, { value: String(value), origin: file })
  }
  attempt(() => {
    if (!existsSync(file)) return
    const found = textOf({ file, kind })
    if ('problem' in found) return void ignored.push(`Ignored ${file}: ${found.problem}.`)
    for (const [name, value] of flattened(tableIn(file, found.text, parse))) attempt(() => read(name, value))
  })
  return layer
}

/** Where somebody chose the file, they have to know that it is not obeyed. A device or a pipe is what the shell made. */
function textOf({ file, kind }: ConfigFile): ReturnType<typeof readTrusted> {
  if (kind === 'chosen' && !statSync(file).isFile()) return { text: contents(file, '--config') }
  const found = reading(file, 'the configuration file', () => readTrusted(file))
  if (kind === 'chosen' && 'problem' in found)
    throw new AppError('CONFIG_INVALID', `The configuration file ${file} is not obeyed: ${found.problem}.`)
  return found
}

function tableIn(file: string, text: string, parse: (text: string) => unknown): Record<string, unknown> {
  try {
    return parse(text) as Record<string, unknown>
  } catch (error) {
    // Other lines quote the file, which may hold a secret
    throw new AppError('CONFIG_INVALID', `${file} is not valid TOML: ${(error as Error).message.split('\n')[0]}.`)
  }
}

function flattened(table: Record<string, unknown>, prefix = ''): [string, unknown][] {
  return Object.entries(table).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? flattened(value as Record<string, unknown>, `${prefix}${name}.`)
      : [[prefix + name, value] as [string, unknown]],
  )
}

function defaults(env: Sources['env']): Layer {
  const layer: Layer = new Map()
  for (const key of keys) {
    const preset = settings[key].default
    if (preset !== undefined) layer.set(key, { value: preset, origin: 'default' })
  }
  const state = env.STATE_DIRECTORY?.split(':')[0]
  layer.set(
    'data.dir',
    state
      ? { value: state, origin: 'STATE_DIRECTORY' }
      : { value: envPaths('feedbackctl', { suffix: '' }).data, origin: 'default' },
  )
  return layer
}

/** Adds defaults that depend on other settings, and makes paths absolute. Paths in a file are relative to that file. */
function derive(found: Map<Key, Origin>): void {
  const set = (key: Key, value: string) => void (found.has(key) || found.set(key, { value, origin: 'default' }))
  const { value = '', origin = 'default' } = found.get('data.dir') ?? {}
  const directory = path.resolve(path.isAbsolute(origin) ? path.dirname(origin) : '.', value)
  found.set('data.dir', { value: directory, origin })
  set('database.url', `sqlite:${path.join(directory, 'feedback.db')}`)
  for (const key of ['database.url', 'mail.url'] as const) {
    const held = found.get(key)
    if (held)
      found.set(key, {
        ...held,
        value: absoluteUrl(held.value, path.isAbsolute(held.origin) ? path.dirname(held.origin) : '.'),
      })
  }
  set('site.url', `http://localhost:${parseListen(found.get('listen')?.value ?? '')?.port ?? 8000}`)
  const site = found.get('site.url')?.value ?? ''
  if (URL.canParse(site)) set('mail.from', `noreply@${new URL(site).hostname}`)
}

function check(key: Key, { value, origin }: Origin): void {
  const problem = settings[key].check?.(value)
  if (problem === undefined) return
  const shown = isSecret(key) ? '' : `; ${JSON.stringify(redactedUrl(value))} is not`
  throw new AppError('CONFIG_INVALID', `${key} ${problem}${shown}. It comes from ${origin}.`)
}

const contents = (file: string, origin: string): string =>
  reading(file, origin, () => readFileSync(file, 'utf8').replace(/\r?\n$/, ''))

function reading<T>(file: string, origin: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new AppError(
      'CONFIG_INVALID',
      `Cannot read ${file}, named by ${origin}: ${(error as { code?: string }).code ?? 'unknown reason'}.`,
    )
  }
}
