import { mkdir, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { SendMailOptions, Transporter } from 'nodemailer'

/** How mail leaves: smtp://, smtps://, sendmail: or folder:PATH, and the address it is from. */
export interface MailSettings {
  url: string
  from: string
}

export interface Letter {
  mailId: string
  recipient: string
  subject: string
  text: string
  html: string
}

export interface Transport {
  /** Resolves once somebody else has taken responsibility for the letter. */
  send(letter: Letter): Promise<void>
  /** Rejects when the server does not answer or does not accept the credentials. Nothing is sent. */
  verify(): Promise<void>
  close(): void
}

export async function openTransport({ url, from }: MailSettings): Promise<Transport> {
  const nodemailer = await import('nodemailer')
  const build = (letter: Letter): SendMailOptions => ({
    from,
    to: letter.recipient,
    subject: letter.subject,
    text: letter.text,
    html: letter.html,
    // The same for every attempt, so that a receiver can tell a second delivery from a second mail.
    messageId: `<${letter.mailId}@${from.replace(/^.*@|>$/g, '') || 'localhost'}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
  })
  if (url.startsWith('folder:'))
    return folder(url.slice('folder:'.length), (letter) =>
      streamed(nodemailer.createTransport({ streamTransport: true, buffer: true, newline: 'unix' }), build(letter)),
    )
  const transporter = url.startsWith('sendmail:')
    ? nodemailer.createTransport({ sendmail: true, path: url.slice('sendmail:'.length) || 'sendmail' })
    : nodemailer.createTransport(smtpOptions(url))
  return {
    send: async (letter) => void (await transporter.sendMail(build(letter))),
    verify: async () => void (await transporter.verify()),
    close: () => transporter.close(),
  }
}

/** Credentials never cross a network in the clear: STARTTLS is required with them, unless the server is this machine. */
function smtpOptions(url: string) {
  const { hostname, username } = new URL(url)
  const local = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  return {
    url,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 30_000,
    requireTLS: username !== '' && !local,
  }
}

async function streamed(transporter: Transporter, options: SendMailOptions): Promise<Buffer> {
  const { message } = (await transporter.sendMail(options)) as unknown as { message: Buffer } // what `buffer: true` makes of it
  return message
}

/** One file a mail, named after it, so that a second attempt replaces the first. Complete or not there at all. */
function folder(directory: string, render: (letter: Letter) => Promise<Buffer>): Transport {
  return {
    async send(letter) {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const file = path.join(directory, `${letter.mailId}.eml`)
      await writeFile(`${file}.tmp`, await render(letter), { mode: 0o600, flush: true })
      await rename(`${file}.tmp`, file)
    },
    verify: async () => void (await mkdir(directory, { recursive: true, mode: 0o700 })),
    close() {},
  }
}
