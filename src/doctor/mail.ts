import { counted } from '../core/text.js'
import { lateDeliveries } from '../db/deliveries.js'
import { countSuppressed } from '../db/mailbounces.js'
import { mailProblem } from '../mail/problem.js'
import { seen, type Check, type Finding } from './check.js'

/** Milliseconds after which a mail that is due should have been sent. */
const LATE = 60 * 60 * 1000

export const mail: Check = {
  async look({ config, offline, now, opened }) {
    const url = config.get('mail.url')
    if (url === undefined)
      return {
        findings: [
          {
            severity: 'warning',
            evidence: 'mail.url is not set: nobody can sign up, or get a link for a new password.',
            fix: 'feedbackctl help mail-url',
          },
        ],
      }
    const findings: Finding[] = []
    const isServer = /^smtps?:/.test(url)
    const problem = isServer && !offline ? await mailProblem({ url, from: config.get('mail.from') ?? '' }) : undefined
    if (problem !== undefined)
      findings.push({
        severity: 'error',
        evidence: `The mail server ${new URL(url).host} does not take mail: ${problem}`,
        fix: 'feedbackctl mail test',
      })
    const isPublic = config.get('site.url')?.startsWith('https:')
    if (url.startsWith('folder:') && isPublic)
      findings.push({
        severity: 'warning',
        evidence: `Mail is written to the folder ${url.slice('folder:'.length)} and reaches nobody.`,
        fix: 'Set mail.url to a mail server. "feedbackctl help mail-url" says how.',
      })
    const found = await opened()
    if ('app' in found) {
      const refused = await countSuppressed(found.app.db)
      if (refused > 0)
        findings.push({
          severity: 'warning',
          evidence: `Mail to ${counted(refused, 'account')} came back: no notification is mailed there.`,
          fix: 'feedbackctl mail suppressed list',
        })
      const { late, reason } = await lateDeliveries(found.app.db, 'mail', new Date(now.getTime() - LATE).toISOString())
      if (late > 0)
        findings.push({
          severity: 'warning',
          evidence: `${counted(late, 'mail')} should have been sent more than an hour ago.${reason === null ? ' No server has tried to.' : ` The last failure: ${reason}`}`,
          fix: reason === null ? 'feedbackctl serve' : 'feedbackctl mail queue list',
        })
    }
    const how = isServer ? (offline ? 'was not asked (--offline)' : 'takes mail') : 'is not asked'
    return seen(findings, isServer ? `The mail server ${new URL(url).host} ${how}.` : `Mail goes to ${url}`)
  },
}
