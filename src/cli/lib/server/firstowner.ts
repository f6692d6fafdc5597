import type { Logger } from 'pino'
import type { App } from '../../../app/open.js'
import { parseListen, shownAddress } from '../../../core/addresses.js'
import type { Config } from '../../../config.js'
import { AppError } from '../../../core/errors.js'
import { isLoopback } from '../../../service/lib/clients.js'
import * as site from '../../../service/site.js'
import { containerCommand } from '../texts/commandline.js'

/**
 * Makes the owner of a site that has none, if setup.email says who it is: a container or a service has no terminal on
 * which setup could ask. Later starts do nothing. Throws CONFIG_INVALID, so that a service manager does not try again.
 */
export async function makeFirstOwner(app: App, config: Config, log: Pick<Logger, 'info'>): Promise<void> {
  const email = config.get('setup.email')
  if (email === undefined) return
  const { localCall } = await import('../../../app/call.js')
  const call = localCall(app)
  if ((await call(site.status, {})).is_setup) return
  const password = config.get('setup.password')
  const missing = [
    ...(password === undefined ? ['FEEDBACKCTL_SETUP_PASSWORD_FILE (or setup.password)'] : []),
    ...(app.base.mail ? [] : ['FEEDBACKCTL_MAIL_URL (or mail.url)']),
  ]
  const from = `setup.email (from ${config.origin('setup.email')})`
  if (password === undefined || missing.length > 0)
    throw new AppError('CONFIG_INVALID', `This site has no owner yet. To make it of ${from}, serve needs ${missing.join(' and ')} too.`) // prettier-ignore
  const { assertUncommonPassword } = await import('../../../service/lib/passwords.js')
  try {
    await assertUncommonPassword(password)
    await call(site.setup, {
      email,
      password,
      siteTitle: config.get('setup.site-title'),
      name: config.get('setup.name'),
    })
    log.info(`made the owner of this site from ${from}`)
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error
    if (error.code === 'SETUP_COMPLETED') return // another server was faster
    throw new AppError('CONFIG_INVALID', `Cannot make the owner of this site from ${from}: ${error.message}`, { cause: error }) // prettier-ignore
  }
}

const VARIABLES = 'FEEDBACKCTL_SETUP_EMAIL, FEEDBACKCTL_SETUP_PASSWORD_FILE and FEEDBACKCTL_MAIL_URL'

interface Place {
  env: Record<string, string | undefined>
  /** The address at which the server listens. */
  at?: string | undefined
  /** Whether a service manager opened the socket: it need not be at the address of `listen`. */
  isInherited: boolean
}

/** Logs what keeps a site from being used, or makes it unsafe. */
export async function warnAbout(
  app: App,
  config: Config,
  log: Pick<Logger, 'warn'>,
  { env, at, isInherited }: Place,
): Promise<void> {
  const [{ localCall }, { exposedSecret }, { listenAddress }] = await Promise.all([
    import('../../../app/call.js'),
    import('../../../app/secret.js'),
    import('../../../config.js'),
  ])
  const { is_setup } = await localCall(app)(site.status, {})
  if (!is_setup) {
    const token = app.base.setupToken === undefined ? '' : ' with the token of setup.token'
    const address = app.base.siteUrl.replace(/:0(?=\/|$)/, () => (at === undefined ? ':0' : `:${new URL(at).port}`))
    const by =
      config.get('web.enabled') === 'false' ? `POST ${address}/api/v1/auth/setup` : `open ${address} to set it up`
    const inside = containerCommand(env, 'exec -it')
    const command = inside === undefined ? 'feedbackctl setup' : `${inside} feedbackctl setup`
    log.warn(
      `this site has no owner yet: ${by}${token}, or run "${command}" on this machine${inside ? `, or start it with ${VARIABLES}` : ''}`,
    )
    const place = at === undefined ? shownAddress(listenAddress(config)) : at.replace('http://', '')
    const isUnknown = isInherited && at === undefined
    if (token === '' && (isUnknown || isReachedByOthers(place)))
      log.warn(
        `DANGER: anyone who reaches ${isUnknown ? 'the inherited socket' : place} first can become the owner of this site. Run "${command}" now, or set setup.token, or listen on 127.0.0.1 until then`,
      )
  }
  if (!app.base.mail) log.warn('mail is not configured: set mail.url (feedbackctl help mail-url)')
  const file = exposedSecret(config)
  if (file !== undefined) log.warn(`everybody on this machine can read the secret: run "chmod 600 ${file}"`)
}

/** Whether other machines reach the server at this address, which is as `listen` takes it. */
function isReachedByOthers(address: string): boolean {
  if (address.startsWith('unix:')) return false
  const { host = '' } = parseListen(address) ?? {}
  return host !== 'localhost' && !isLoopback(host)
}
