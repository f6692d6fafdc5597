import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import { absoluteMailUrl, redactedUrl, type Config } from '../config.js'
import { AppError, type Issue } from '../core/errors.js'
import { assertNewPassword } from '../service/passwords.js'
import * as site from '../service/site.js'
import { assertEmail, localPart } from '../service/users.js'
import { askNewPassword, asking } from './ask.js'
import { writeSetting } from './configfile.js'
import { checkMail, mailUrlAsked } from './mail.js'
import { formatOf, type OutputFlags } from './output.js'
import { settingFlags, type Cli } from './session.js'
import { canAsk, hasColor, ink, readStdin, say, write } from './terminal.js'

interface Flags extends OutputFlags {
  ifNeeded?: boolean
  generatePassword?: boolean
  passwordStdin?: boolean
  input?: boolean
}

interface Answers {
  siteTitle: string | undefined
  name: string | undefined
  email: string
  password: string
}

export function register(command: Command, cli: Cli): void {
  command
    .option('--site-title <text>', 'title of the site (default: Feedback)')
    .option('--name <text>', "owner's display name (default: what stands before the @)")
    .option('--email <address>', "owner's e-mail address")
    .option('--password <text>', "owner's password; visible in the process list, so rather one of the next three")
    .option('--password-stdin', 'read the password from stdin')
    .option('--password-file <file>', 'read the password from a file')
    .option('--generate-password', 'make a password and print it once')
    .option('--if-needed', 'do nothing, successfully, if the site has an owner')
    .addHelpText('before', `Examples:\n  $ feedbackctl setup\n  $ feedbackctl setup --email ada@example.org --generate-password --mail-url folder:mail\n`)
    .addHelpText('after', `\nMail is set with --mail-url: smtp://USER:PASSWORD@HOST:587, smtps://…, sendmail: or folder:PATH (feedbackctl help mail).`)
    .action(async () => {
      const flags = command.optsWithGlobals<Flags>()
      const config = await cli.config({ flags: settingFlags(command), newFile: true })
      if (command.opts<{ password?: string }>().password !== undefined)
        say(cli.terminal, 'Note: --password is visible to everybody on this machine in the process list. --password-stdin is not.')
      const remote = config.get('server') !== undefined
      const call = await cli.connect()
      if ((await call(site.status, {})).is_setup) {
        if (flags.ifNeeded) return say(cli.terminal, 'The site has an owner already: nothing to do.')
        throw new AppError('SETUP_COMPLETED', 'The site has an owner already. Sign in with that account.')
      }
      const { answers, mailUrl, generated } = await gather(cli, config, flags, remote)
      if (remote) return finish(cli, flags, await call(site.setup, answers), generated, [`server  ${config.get('server')}`])
      await setUpHere(cli, config, flags, answers, mailUrl, generated)
    })
}

/** Checks everything first, then writes the mail setting, then the owner: a refusal leaves nothing behind. */
async function setUpHere(cli: Cli, config: Config, flags: Flags, answers: Answers, mailUrl: string | undefined, generated: string | undefined): Promise<void> {
  const app = await cli.open()
  const { deliverDue, localCall } = await import('../app.js')
  const mail = mailUrl === undefined ? app.base.mail : { url: mailUrl, from: config.get('mail.from') ?? '' }
  const base = { ...app.base, mail }
  await localCall({ base }, { dryRun: true })(site.setup, answers)
  if (mailUrl !== undefined) writeSetting(config.file, 'mail.url', mailUrl)
  const answer = await localCall({ base })(site.setup, answers)
  await finish(cli, flags, answer, generated, [
    `data    ${redactedUrl(config.get('database.url') ?? '').replace(/^sqlite:/, '')}`,
    `mail    ${redactedUrl(mail?.url ?? '')}${mailUrl === undefined ? ` (from ${config.origin('mail.url')})` : ` (written to ${config.file})`}`,
  ])
  const waiting = mail && (await deliverDue(app, mail))
  if (waiting) say(cli.terminal, `The mail to ${waiting.recipient} could not be delivered yet: ${waiting.reason}. "feedbackctl serve" goes on trying.`)
}

