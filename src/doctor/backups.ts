import path from 'node:path'
import { readFolder } from '../backup/verify.js'
import { durationOf } from '../core/durations.js'
import { oldestEvent } from '../db/events.js'
import { BACKUPS, readJobRun } from '../db/jobs.js'
import { oldAfter } from '../service/backups.js'
import { seen, type Check, type Finding } from './check.js'

const DAY = 24 * 60 * 60 * 1000

export const backups: Check = {
  needs: 'data',
  async look({ config, now, app }) {
    const { db } = await app()
    const folder = path.resolve(config.get('backup.dir') ?? '')
    const every = durationOf(config.get('backup.every') ?? 'off') || undefined
    const { backups: found, unread } = await readFolder(config)
    const newest = found.find(({ redacted }) => !redacted)
    const allowed = oldAfter(every)
    const findings: Finding[] = unread.map(({ file, why }) => ({
      severity: 'warning',
      evidence: why,
      fix: `Remove the file, or read it with the feedbackctl that wrote it: ${file}`,
    }))
    const age = (time: string) => now.getTime() - Date.parse(time)
    const run = await readJobRun(db, BACKUPS)
    if (run?.error != null)
      findings.push({
        severity: 'error',
        evidence: `The last scheduled backup failed: ${run.error}`,
        fix: 'feedbackctl backup create',
      })
    else if (newest === undefined) {
      const born = await oldestEvent(db)
      if (born !== undefined && age(born) > DAY)
        findings.push({
          severity: 'warning',
          evidence: `There is no backup in ${folder}.`,
          fix: 'feedbackctl backup create, or set backup.every',
        })
    } else if (age(newest.createdAt) > allowed)
      findings.push({
        severity: 'warning',
        evidence: `The newest backup is ${Math.floor(age(newest.createdAt) / DAY)} days old: ${newest.file}`,
        fix: 'feedbackctl backup create, or set backup.every',
      })
    return seen(findings, newest ? `The newest was made at ${newest.createdAt}: ${newest.file}` : 'There is none yet. The site is not a day old.') // prettier-ignore
  },
}
