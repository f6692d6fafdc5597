import { TLSSocket } from 'node:tls'
import type SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { NodemailerError } from 'nodemailer'
import { reasonOf } from './reasons.js'
import type { Step } from './steps.js'

/** How a connection is encrypted: as mail.url says, or what it could say. */
export type Mode = 'STARTTLS' | 'STARTTLS if offered' | 'TLS from the start' | 'no TLS'

export interface Server {
  host: string
  port: number
  user: string
  pass: string
  mode: Mode
  /** Whether STARTTLS is required. */
  strict: boolean
  options: SMTPConnection.Options
  timeout: number
}

/** A way to encrypt, as the start of a sentence. */
export const nameOf = (mode: Mode): string =>
  mode === 'no TLS' ? 'A connection without TLS' : mode.replace(' if offered', '')

/** The value of mail.url for another encryption that works. */
export function switchTo({ port, user }: Server, mode: Mode): string {
  if (mode === 'TLS from the start') return `Write smtps:// instead of smtp:// in mail.url: port ${port} speaks TLS from the start.` // prettier-ignore
  if (mode === 'STARTTLS') return `Write smtp:// instead of smtps:// in mail.url: port ${port} speaks STARTTLS.`
  return user !== ''
    ? `Use a port with TLS (587 or 465) in mail.url: a password is never sent without TLS, and port ${port} has none.`
    : `Write smtp:// instead of smtps:// in mail.url: port ${port} has no TLS.`
}

const CERTIFICATE = /certificate|altnames|self.signed|CERT_|unable to (verify|get)/i
export const isCertificate = ({ message }: Error): boolean => CERTIFICATE.test(message)

const ADVICE = [
  [/expired/i, 'Ask whoever runs the mail server to renew its certificate.'],
  [/altnames/i, 'Use a host in mail.url that the certificate names.'],
  [/not yet valid/i, 'Check the clock of this machine: feedbackctl doctor clock'],
  [
    /self.signed|unable to (verify|get)/i,
    'If you trust this mail server, save its certificate or that of its authority to a file, and set NODE_EXTRA_CA_CERTS to the file.', // prettier-ignore
  ],
] as const

/** Why a way to encrypt failed. */
export function tlsFailure({ host, mode }: Server, tried: Mode, error: NodemailerError): Step {
  const { message, response } = error
  const step = 'TLS'
  if (isCertificate(error))
    return {
      step,
      result: 'failed',
      detail: `the certificate of ${host} is not trusted: ${reasonOf(error)}`,
      next: ADVICE.find(([problem]) => problem.test(message))?.[1] ?? 'Ask whoever runs the mail server about its certificate.', // prettier-ignore
    }
  return {
    step,
    result: 'failed',
    detail:
      mode === 'STARTTLS' && response !== undefined && /STARTTLS/.test(message)
        ? `the server offers no TLS, and mail.url has a password: ${response}`
        : `${nameOf(tried)} does not work: ${reasonOf(error)}`,
    next: 'Ask whoever runs the mail server which port and which TLS to use.',
  }
}

/** How a connection is encrypted. */
export function encryption({ host }: Server, { secure, _socket: socket }: SMTPConnection): Step {
  const step = 'TLS'
  if (!secure)
    return isLocal(host)
      ? { step, result: 'ok', detail: 'none, to this machine' }
      : {
          step,
          result: 'warning',
          detail: 'none: mail leaves this machine unencrypted, as the server offers no TLS',
          next: 'Use a mail server with TLS.',
        }
  const { protocol, isTrusted } =
    socket instanceof TLSSocket
      ? { protocol: socket.getProtocol() ?? 'TLS', isTrusted: socket.authorized }
      : { protocol: 'TLS', isTrusted: false }
  const certificate = isTrusted ? `with a certificate for ${host}` : 'with a certificate that is not checked: mail.url has tls.rejectUnauthorized=false' // prettier-ignore
  return { step, result: 'ok', detail: `${protocol}, ${certificate}` }
}

const isLocal = (host: string): boolean => ['localhost', '127.0.0.1', '::1'].includes(host)