async function finish(
  { terminal }: Cli,
  flags: Flags,
  answer: Awaited<ReturnType<typeof site.setup.run>>,
  generated: string | undefined,
  facts: string[],
): Promise<void> {
  if (generated !== undefined) say(terminal, `The password, shown only now: ${generated}`)
  const format = formatOf(terminal, flags)
  if (format === 'json' || format === 'jsonl') return write(terminal, `${JSON.stringify(answer)}\n`)
  if (format === 'name') return write(terminal, `${answer.user.userId}\n`)
  const { green, dim } = ink(hasColor(terminal, terminal.stdout, flags))
  const { name, email, username } = answer.user
  const lines = [
    `${green('✓')} The site is set up.`,
    `  ${dim('owner   ')}${name} <${email}>, user name ${username}`,
    ...facts.map((fact) => `  ${fact}`),
    `  next    feedbackctl serve`,
  ]
  await write(terminal, `${lines.join('\n')}\n`)
}

async function gather(
  cli: Cli,
  config: Config,
  flags: Flags,
  remote: boolean,
): Promise<{ answers: Answers; mailUrl: string | undefined; generated: string | undefined }> {
  const { terminal } = cli
  const given = { siteTitle: config.get('setup.site-title'), name: config.get('setup.name'), email: config.get('setup.email') }
  const generated = flags.generatePassword ? randomBytes(18).toString('base64url') : undefined
  const password = generated ?? (flags.passwordStdin ? await readStdin(terminal) : config.get('setup.password'))
  const needsMail = !remote && config.get('mail.url') === undefined
  // What the flags say is checked before anything is asked.
  if (given.email !== undefined) assertEmail(given.email)
  if (password !== undefined) assertNewPassword(password)
  const ask = canAsk(terminal, flags) && !flags.passwordStdin
  if (!ask) assertComplete(given.email, password, needsMail)

  const text = (message: string, preset: string) => asking(terminal, (prompts, streams) => prompts.input({ message, default: preset }, streams))
  const complete = given.email !== undefined && password !== undefined && !needsMail
  const siteTitle = given.siteTitle ?? (ask && !complete ? await text('Title of the site', 'Feedback') : undefined)
  const email =
    given.email ??
    (await asking(terminal, (prompts, streams) =>
      prompts.input({ message: 'Your e-mail address', required: true, validate: (typed) => problemOf(() => assertEmail(typed)) ?? true }, streams),
    ))
  const name = given.name ?? (ask && !complete ? await text('Your name', localPart(email)) : undefined)
  const answers = { siteTitle, name, email, password: password ?? (await askNewPassword(terminal, (typed) => problemOf(() => assertNewPassword(typed)))) }
  if (remote) return { answers, mailUrl: undefined, generated }
  if (needsMail) return { answers, mailUrl: await mailUrlAsked(terminal, config), generated }
  await checkMail(terminal, config.get('mail.url') ?? '', config.get('mail.from') ?? '')
  const fromFlag = config.origin('mail.url').startsWith('--')
  return { answers, mailUrl: fromFlag ? absoluteMailUrl(config.get('mail.url') ?? '', terminal.cwd) : undefined, generated }
}

/** Without a terminal every missing answer is named at once, with the flag that gives it. */
function assertComplete(email: string | undefined, password: string | undefined, needsMail: boolean): void {
  const missing: Issue[] = []
  const add = (field: string, rule: string) => missing.push({ code: 'FIELD_MISSING', message: `${field} is missing.`, field, rule })
  if (email === undefined) add('email', '--email <address>      or FEEDBACKCTL_SETUP_EMAIL')
  if (password === undefined) add('password', '--password-stdin       or --password-file, --generate-password')
  if (needsMail) add('mail', '--mail-url <url>       or FEEDBACKCTL_MAIL_URL')
  if (missing.length > 0) {
    const count = missing.length === 1 ? '1 more answer' : `${missing.length} more answers`
    throw new AppError('SETUP_INPUT_MISSING', `Setup needs ${count} and cannot ask: stdin is not a terminal. Nothing was changed.`, { errors: missing })
  }
}

function problemOf(check: () => unknown): string | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
