import { request as plain } from 'node:http'
import { request as secure } from 'node:https'
import type { IncomingHttpHeaders } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { AppError } from '../core/errors.js'

/** Milliseconds that a visitor waits. */
const PATIENCE = 10_000
/** Bytes of a page that are read. */
const MOST = 1_000_000

interface Answer {
  status: number
  headers: IncomingHttpHeaders
  /** Empty where it is compressed. */
  text: string
  /** When the certificate ends, in Unix ms. */
  certifiedUntil: number | undefined
}

const WORDS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name server does not answer',
  ECONNREFUSED: 'nothing listens there',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not of an authority that browsers know',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not of an authority that browsers know',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate of its authority is not sent along',
}

/** Asks as a browser does, without following redirects. Throws SERVER_UNREACHABLE with the cause in words. */
export const visit = (url: URL, headers: Record<string, string> = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => {
      const cause = WORDS[error.code ?? ''] ?? error.message
      reject(new AppError('SERVER_UNREACHABLE', `${url.origin} cannot be opened: ${cause}.`, { cause: error }))
    }
    const send = url.protocol === 'https:' ? secure : plain
    const sent = { accept: 'text/html', 'user-agent': 'feedbackctl doctor', ...headers }
    const sending = send(url, { headers: sent, timeout: PATIENCE, agent: false }, (response) => {
      const { statusCode: status = 0, headers: received, socket } = response
      const valid = 'getPeerCertificate' in socket ? (socket as TLSSocket).getPeerCertificate().valid_to : undefined
      const isText = received['content-encoding'] === undefined
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        if (isText && text.length < MOST) text += part
      })
      response.on('error', fail).on('end', () =>
        resolve({
          status,
          headers: received,
          text,
          certifiedUntil: valid === undefined ? undefined : Date.parse(valid),
        }),
      )
    })
    sending
      .on('timeout', () => sending.destroy(new Error('it does not answer within 10 seconds')))
      .on('error', fail)
      .end()
  })
