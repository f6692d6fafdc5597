import { redactedUrl } from '../core/addresses.js'
import type { AppError, ErrorCode } from '../core/errors.js'
import { damageOf } from '../db/integrity.js'
import { findOwner } from '../db/users.js'
import type { Check, Finding } from './check.js'

const FIXES: Partial<Record<ErrorCode, string>> = {
  SITE_NOT_FOUND: 'feedbackctl setup, or --data-dir FOLDER where the site is',
  DATABASE_MISSING: 'feedbackctl backup list, then: feedbackctl restore FILE',
  DATABASE_UNUSABLE: 'feedbackctl doctor files disk',
  DATABASE_UNREACHABLE: 'Start the database, or check database.url: feedbackctl config list --show-origin',
  STORAGE_FULL: 'feedbackctl doctor disk',
  UNSUPPORTED_NODE: 'feedbackctl doctor runtime',
  CONFIG_INVALID: 'feedbackctl config list --show-origin',
}

const RESTORE = 'Stop "feedbackctl serve". Then run "feedbackctl backup list" and "feedbackctl restore FILE".'

/** Remedies for a database that does not open, or fails while a check reads it. */
export const fixOf = ({ code, reason }: AppError): string | undefined =>
  reason === 'database-damaged' ? RESTORE : FIXES[code]

export const database: Check = {
  async look({ config, file, opened }) {
    const where = redactedUrl(file ?? config.get('database.url') ?? '')
    const found = await opened()
    if ('app' in found && !(await findOwner(found.app.db)))
      return {
        findings: [{ severity: 'warning', evidence: `The site is not set up: ${where}`, fix: 'feedbackctl setup' }],
      }
    if ('app' in found) return { evidence: `${where}, schema ${found.schema}` }
    return { findings: [{ severity: 'error', ...('problem' in found ? broken(found.problem) : other(found, file)) }] }
  },
}

const broken = (problem: AppError): Pick<Finding, 'evidence' | 'fix'> => ({
  evidence: problem.why === undefined ? problem.message : `${problem.message} ${problem.why}.`,
  fix: fixOf(problem) ?? 'feedbackctl status --debug',
})

function other(
  { schema, state }: { schema: string | undefined; state: 'outdated' | 'newer' },
  file: string | undefined,
): Pick<Finding, 'evidence' | 'fix'> {
  if (state === 'newer')
    return {
      evidence: `The schema is ${schema}, of a newer feedbackctl. This one could damage it.`,
      fix: 'Install the newer version, or restore a backup made by this one.',
    }
  if (schema === undefined)
    return { evidence: 'The database has no tables of feedbackctl.', fix: 'feedbackctl migrate' }
  return {
    evidence: `The schema is ${schema}, older than this program.${file === undefined ? '' : ' The next command that opens the site updates it.'}`,
    fix: 'feedbackctl backup create, then: feedbackctl migrate',
  }
}

export const integrity: Check = {
  isDeep: true,
  needs: 'data',
  async look({ app }) {
    const { db } = await app()
    const damage = await damageOf(db)
    if (damage.length === 0) return { evidence: 'No damage found.' }
    return {
      findings: damage.map((evidence) => ({
        severity: 'error',
        evidence,
        fix: RESTORE,
      })),
    }
  },
}
