import { absoluteUrl } from '../core/addresses.js'
import { withPrompts } from './lib/prompts/prompts.js'
import { tell, type Terminal } from './lib/terminal/terminal.js'

/** Prompts for the mail settings until they work, or until the user accepts them anyway. `url` is undefined for no mail. */
export async function promptForMailUrl(
  terminal: Terminal,
  from: string,
): Promise<{ url: string | undefined; works: boolean }> {
  for (;;) {
    const url = await promptForUrl(terminal)
    if (url === undefined) return { url, works: false }
    const problem = await smtpProblem(terminal, url, from)
    if (problem === undefined) return { url, works: true }
    tell(terminal, `The connection failed: ${problem}`)
    const accepted = await withPrompts(terminal, (prompts, streams) =>
      prompts.confirm(
        { message: 'Save anyway? Mail is queued until the server can be reached.', default: false },
        streams,
      ),
    )
    if (accepted) return { url, works: false }
  }
}

/** Warns if the mail server does not work. Mail then stays in the queue. */
export async function checkMail(terminal: Terminal, url: string, from: string): Promise<boolean> {
  const problem = await smtpProblem(terminal, url, from)
  if (problem !== undefined)
    tell(terminal, `Warning: mail cannot be sent now (${problem}). It is queued, and "feedbackctl serve" keeps trying.`)
  return problem === undefined
}

async function smtpProblem(terminal: Terminal, url: string, from: string): Promise<string | undefined> {
  if (!/^smtps?:/.test(url)) return undefined
  tell(terminal, 'Checking the mail server…')
  const { mailProblem } = await import('../mail/problem.js')
  return mailProblem({ url, from })
}

async function promptForUrl(terminal: Terminal): Promise<string | undefined> {
  return withPrompts(terminal, async (prompts, streams) => {
    const method = await prompts.select(
      {
        message: 'How is mail sent?',
        choices: [
          { name: 'SMTP server', value: 'smtp' },
          { name: 'sendmail program of this machine', value: 'sendmail:' },
          { name: 'Don’t send; write mail to a folder (for testing)', value: 'folder' },
          { name: 'No mail for now: nobody signs up or resets a password', value: 'none' },
        ],
      },
      streams,
    )
    if (method === 'sendmail:') return method
    if (method === 'none') return undefined
    if (method === 'folder')
      return absoluteUrl(`folder:${await prompts.input({ message: 'Folder', default: 'mail' }, streams)}`, terminal.cwd)
    const host = await prompts.input({ message: 'SMTP host', required: true }, streams)
    const port = await prompts.number(
      {
        message: 'Port (465 for TLS, others use STARTTLS)',
        default: 587,
        min: 1,
        max: 65_535,
        required: true,
      },
      streams,
    )
    const user = await prompts.input({ message: 'SMTP user name (empty for none)' }, streams)
    const password = user === '' ? '' : await prompts.password({ message: 'SMTP password', mask: false }, streams)
    const account = user === '' ? '' : `${encodeURIComponent(user)}:${encodeURIComponent(password)}@`
    return `${port === 465 ? 'smtps' : 'smtp'}://${account}${host}:${port}`
  })
}
