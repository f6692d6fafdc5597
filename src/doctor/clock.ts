import { clockOf, newestTime } from '../db/clock.js'
import { seen, type Check, type Finding } from './check.js'

/** Milliseconds that clocks may differ. */
const SKEW = 60_000
/** No clock that is right is before the program was written. */
const EARLIEST = Date.parse('2025-01-01')

const FIX = 'Set the clock, and keep it right: timedatectl set-ntp true'

export const clock: Check = {
  async look({ opened, now: started }) {
    const found = await opened()
    const db = 'app' in found ? found.app.db : undefined
    const findings: Finding[] = []
    const now = started.getTime()
    const time = new Date(now).toISOString()
    if (now < EARLIEST)
      findings.push({ severity: 'error', evidence: `The clock of this machine says ${time}.`, fix: FIX })
    const other = db && (await clockOf(db))
    if (other !== undefined && Math.abs(other - now) > SKEW)
      findings.push({
        severity: 'error',
        evidence: `The clock of the database is ${Math.round(Math.abs(other - now) / 1000)} s ${other > now ? 'ahead of' : 'behind'} this machine's.`,
        fix: FIX,
      })
    const newest = db && (await newestTime(db))
    if (newest !== undefined && Date.parse(newest) - now > SKEW)
      findings.push({
        severity: 'warning',
        evidence: `The newest event is of ${newest}, but it is ${time} now: a clock is wrong, or was.`,
        fix: FIX,
      })
    return seen(findings, time)
  },
}
