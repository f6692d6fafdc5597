import { senderAt, type Config } from '../config.js'
import { AppError } from '../core/errors.js'
import { settings } from '../core/settings.js'
import { assertNewPassword, assertUncommonPassword } from '../service/lib/passwords.js'
import { assertEmail } from '../service/lib/emails.js'
import type { Cli } from './lib/connection/session.js'
import type { Source } from './lib/flags/options.js'
import type { OutputFlags } from './lib/output/output.js'
import { inputMissing, problemOf, promptForNewPassword, readSource, readsStdin } from './lib/prompts/inputs.js'
import { withPrompts } from './lib/prompts/prompts.js'
import { canPrompt, type Terminal } from './lib/terminal/terminal.js'
import { checkMail, promptForMailUrl } from './mailprompts.js'

export interface Flags extends OutputFlags {
  ifNeeded?: boolean
  password?: Source
  /** False: none is asked for. */
  board?: string | boolean
  statuses?: boolean
  /** False: the site has no mail. */
  mail?: boolean
  dryRun?: boolean
  input?: boolean
}

interface Answers {
  siteTitle: string | undefined
  name: string | undefined
  email: string
  password: string
  /** Both are absent unless they are wanted: an earlier server does not know them. */
  board?: string
  statuses?: true
}

export interface Gathered {
  answers: Answers
  /** Written to the configuration file; undefined if the setting comes from the environment or a file, or for no mail. */
  mailUrl: string | undefined
  mailWorks: boolean
  mailFrom: string
  /** Written to the configuration file; undefined if nobody was asked, or chose the default. */
  siteUrl?: string | undefined
  generated: string | undefined
}

/** What setup needs: from options and settings, and on a terminal from prompts. */
export async function gather(cli: Cli, config: Config, flags: Flags, remote: boolean): Promise<Gathered> {
  const { terminal } = cli
  const given = {
    siteTitle: config.get('setup.site-title'),
    name: config.get('setup.name'),
    email: config.get('setup.email'),
  }
  const password = flags.password ? await readSource(terminal, flags.password) : config.get('setup.password')
  const generated = flags.password?.kind === 'random' ? password : undefined
  const isMailGiven = config.get('mail.url') !== undefined
  if (isMailGiven && flags.mail === false)
    throw new AppError(
      'USAGE',
      `--no-mail contradicts mail.url (from ${config.origin('mail.url')}). Leave one of them out.`,
    )
  const needsMail = !remote && !isMailGiven && flags.mail !== false
  if (given.email !== undefined) assertEmail(given.email)
  if (password !== undefined) {
    assertNewPassword(password)
    await assertUncommonPassword(password)
  }
  const interactive = canPrompt(terminal, flags) && !readsStdin(flags.password)
  if (!interactive) assertComplete(terminal, given.email, password, needsMail)

  const text = (message: string, preset: string) =>
    withPrompts(terminal, (prompts, streams) => prompts.input({ message, default: preset }, streams))
  const complete = given.email !== undefined && password !== undefined && !needsMail
  const siteTitle = given.siteTitle ?? (interactive && !complete ? await text('Site title', 'Feedback') : undefined)
  const email =
    given.email ??
    (await withPrompts(terminal, (prompts, streams) =>
      prompts.input(
        {
          message: 'Your e-mail address',
          required: true,
          validate: async (typed) => (await problemOf(() => assertEmail(typed))) ?? true,
        },
        streams,
      ),
    ))
  const name = given.name ?? (interactive && !complete ? await text('Your name', 'Owner') : undefined)
  const asked = flags.board ?? (interactive && !complete ? await text('First board', 'Ideas') : false)
  const board = typeof asked === 'string' ? asked.trim() : ''
  const statuses = flags.statuses ?? (interactive && !complete ? await wantsStatuses(terminal) : false)
  const answers: Answers = {
    siteTitle,
    name,
    email,
    ...(board !== '' && { board }),
    ...(statuses && { statuses }),
    password: password ?? (await promptForNewPassword(terminal)),
  }
  if (remote) return { answers, mailUrl: undefined, mailWorks: false, mailFrom: '', generated }
  const siteUrl = interactive && !complete ? await siteAddress(terminal, config) : undefined
  const mailFrom = siteUrl !== undefined && config.origin('mail.from') === 'default' ? senderAt(siteUrl) : (config.get('mail.from') ?? '') // prettier-ignore
  if (needsMail) {
    const { url, works } = await promptForMailUrl(terminal, mailFrom)
    return { answers, mailUrl: url, mailWorks: works, mailFrom, siteUrl, generated }
  }
  const mailUrl = config.get('mail.url')
  if (mailUrl === undefined) return { answers, mailUrl, mailWorks: false, mailFrom, siteUrl, generated }
  const mailWorks = await checkMail(terminal, mailUrl, mailFrom)
  return {
    answers,
    mailUrl: config.origin('mail.url').startsWith('--') ? mailUrl : undefined,
    mailWorks,
    mailFrom,
    siteUrl,
    generated,
  }
}

/** The links in mails begin with it, and that of setup is the first. */
async function siteAddress(terminal: Terminal, config: Config): Promise<string | undefined> {
  if (config.origin('site.url') !== 'default') return undefined
  const preset = config.get('site.url') ?? ''
  const typed = await withPrompts(terminal, (prompts, streams) =>
    prompts.input(
      {
        message: 'Address of the site',
        default: preset,
        validate: (given) => {
          const problem = given === preset ? undefined : settings['site.url'].check?.(given)
          return problem === undefined || `The address ${problem}.`
        },
      },
      streams,
    ),
  )
  return typed === preset ? undefined : typed
}

const wantsStatuses = (terminal: Terminal) =>
  withPrompts(terminal, (prompts, streams) =>
    prompts.confirm({ message: 'Create the four usual statuses of posts?', default: true }, streams),
  )

function assertComplete(
  terminal: Terminal,
  email: string | undefined,
  password: string | undefined,
  needsMail: boolean,
): void {
  const missing = [
    ...(email === undefined ? [{ field: 'email', rule: '--email <address>      or FEEDBACKCTL_SETUP_EMAIL' }] : []),
    ...(password === undefined
      ? [{ field: 'password', rule: '--password-stdin       or --password-file, --generate-password' }]
      : []),
    ...(needsMail ? [{ field: 'mail', rule: '--mail-url <url>       or FEEDBACKCTL_MAIL_URL, --no-mail' }] : []),
  ]
  if (missing.length > 0) throw inputMissing(terminal, missing, 'SETUP_INPUT_MISSING')
}
