import path from 'node:path'
import type { Command } from 'commander'
import type { Config } from '../../../config.js'
import { absoluteUrl } from '../../../core/addresses.js'
import { PLACES } from '../../../core/contexts.js'
import { AppError } from '../../../core/errors.js'
import { quoted } from '../../../core/text.js'
import type { Key } from '../../../core/settings.js'
import type { Context } from '../../../core/sources.js'
import { withPrompts } from '../prompts/prompts.js'
import { canPrompt, whyNoPrompts, type Terminal } from '../terminal/terminal.js'
import { databaseKey, fileKey, serverKey } from './places.js'
import type { Cli } from './session.js'
import { databaseIn, targetOf, type Places } from './target.js'

interface Flags {
  dryRun?: boolean
  fix?: boolean
  confirm?: string
  input?: boolean
}

/** Commands that can change something without changing a site. */
const NO_SITE = ['config', 'context', 'alias', 'service']

/**
 * Asks for the name of a protected site before a command changes it, however the site was chosen: the one that the
 * words of the command name, or else the configured one. Every command that changes something has --dry-run.
 */
export async function guardProtected(cli: Cli, command: Command, names: readonly string[]): Promise<void> {
  const flags = command.optsWithGlobals<Flags>()
  if (flags.dryRun === true || !changes(command, names, flags)) return
  const config = await cli.reload({ lenient: true, newFile: true })
  const { env } = cli.terminal
  const target = await targetOf(cli.terminal, command)
  await assertConfirmed(cli.terminal, flags, target ? siteAt(config, target, env) : siteOf(config, env))
}

function changes(command: Command, names: readonly string[], { fix }: Flags): boolean {
  const [branch = ''] = names
  if (NO_SITE.includes(branch) || !command.options.some(({ long }) => long === '--dry-run')) return false
  if (branch === 'doctor') return fix === true
  const [method = 'GET'] = (command.args[0] ?? 'GET').split(' ')
  return branch !== 'api' || !(method.toUpperCase() === 'GET' || method.startsWith('/'))
}

interface Site {
  /** The context that is used, or that names the same site. */
  name: string | undefined
  isProtected: boolean
}

/** The context of a command, or a protected one that means the same server or database. */
function siteOf(config: Config, env: Terminal['env']): Site {
  const chosen = config.get('context')
  const used = chosen === undefined ? undefined : config.contexts.get(chosen)
  if (used?.isProtected) return { name: chosen, isProtected: true }
  const there = siteAt(config, placesOf(config), env)
  return there.isProtected ? there : { name: chosen, isProtected: false }
}

/** The context of a site. If several contexts name it, a protected one comes first. */
function siteAt({ contexts }: Config, places: Places, env: Terminal['env']): Site {
  const keys = keysOf(places, env)
  const same = [...contexts].filter(([, each]) => isAt(keys, each, env))
  const [name, context] = same.find(([, { isProtected }]) => isProtected) ?? same[0] ?? []
  return { name, isProtected: context?.isProtected === true }
}

const placesOf = (config: Config): Places => ({
  server: config.get('server'),
  folder: config.get('data.dir'),
  database: config.get('database.url'),
})

function isAt(keys: ReadonlySet<string>, { settings, file }: Context, env: Terminal['env']): boolean {
  const base = path.dirname(file)
  const held = (key: Key) => settings.get(key)?.value || undefined
  const [dir, url] = [held('data.dir'), held('database.url')]
  const folder = dir && path.resolve(base, dir)
  const database = url ? absoluteUrl(url, base) : folder && databaseIn(folder)
  return [...keysOf({ server: held('server'), folder, database }, env)].some((key) => keys.has(key))
}

function keysOf({ server, folder, database }: Places, env: Terminal['env']): Set<string> {
  if (server !== undefined) return new Set([serverKey(server)])
  return new Set([...(folder ? [fileKey(folder)] : []), ...(database ? [databaseKey(database, env)] : [])])
}

/** Throws unless the name of a protected site was given or is typed. --yes does not stand for it. */
export async function assertConfirmed(terminal: Terminal, flags: Flags, { name, isProtected }: Site): Promise<void> {
  const { confirm: given } = flags
  if (given !== undefined && given !== name)
    throw new AppError('CONFIRMATION_NEEDED', `--confirm is ${quoted(given)}, but the command changes ${name === undefined ? 'a site without a name' : quoted(name)}. Nothing was changed.`, { reason: 'protected', place: isProtected ? name : undefined }) // prettier-ignore
  if (!isProtected || name === undefined || given === name) return
  if (!canPrompt(terminal, flags))
    throw new AppError('CONFIRMATION_NEEDED', `${quoted(name)} is protected, and --yes is not enough to change it. Pass --confirm ${name}. Nothing was changed.`, { reason: 'protected', place: name, why: `its name cannot be asked for: ${whyNoPrompts(terminal)}` }) // prettier-ignore
  const typed = await withPrompts(terminal, (prompts, streams) =>
    prompts.input({ message: `${quoted(name)} is protected. Type its name to change it:` }, streams),
  )
  if (typed.trim() !== name) throw new AppError('CANCELED', `"${typed.trim()}" is not ${quoted(name)}. Cancelled. Nothing was changed.`) // prettier-ignore
}

/** The place of a context, and whether it is a server. */
export const placeIn = (settings: Context['settings']): { key: Key; value: string } | undefined => {
  const key = PLACES.find((each) => (settings.get(each)?.value ?? '') !== '')
  return key && { key, value: settings.get(key)?.value ?? '' }
}
