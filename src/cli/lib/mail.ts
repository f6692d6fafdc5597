import type { App } from '../../app.js'
import type { Config } from '../../config.js'
import { absoluteUrl } from '../../core/addresses.js'
import { asking } from './ask.js'
import type { Cli } from './session.js'
import { say, type Terminal } from './terminal.js'

/** Asks how mail is sent until an answer works, or is wanted although it does not. */
export async function mailUrlAsked(terminal: Terminal, config: Config): Promise<{ url: string; works: boolean }> {
  for (;;) {
    const url = await urlAsked(terminal)
    const problem = await smtpProblem(terminal, url, config.get('mail.from') ?? '')
    if (problem === undefined) return { url, works: true }
    say(terminal, `That does not work: ${problem}`)
    if (
      await asking(terminal, (prompts, streams) =>
        prompts.confirm({ message: 'Use it all the same? Mail then waits until it works.', default: false }, streams),
      )
    )
      return { url, works: false }
  }
}

/** Warns when a mail setting that was given does not work: mail then waits in the outbox, and setup goes on. */
export async function checkMail(terminal: Terminal, url: string, from: string): Promise<boolean> {
  const problem = await smtpProblem(terminal, url, from)
  if (problem !== undefined)
    say(terminal, `Warning: mail cannot be sent now (${problem}). It waits, and "feedbackctl serve" goes on trying.`)
  return problem === undefined
}

/** After a command that queued mail: on this machine it leaves at once, since maybe no server runs here. */
export async function deliverHere(cli: Cli): Promise<void> {
  const config = await cli.config()
  if (config.get('server') !== undefined) return
  if (config.origin('site.url') === 'default')
    say(
      cli.terminal,
      `Note: links in mails start with ${config.get('site.url')}; set site.url to where people reach the site.`,
    )
  const app = await cli.open()
  if (app.base.mail) await deliverNow(cli.terminal, app, app.base.mail)
}

/** Delivers what is due, and says what could not be. */
export async function deliverNow(terminal: Terminal, app: App, mail: NonNullable<App['base']['mail']>): Promise<void> {
  const { deliverDue } = await import('../../app.js')
  const waiting = await deliverDue(app, mail, (line) => say(terminal, line))
  if (waiting)
    say(
      terminal,
      `The mail to ${waiting.recipient} could not be delivered yet: ${waiting.reason}. "feedbackctl serve" goes on trying.`,
    )
}

async function smtpProblem(terminal: Terminal, url: string, from: string): Promise<string | undefined> {
  if (!/^smtps?:/.test(url)) return undefined
  say(terminal, 'Asking the mail server …')
  const { mailProblem } = await import('../../app.js')
  return mailProblem({ url, from })
}

async function urlAsked(terminal: Terminal): Promise<string> {
  return asking(terminal, async (prompts, streams) => {
    const way = await prompts.select(
      {
        message: 'How is mail sent?',
        choices: [
          { name: 'Through an SMTP server', value: 'smtp' },
          { name: 'By the sendmail program of this machine', value: 'sendmail:' },
          { name: 'Not at all: kept as files in a folder', value: 'folder' },
        ],
      },
      streams,
    )
    if (way === 'sendmail:') return way
    if (way === 'folder')
      return absoluteUrl(`folder:${await prompts.input({ message: 'Folder', default: 'mail' }, streams)}`, terminal.cwd)
    const host = await prompts.input({ message: 'Host of the SMTP server', required: true }, streams)
    const port = await prompts.number(
      {
        message: 'Port (465 is TLS from the start; others use STARTTLS)',
        default: 587,
        min: 1,
        max: 65_535,
        required: true,
      },
      streams,
    )
    const user = await prompts.input({ message: 'User name (empty: none)' }, streams)
    const password =
      user === '' ? '' : await prompts.password({ message: 'Password of the mail account', mask: false }, streams)
    const account = user === '' ? '' : `${encodeURIComponent(user)}:${encodeURIComponent(password)}@`
    return `${port === 465 ? 'smtps' : 'smtp'}://${account}${host}:${port}`
  })
}
