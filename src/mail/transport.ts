import path from 'node:path'
import type { NodemailerError, SendMailOptions, Transporter } from 'nodemailer'
import { replaceFile } from '../core/atomicfile.js'
import { makeFolder } from '../core/files.js'

const MAX_SEND_MS = 300_000
/** To one mail server. */
const MAX_CONNECTIONS = 10

/** How mail is sent (smtp://, smtps://, sendmail: or folder:PATH), and the sender's address. */
export interface MailSettings {
  url: string
  from: string
  /** Seconds that news about a post wait for more, to be one mail. Absent: five minutes. */
  gather?: number
}

export interface Letter {
  mailId: string
  recipient: string
  subject: string
  text: string
  html: string
  /** Beside those that every mail has. */
  headers?: Readonly<Record<string, string>>
}

export interface Transport {
  /** Resolves when the receiving system has accepted the letter. */
  send(letter: Letter): Promise<void>
  /** Rejects if the server cannot be reached or rejects the credentials. It sends nothing. */
  verify(): Promise<void>
  close(): void
}

/**
 * What a failure says about the letter: the server refused it for good, or for now. Or nothing, as the connection, the
 * login or the sender failed.
 */
export function verdictOf(error: Error): 'refused' | 'deferred' | 'none' {
  const { command = '', responseCode = 0, permanent } = error as NodemailerError
  if (!['RCPT TO', 'DATA'].includes(command) || responseCode < 400 || responseCode === 421) return 'none'
  return permanent ? 'refused' : 'deferred'
}

/**
 * Whether the server refused the address for good. With an enhanced code (RFC 3463) it says what it means: an address (1)
 * but not the sender's, or a mailbox (2). A rule (7), as of a server that relays nothing any more, would stop everybody.
 */
export function isBounce(error: Error): boolean {
  const { command, response = '', responseCode = 0 } = error as NodemailerError
  if (command !== 'RCPT TO' || verdictOf(error) !== 'refused' || responseCode < 550) return false
  const [, enhanced] = /^\d{3}[ -](5\.\d{1,3}\.\d{1,3})\b/.exec(response) ?? []
  return enhanced === undefined || (/^5\.[12]\./.test(enhanced) && !['5.1.7', '5.1.8'].includes(enhanced))
}

/**
 * A connection serves many mails. One that the server closed before it got a byte of a mail is opened again, as some servers
 * take only a few mails over each; nothing else is sent again here.
 */
const POOL = { pool: true, maxConnections: MAX_CONNECTIONS, maxRequeues: MAX_CONNECTIONS } as const

export async function openTransport({ url, from }: MailSettings): Promise<Transport> {
  const nodemailer = await import('nodemailer')
  const build = (letter: Letter) => messageOf(from, letter)
  if (url.startsWith('folder:'))
    return folder(url.slice('folder:'.length), (letter) =>
      render(nodemailer.createTransport({ streamTransport: true, buffer: true, newline: 'unix' }), build(letter)),
    )
  const transporter = url.startsWith('sendmail:')
    ? nodemailer.createTransport({ sendmail: true, path: url.slice('sendmail:'.length) || 'sendmail' })
    : nodemailer.createTransport({ ...smtpOptions(url), ...POOL })
  return {
    send: async (letter) => void (await transporter.sendMail(build(letter))),
    verify: async () => void (await transporter.verify()),
    close: () => transporter.close(),
  }
}

/** The part of a sender's address after the `@`; empty where there is none. */
export const domainOf = (from: string): string => /@([^@>\s]+)>?\s*$/.exec(from)?.[1]?.toLowerCase() ?? ''

export const messageOf = (from: string, letter: Letter): SendMailOptions => ({
  from,
  to: letter.recipient,
  subject: letter.subject,
  text: letter.text,
  html: letter.html,
  // Every attempt has the same Message-ID, so that a receiver can discard a second delivery.
  messageId: `<${letter.mailId}@${from.replace(/^.*@|>$/g, '') || 'localhost'}>`,
  headers: { 'Auto-Submitted': 'auto-generated', ...letter.headers },
  signal: AbortSignal.timeout(MAX_SEND_MS), // for a server that goes on sending, but never responds
})

/** STARTTLS is required with credentials, so that they are never sent unencrypted, except to this machine. */
export function smtpOptions(url: string) {
  const { hostname, username } = new URL(url)
  const local = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  return {
    url,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    // Who takes long to accept a mail may have it already: if we gave up, it would arrive twice.
    socketTimeout: 120_000,
    requireTLS: username !== '' && !local,
  }
}

async function render(transporter: Transporter, options: SendMailOptions): Promise<Buffer> {
  // With `buffer: true` it is a Buffer.
  const { message } = (await transporter.sendMail(options)) as unknown as { message: Buffer }
  return message
}

/** Writes each mail atomically to a file named by its id, so that a second attempt replaces the first. */
function folder(directory: string, renderLetter: (letter: Letter) => Promise<Buffer>): Transport {
  return {
    async send(letter) {
      makeFolder(directory)
      const file = path.join(directory, `${letter.mailId}.eml`)
      replaceFile(file, await renderLetter(letter))
    },
    verify: async () => void makeFolder(directory),
    close() {},
  }
}
