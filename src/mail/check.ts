import { accessSync, constants } from 'node:fs'
import path from 'node:path'
import type SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { NodemailerError } from 'nodemailer'
import { newId } from '../core/ids.js'
import { openServer } from './probe.js'
import { reasonOf } from './reasons.js'
import { checkSender } from './sender.js'
import type { Step, Transcript } from './steps.js'
import { domainOf, messageOf, openTransport, type Letter, type MailSettings } from './transport.js'

export type { Step } from './steps.js'

/** The report of a test of the mail settings. */
export interface MailReport {
  works: boolean
  steps: Step[]
  /** Lines to the server (`C:`) and from it (`S:`), without secrets. */
  transcript: Transcript
  /** What to do next. */
  next: string
}

export interface MailCheck {
  /** The recipient of a test mail; none is sent without. */
  to?: string | undefined
  /** Milliseconds for each answer. */
  timeout: number
  /** The server to ask for SPF, DKIM and DMARC, instead of that of the machine. */
  dns?: string | undefined
  /** The address from which mail reaches receivers, for SPF. */
  ip?: string | undefined
  /** Where the DKIM key of the sender is. */
  selector?: string | undefined
  /** The variable PATH. */
  programs: string
}

/** Tries out the mail settings step by step, and says what to do about what does not work. It throws nothing. */
export async function checkMail(mail: MailSettings, check: MailCheck): Promise<MailReport> {
  const steps: Step[] = []
  const transcript: Transcript = []
  const isSmtp = /^smtps?:/.test(mail.url)
  const failed = isSmtp ? await checkServer(mail, check, steps, transcript) : await checkPlace(mail, check, steps)
  if (isSmtp) {
    const { timeout, dns: server, selector, ip } = check
    const host = new URL(mail.url).hostname
    steps.push(...(await checkSender(domainOf(mail.from), { host, ip, selector, asking: { timeout, server } })))
  }
  const warned = steps.find(({ result }) => result === 'warning')
  return {
    works: failed === undefined,
    steps: steps.map((step) => ({ ...step, detail: detailOf(step, mail.url) })),
    transcript: transcript.map((line) => masked(line, mail.url)),
    next: failed?.next ?? warned?.next ?? nextOf(check),
  }
}

const nextOf = ({ to }: MailCheck): string =>
  to === undefined
    ? 'Send a test mail: feedbackctl mail test --to ADDRESS'
    : `Look in the mailbox of ${to}, and in its spam folder.`

/** The step that failed, if any. */
async function checkServer(
  mail: MailSettings,
  { to, timeout }: MailCheck,
  steps: Step[],
  said: Transcript,
): Promise<Step | undefined> {
  const { connection, failed } = await openServer(mail.url, timeout, steps, said)
  if (!connection) return failed
  try {
    if (to === undefined) {
      steps.push({ step: 'sending', result: 'skipped', detail: 'add --to ADDRESS to send a test mail' })
      return undefined
    }
    const sent = sentStep(mail, to, await send(connection, mail, to))
    steps.push(sent)
    return sent.result === 'failed' ? sent : undefined
  } finally {
    connection.quit()
  }
}

async function send(connection: SMTPConnection, { from }: MailSettings, to: string): Promise<NodemailerError | string> {
  const { createTransport } = await import('nodemailer')
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
  const { message, envelope } = (await composer.sendMail(messageOf(from, letterTo(to)))) as unknown as {
    message: Buffer
    envelope: SMTPConnection.Envelope
  }
  return new Promise((resolve) => {
    connection.once('error', resolve)
    connection.once('end', () => resolve(new Error('the server closed the connection')))
    connection.send({ ...envelope, size: message.length }, message, (error, info) => resolve(error ?? info.response))
  })
}

const letterTo = (to: string): Letter => ({
  mailId: newId(),
  recipient: to,
  subject: 'A test of the mail settings',
  text: 'This is the test mail of "feedbackctl mail test". Mail of this site arrives here.\n',
  html: '<p>This is the test mail of "feedbackctl mail test". Mail of this site arrives here.</p>\n',
})

