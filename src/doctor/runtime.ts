import { isPostgres } from '../db/connect.js'
import { nativeVersion } from '../db/sqlite/binding.js'
import { seen, type Check, type Finding } from './check.js'

/** The oldest Node that the program is made for. */
const OLDEST = [20, 19] as const

const REINSTALL = 'Install feedbackctl again ("npm ci") on this machine, with this Node.'

export const runtime: Check = {
  async look({ config, version }) {
    const findings: Finding[] = []
    const { node } = process.versions
    const [major = 0, minor = 0] = node.split('.').map(Number)
    if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]))
      findings.push({
        severity: 'error',
        evidence: `This is Node ${node}. feedbackctl needs ${OLDEST.join('.')} or newer.`,
        fix: 'Install a newer Node.',
      })
    // Accounts need it on both engines. It brings its own module for each machine.
    const argon = await import('@node-rs/argon2').then(
      () => undefined,
      (error: unknown) => error as Error,
    )
    if (argon)
      findings.push({
        severity: 'error',
        evidence: `Passwords cannot be checked: the module @node-rs/argon2 does not load on ${process.platform} ${process.arch}.`,
        fix: REINSTALL,
      })
    let sqlite = ''
    try {
      if (!isPostgres(config.get('database.url') ?? '')) sqlite = `, SQLite ${nativeVersion()}`
    } catch (error) {
      findings.push({ severity: 'error', evidence: (error as Error).message, fix: REINSTALL })
    }
    return seen(findings, `feedbackctl ${version}, Node ${node} on ${process.platform} ${process.arch}${sqlite}`)
  },
}
