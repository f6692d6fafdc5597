import type { App } from '../app/open.js'
import { AppError } from '../core/errors.js'
import { lastNumber } from '../db/counters.js'
import type { Check, CheckId, Finding, OnProgress, Seen, Site } from './check.js'
import { audit } from './audit.js'
import { backups } from './backups.js'
import { clock } from './clock.js'
import { config } from './config.js'
import { counters } from './counters.js'
import { database, fixOf, integrity } from './database.js'
import { disk } from './disk.js'
import { files } from './files.js'
import { forwarded } from './forwarded.js'
import { leftovers } from './leftovers.js'
import { mail } from './mail.js'
import { NAMES } from './names.js'
import { runtime } from './runtime.js'
import { search } from './search.js'
import { secret } from './secret.js'
import { servers } from './servers.js'
import { tls } from './tls.js'
import { address, page, transfer } from './web.js'

export type { Mend } from './check.js'
export { siteOf } from './site.js'

const CHECKS: Readonly<Record<CheckId, Check>> = {
  runtime,
  config,
  files,
  leftovers,
  disk,
  clock,
  database,
  integrity,
  counters,
  search,
  secret,
  audit,
  mail,
  backups,
  servers,
  page,
  address,
  tls,
  forwarded,
  transfer,
}

export const checkIds = Object.keys(NAMES) as CheckId[]
export const isCheck = (name: string): name is CheckId => Object.hasOwn(NAMES, name)

/** A line of the result: a finding, or a check without any. */
export type Result = { id: CheckId; title: string } & (
  ({ severity: 'warning' | 'error' } & Finding) | { severity: 'ok' | 'skipped'; evidence: string; fix: null }
)

/** Runs checks one after another, in their order. `onProgress` is called before each, with how many of all are done. */
export async function examine(
  site: Site,
  ids: readonly CheckId[],
  onProgress: (id: CheckId, done: number, all: number) => void,
): Promise<Result[]> {
  const results: Result[] = []
  let away: CheckId | undefined
  const chosen = checkIds.filter((id) => ids.includes(id) && (CHECKS[id].needs !== 'url' || site.url !== undefined))
  for (const [done, id] of chosen.entries()) {
    onProgress(id, done, chosen.length)
    const title = NAMES[id]
    const isAway = away !== undefined && CHECKS[id].needs === 'url'
    const why = isAway ? `Needs the site: see the check "${away}".` : await unfit(site, CHECKS[id])
    if (why === undefined && CHECKS[id].isDeep && !site.deep && (await isLarge(await site.app()))) {
      const evidence = `Not checked, as the site has more than ${LARGE.toLocaleString('en')} posts. Run "feedbackctl doctor --deep".`
      results.push({ id, title, severity: 'skipped', evidence, fix: null })
      continue
    }
    if (why !== undefined) {
      results.push({ id, title, severity: 'skipped', evidence: why, fix: null })
      continue
    }
    const { isUnreachable, ...found } = await attempt(site, CHECKS[id], (part) =>
      onProgress(id, done + part, chosen.length),
    )
    if (isUnreachable) away = id
    if ('findings' in found) results.push(...found.findings.map((finding) => ({ id, title, ...finding })))
    else if ('skipped' in found) results.push({ id, title, severity: 'skipped', evidence: found.skipped, fix: null })
    else results.push({ id, title, severity: 'ok', evidence: found.evidence, fix: null })
  }
  return results
}

/** Of more posts than that, a check of all rows takes longer than a person waits. */
const LARGE = 10_000

const isLarge = async ({ db }: Pick<App, 'db'>): Promise<boolean> => (await lastNumber(db)) > LARGE

/** Why a check cannot run. */
async function unfit(site: Site, { needs }: Check): Promise<string | undefined> {
  if (needs === 'url' && site.offline) return 'Not with --offline.'
  if (needs === 'data' && !('app' in (await site.opened()))) return 'Needs the database: see the check "database".'
  return undefined
}

/** A check that fails is a finding: the others still run. */
async function attempt(
  site: Site,
  { look }: Check,
  onProgress: OnProgress,
): Promise<Seen & { isUnreachable?: boolean }> {
  try {
    return await look(site, onProgress)
  } catch (error) {
    const isUnreachable = error instanceof AppError && error.code === 'SERVER_UNREACHABLE'
    const evidence = error instanceof AppError ? error.message : `The check failed: ${(error as Error).message}`
    const known = error instanceof AppError ? fixOf(error) : undefined
    const fix = isUnreachable ? 'Check the name of the host, and whether the proxy runs.' : (known ?? 'feedbackctl doctor --debug') // prettier-ignore
    return { isUnreachable, findings: [{ severity: 'error', evidence, fix }] }
  }
}
