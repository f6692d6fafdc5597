import { accessSync, constants, existsSync } from 'node:fs'
import { devNull } from 'node:os'
import path from 'node:path'
import envPaths from 'env-paths'
import { absoluteUrl, parseListenAddress, redactedUrl, type ListenAddress } from './core/addresses.js'
import { fromFile, NOTHING } from './core/configfiles.js'
import { withContext } from './core/contexts.js'
import { AppError } from './core/errors.js'
import { guess } from './core/guesses.js'
import { limitNames, rateOf, type Rates } from './core/limits.js'
import { flagOf, isSecret, keys, settings, variableOf, type Key } from './core/settings.js'
import { placeOf, type Attempt, type Contexts, type Layer, type Origin } from './core/sources.js'
import { valueOfFile } from './core/valuefiles.js'

/**
 * The settings as environment variables of a child process of this program, which then reads no configuration file.
 * They are those of the context already.
 */
export const environmentOf = (config: Config): Record<string, string> => ({
  FEEDBACKCTL_CONFIG: devNull,
  FEEDBACKCTL_CONFIG_SOURCE: config.file, // a backup carries it
  FEEDBACKCTL_CONTEXT: '',
  ...Object.fromEntries(
    keys.flatMap((key) => {
      if (key === 'context') return []
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

export interface Config {
  get(key: Key): string | undefined
  origin(key: Key): string
  /**
   * File that setup writes to: the one of --config, else the one that sets mail.url, else one that says where the site is
   * and may be changed, as root's is of a service, else the user's own.
   */
  file: string
  /** Whether --config or its variable named that file. */
  isChosen: boolean
  /** The file in the current folder. */
  fileHere: string
  /** The sites that the files name, of all files that are obeyed. */
  contexts: Contexts
  /** The command lines that the files name, of all files that are obeyed. */
  aliases: ReadonlyMap<string, string>
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
export async function loadConfig(from: Sources): Promise<Config> {
  const { flags, env, cwd, newFile = false, lenient = false } = from
  const directory = envPaths('feedbackctl', { suffix: '' }).config
  if (flags.config === '') throw new AppError('USAGE', '--config is empty. Give a file, or leave it out.')
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
    toml ? fromFile({ file, kind: kind(file) }, toml.parse, attempt, ignored) : NOTHING,
  )
  const contexts = new Map(fromFiles.toReversed().flatMap((each) => [...each.contexts]))
  const sources = [
    fromFlags(flags, cwd, attempt),
    fromEnvironment(env, attempt),
    fromPlatform(env),
    ...fromFiles.map((each) => each.layer),
  ]
  const layers = [...withContext(sources, { contexts, files, attempt }), defaults(env)]
  const found: Layer = new Map()
  for (const layer of layers)
    for (const [key, held] of layer) if (held.value !== '' && !found.has(key)) found.set(key, held)
  derive(found)
  for (const [key, held] of found) attempt(() => check(key, held))
  return {
    get: (key) => found.get(key)?.value,
    origin: (key) => found.get(key)?.origin ?? 'not set',
    file:
      env.FEEDBACKCTL_CONFIG_SOURCE ??
      files.find((_, index) => fromFiles[index]?.layer.has('mail.url')) ??
      files.find((file, index) => file !== here && saysWhere(fromFiles[index]) && mayReplace(file)) ??
      own,
    isChosen: Boolean(chosen),
    fileHere: here,
    contexts,
    aliases: new Map(fromFiles.toReversed().flatMap((each) => [...each.aliases])),
    directory,
    problems,
    ignored: [...ignored, ...unknownVariables(env)],
  }
}

const saysWhere = (file: { layer: Layer } | undefined): boolean =>
  file !== undefined && (file.layer.has('data.dir') || file.layer.has('database.url'))

function mayReplace(file: string): boolean {
  try {
    accessSync(path.dirname(file), constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** The address that the server listens on. */
export const listenAddress = (config: Config): ListenAddress =>
  parseListenAddress(config.get('listen') ?? '') ?? { host: '127.0.0.1', port: 8000 }

function assertThere(file: string): void {
  if (!existsSync(file)) throw new AppError('CONFIG_INVALID', `Configuration file ${file} not found.`)
}

function fromFlags(flags: Sources['flags'], cwd: string, attempt: Attempt): Layer {
  const layer: Layer = new Map()
  const read = (key: Key) => {
    const flag = flagOf(key)
    const [value, file] = [flags[flag], flags[`${flag}-file`]]
    // An unset variable of a script must not select another site
    if (value === '' || file === '')
      throw new AppError('USAGE', `--${flag}${value === '' ? '' : '-file'} is empty. Give a value, or leave it out.`)
    if (value && file) throw new AppError('USAGE', `--${flag} and --${flag}-file set the same value. Give only one.`)
    if (value) layer.set(key, { value, origin: `--${flag}` })
    else if (file)
      layer.set(key, { value: valueOfFile(path.resolve(cwd, file), `--${flag}-file`), origin: `--${flag}-file` })
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
    else if (file) layer.set(key, { value: valueOfFile(file, `${variable}_FILE`), origin: `${variable}_FILE` })
    else if (credential && existsSync(credential))
      layer.set(key, { value: valueOfFile(credential, 'CREDENTIALS_DIRECTORY'), origin: `systemd credential ${key}` })
  }
  for (const key of keys) attempt(() => read(key))
  return layer
}

/** Read elsewhere in the program, or by its tests. */
const OTHER_VARIABLES = /^FEEDBACKCTL_(CONFIG|CONFIG_SOURCE|WORKER|FAMILY|SOCKETS|FAULTS|TEST_\w+)$/

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

/** The folder that a path is relative to. */
const folderOf = ({ origin }: Origin): string => (path.isAbsolute(origin) ? path.dirname(origin) : '.')

/** Adds defaults that depend on other settings, and makes paths absolute. Paths in a file are relative to that file. */
function derive(found: Map<Key, Origin>): void {
  const set = (key: Key, value: string) => void (found.has(key) || found.set(key, { value, origin: 'default' }))
  const { value = '', origin = 'default' } = found.get('data.dir') ?? {}
  const directory = path.resolve(folderOf({ value, origin }), value)
  found.set('data.dir', { value: directory, origin })
  const root = found.get('web.root')
  if (root) found.set('web.root', { ...root, value: path.resolve(folderOf(root), root.value) })
  const backups = found.get('backup.dir')
  if (backups)
    found.set('backup.dir', {
      ...backups,
      value: path.resolve(path.isAbsolute(backups.origin) ? path.dirname(backups.origin) : '.', backups.value),
    })
  set('backup.dir', path.join(directory, 'backups'))
  set('database.url', `sqlite:${path.join(directory, 'feedback.db')}`)
  for (const key of ['database.url', 'mail.url'] as const) {
    const held = found.get(key)
    if (held)
      found.set(key, {
        ...held,
        value: absoluteUrl(held.value, folderOf(held)),
      })
  }
  const listen = found.get('listen')
  const at = parseListenAddress(listen?.value ?? '') ?? { port: 8000 }
  if (listen && 'socket' in at) {
    found.set('listen', { ...listen, value: absoluteUrl(listen.value, folderOf(listen)) })
    // Only a proxy on this machine connects there
    if (found.get('trust-proxy')?.origin === 'default')
      found.set('trust-proxy', { value: 'loopback', origin: 'default' })
  }
  set('site.url', 'socket' in at ? 'http://localhost' : `http://localhost:${at.port}`)
  const site = found.get('site.url')?.value ?? ''
  if (URL.canParse(site)) set('mail.from', senderAt(site))
}

/** The default of `mail.from`. */
export const senderAt = (siteUrl: string): string => `noreply@${new URL(siteUrl).hostname}`

function check(key: Key, { value, origin, line }: Origin): void {
  const problem = settings[key].check?.(value)
  if (problem === undefined) return
  const shown = isSecret(key) ? '' : `; ${JSON.stringify(redactedUrl(value))} is not`
  throw new AppError(
    'CONFIG_INVALID',
    `${key} ${problem}${shown}. It comes from ${origin}${line === undefined ? '' : `, line ${line}`}.`,
    {
      place: placeOf({ origin, line }),
    },
  )
}
