import type { App } from '../../../app/open.js'
import { tell, type Terminal } from '../terminal/terminal.js'
import type { Cli } from './session.js'

/** Delivers mail that a local command queued, as no server may be running. */
export async function deliverLocally(cli: Cli): Promise<void> {
  const config = await cli.config()
  if (config.get('server') !== undefined) return
  if (config.origin('site.url') === 'default')
    tell(
      cli.terminal,
      `Note: links in mails start with ${config.get('site.url')}. Set site.url to the public URL of the site.`,
    )
  const app = await cli.open()
  if (app.base.mail) await deliverOutbox(cli.terminal, app, app.base.mail)
}

/** Delivers what this command queued, and prints why a mail could not be delivered. */
export async function deliverOutbox(
  terminal: Terminal,
  app: App,
  mail: NonNullable<App['base']['mail']>,
): Promise<void> {
  const { deliverSince } = await import('../../../delivery/due.js')
  const failed = await deliverSince(app.openedAt, app.base, mail, (line) => tell(terminal, line))
  if (!failed) return
  const { recipient, reason } = failed
  tell(terminal, `The mail to ${recipient} is not delivered yet: ${reason}. "feedbackctl serve" keeps trying.`)
}
