import type { Config } from '../config.js'
import { AppError } from '../core/errors.js'
import { countSessions, deleteAllSessions } from '../db/sessions.js'
import { countTotp } from '../db/totp.js'
import { lazySecrets, replaceSecret, rotateSecret, secretFile } from '../secret.js'
import { change } from '../service/lib/change.js'
import { assertSecretFits, bindSecret } from '../service/lib/tokens.js'
import { operatorContext } from './call.js'
import type { App } from './open.js'

export { exposedSecret, secretFile } from '../secret.js'

/** What a new secret invalidates: open sessions, and authenticator apps. */
export const lossOfSecret = async ({ base: { db, now } }: App): Promise<{ sessions: number; apps: number }> => ({
  sessions: await countSessions(db, now().toISOString()),
  apps: await countTotp(db),
})

/**
 * Gives the site another secret: the setting, or a new one in the data folder. Every session ends. A server that runs
 * notices a new file within a second; with the setting it keeps the old secret until it is started again.
 */
export async function resetSecret(app: App, config: Config): Promise<void> {
  if (config.get('secret') === undefined) replaceSecret(config)
  const secrets = lazySecrets(config, { isBound: true })
  await change({ ...operatorContext(app), ...secrets }, async (tx) => {
    await bindSecret(tx)
    await deleteAllSessions(tx.db)
    tx.record('site.secret_replaced', 'site')
  })
}

/**
 * Replaces the secret in the data folder, and returns its file. Tokens of the old one are verified for some hours more.
 * Servers that read the file notice within seconds. A dry run checks the same.
 */
export async function rotateSecretFile(
  app: App,
  config: Config,
  { hours, dryRun = false }: { hours: number; dryRun?: boolean },
): Promise<string> {
  if (config.get('secret') !== undefined)
    throw new AppError(
      'USAGE',
      `The secret is the setting "secret" (from ${config.origin('secret')}), which this command cannot change. Set another one, then run "feedbackctl secret new": everyone has to sign in again.`,
    )
  await assertSecretFits(app.base)
  if (dryRun) return secretFile(config)
  const previous = app.base.secret()
  rotateSecret(config, new Date(app.base.now().getTime() + hours * 60 * 60 * 1000))
  await bindSecret({ db: app.db, ...lazySecrets(config, { isBound: true }) }, previous)
  return secretFile(config)
}
