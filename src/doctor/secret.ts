import { readSettings } from '../db/settings.js'
import { hasSecret, secretFile } from '../secret.js'
import { isBoundToAnother } from '../service/lib/tokens.js'
import type { Check } from './check.js'

const FIX = 'Restore the original one. If it is lost, run "feedbackctl secret new": everyone has to sign in again.'

export const secret: Check = {
  async look({ config, opened }) {
    const file = secretFile(config)
    const found = await opened()
    const app = 'app' in found ? found.app : undefined
    const origin = config.get('secret') === undefined ? file : `the setting "secret" (from ${config.origin('secret')})`
    if (!hasSecret(config)) {
      const isBound = app !== undefined && (await readSettings(app.db)).secretFingerprint !== null
      if (!isBound) return { evidence: 'There is none yet. The first command that needs one makes it.' }
      return { findings: [{ severity: 'error', evidence: `${file} is missing. Nobody can sign in.`, fix: FIX }] }
    }
    if (app === undefined) return { evidence: `It is in ${origin}.` }
    try {
      app.base.secret()
    } catch (error) {
      return { findings: [{ severity: 'error', evidence: (error as Error).message, fix: FIX }] }
    }
    if (await isBoundToAnother(app.base))
      return {
        findings: [
          {
            severity: 'error',
            evidence: `The database was set up with another secret than that in ${origin}. "serve" does not start with it.`,
            fix: FIX,
          },
        ],
      }
    return { evidence: `The database was set up with the secret in ${origin}.` }
  },
}