function sentStep({ from }: MailSettings, to: string, ended: NodemailerError | string): Step {
  if (typeof ended === 'string')
    return { step: 'sending', result: 'ok', detail: `the server accepts the mail: ${ended}` }
  const { command, response, message, responseCode = 0 } = ended
  const detail = response ?? reasonOf({ message })
  if (responseCode === 530 || /authentication required/i.test(detail))
    return {
      step: 'sending',
      result: 'failed',
      detail: `the server takes no mail without a sign-in: ${detail}`,
      next: 'Put the user and password in mail.url: smtp://USER:PASSWORD@HOST:587.',
    }
  if (command !== 'RCPT TO' && (responseCode === 552 || /message size/i.test(detail)))
    return {
      step: 'sending',
      result: 'failed',
      detail: `the mail is too large for the server: ${detail}`,
      next: 'Ask whoever runs the mail server for a higher limit.',
    }
  if (responseCode >= 400 && responseCode < 500)
    return {
      step: 'sending',
      result: 'failed',
      detail: `the server does not accept the mail to ${to} now: ${detail}`,
      next: 'Try again in a few minutes: servers delay mail from senders they do not know. "feedbackctl serve" retries automatically.', // prettier-ignore
    }
  if (command === 'MAIL FROM')
    return {
      step: 'sending',
      result: 'failed',
      detail: `the server refuses the sender ${from}: ${detail}`,
      next: 'Set mail.from to an address that the account in mail.url may send from.',
    }
  if (command === 'RCPT TO')
    return {
      step: 'sending',
      result: 'failed',
      detail: `the server refuses the recipient ${to}: ${detail}`,
      next: 'Check the address. If it is right, the mail server may want a user and password in mail.url.',
    }
  return {
    step: 'sending',
    result: 'failed',
    detail: `the server refuses the mail: ${detail}`,
    next: 'Ask whoever runs the mail server why it refuses the mail.',
  }
}

/** A folder or a program instead of a server. */
async function checkPlace(mail: MailSettings, { to, programs }: MailCheck, steps: Step[]): Promise<Step | undefined> {
  const isFolder = mail.url.startsWith('folder:')
  const place = mail.url.replace(/^\w+:/, '') || 'sendmail'
  const add = (step: Step): Step => {
    steps.push(step)
    return step
  }
  const transport = await openTransport(mail)
  try {
    if (isFolder) await transport.verify()
    else if (!isProgram(place, programs)) return add({ step: 'program', result: 'failed', detail: `${place} is not a program on this machine`, next: 'Install sendmail, or put its path in mail.url: sendmail:/usr/sbin/sendmail.' }) // prettier-ignore
    add({ step: isFolder ? 'folder' : 'program', result: 'ok', detail: isFolder ? `${place} can be written` : place })
    if (isFolder) add({ step: 'delivery', result: 'warning', detail: 'mail is written to files, and reaches nobody', next: 'To deliver mail, set mail.url to smtp://USER:PASSWORD@HOST:587.' }) // prettier-ignore
    if (to !== undefined) await transport.send(letterTo(to))
    if (to !== undefined) add({ step: 'sending', result: 'ok', detail: isFolder ? 'the mail is in the folder' : 'the program accepts the mail' }) // prettier-ignore
    return undefined
  } catch (error) {
    const detail = (error as Error).message
    return isFolder
      ? add({ step: 'folder', result: 'failed', detail, next: `Let the user that runs feedbackctl write to ${place}.` })
      : add({ step: 'sending', result: 'failed', detail, next: 'Look in the log of the sendmail program.' })
  } finally {
    transport.close()
  }
}

function isProgram(program: string, folders: string): boolean {
  const searched = program.includes('/') ? [''] : folders.split(path.delimiter)
  return searched.map((folder) => path.join(folder, program)).some(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Steps after which the server has been sent the password. */
const SIGNED_IN: readonly string[] = ['sign-in', 'sending']

/** The detail of a step without secrets. What the server said follows the first colon; the other words are ours. */
function detailOf({ step, detail }: Step, url: string): string {
  const [, ours = detail, said = ''] = SIGNED_IN.includes(step) ? (/^(.*?: )(.*)$/s.exec(detail) ?? []) : []
  return masked(ours, url, MEANINGLESS) + masked(said, url)
}

/** Leaves out what signs in, in every form in which a server could repeat it that has so many characters. */
function masked(line: string, url: string, least = 1): string {
  const { username, password } = new URL(/^smtps?:/.test(url) ? url : 'smtp://x')
  const secrets = [password, decoded(password)].filter((secret) => secret !== '')
  const forms = secrets.flatMap((secret) => [
    secret,
    Buffer.from(secret).toString('base64'),
    Buffer.from(`\0${decoded(username)}\0${secret}`).toString('base64'),
  ])
  const shown = line.replace(/^(C: AUTH \S+) .+/i, '$1 ***').replaceAll('/* secret */', '***')
  return forms
    .filter((form) => form.length >= least)
    .reduce((text, form) => text.replaceAll(form.length < SHORT ? alone(form) : form, '***'), shown)
}

/** Shorter secrets are usual words, as "a" is: our own words have them by chance. */
const MEANINGLESS = 4
/** Shorter secrets are masked only as whole words, because they may be part of other words. */
const SHORT = 6
const alone = (secret: string): RegExp => {
  const escaped = secret.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
  return new RegExp(String.raw`(?<![\p{L}\p{N}])${escaped}(?![\p{L}\p{N}])`, 'gu')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
