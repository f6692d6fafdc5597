import { hostname } from 'node:os'
import { localCall } from '../app/call.js'
import { isOlder } from '../core/versions.js'
import { neighbours } from '../process/neighbours.js'
import * as operations from '../service/site.js'
import { seen, type Check, type Finding } from './check.js'

export const servers: Check = {
  needs: 'data',
  async look({ app, file, version, config }) {
    const all = (await localCall(await app())(operations.overview, {})).servers
    const running = all.filter(isRunning)
    const findings: Finding[] = []
    for (const each of running.filter((server) => server.version !== version))
      findings.push({
        severity: 'warning',
        evidence: `The server with pid ${each.pid} on ${each.host} runs version ${each.version}. This is ${version}.`,
        fix: isOlder(each.version, version) ? `Restart it to run ${version}.` : `Use version ${each.version} of this program.`, // prettier-ignore
      })
    const away = running.filter(({ host }) => host !== hostname())
    if (file !== undefined && away.length > 0)
      findings.push({
        severity: 'error',
        evidence: `A server on another machine uses this SQLite file: pid ${away[0]?.pid} on ${away[0]?.host}.`,
        fix: 'Stop all but one, or use PostgreSQL, which several machines can share.',
      })
    const here = neighbours(file).filter(({ pid }) => !running.some((each) => each.pid === pid && each.host === hostname())) // prettier-ignore
    for (const each of here.filter(({ isSame }) => isSame === true))
      findings.push({
        severity: 'warning',
        evidence: `The process ${each.pid} has the database open, but does not say that it serves the site.`,
        fix: `ps -fp ${each.pid}`,
      })
    if (
      running.length === 0 &&
      config.get('site.url')?.startsWith('https:') &&
      here.every(({ isSame }) => isSame === false)
    )
      findings.push({ severity: 'warning', evidence: 'Nobody serves the site.', fix: 'feedbackctl serve' })
    return seen(findings, running.length === 0 ? 'Nobody serves the site.' : running.map(({ url, pid, host }) => `${url}, pid ${pid} on ${host}`).join('; ')) // prettier-ignore
  },
}

/** A server that was killed is in the database for some minutes more. Only its own machine can tell. */
function isRunning({ host, pid }: operations.Server): boolean {
  if (host !== hostname()) return true
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM' // of another user
  }
}
