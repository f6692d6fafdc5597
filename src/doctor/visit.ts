import type { IncomingHttpHeaders } from 'node:http'
import { checkServerIdentity, type TLSSocket } from 'node:tls'
import { AppError } from '../core/errors.js'
import { openHttp, readBody } from '../core/http.js'

/** Milliseconds that a visitor waits for the whole response. */
const PATIENCE = 10_000
/** Bytes of a page that are read: no page of ours has as many. */
const MOST = 1_000_000

/** A certificate, whether browsers trust it or not. */
interface Certificate {
  /** When it ends, in Unix ms. */
  until: number
  /** Milliseconds from the first of its dates to the last. */
  lifetime: number
  /** Hosts that it is for: `DNS:example.org, IP Address:192.0.2.1`. */
  names: string
  isForHost: boolean
  /** Why it is not trusted: a code of OpenSSL. */
  problem: string | undefined
}

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  /** Empty where it is compressed. */
  text: string
  /** Absent without TLS. */
  certificate: Certificate | undefined
  /** This end of the connection. */
  from: { address: string; port: number }
}

const WORDS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name server does not answer',
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'it closes the connection',
  TIMEOUT: `it does not answer within ${PATIENCE / 1000} seconds`,
  EPROTO: 'what answers there does not speak TLS as browsers do',
}

/**
 * Asks as a browser does, without following redirects, but of whatever server is there: its certificate is in the answer.
 * Throws SERVER_UNREACHABLE with the cause in words.
 */
export async function visit(url: URL, headers: Record<string, string> = {}): Promise<Answer> {
  const end = performance.now() + PATIENCE
  try {
    const sent = { accept: 'text/html', 'user-agent': 'feedbackctl doctor', ...headers }
    const response = await openHttp(url, { headers: sent, timeout: PATIENCE, anyCertificate: true })
    const { statusCode: status = 0, headers: received, socket } = response
    const certificate = 'getPeerCertificate' in socket ? certificateOf(socket as TLSSocket, url.hostname) : undefined
    const from = { address: socket.localAddress ?? '', port: socket.localPort ?? 0 } // gone when it has ended
    const body = await readBody(response, { timeout: end - performance.now(), maxBytes: MOST, beyond: 'cut' })
    const text = received['content-encoding'] === undefined ? body.toString() : ''
    return { status, headers: received, text, certificate, from }
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    const cause = WORDS[code] ?? message
    throw new AppError('SERVER_UNREACHABLE', `${url.origin} cannot be opened: ${cause}.`, { cause: error })
  }
}

function certificateOf(socket: TLSSocket, hostname: string): Certificate {
  const shown = socket.getPeerCertificate()
  const host = hostname.replaceAll(/[[\]]/g, '')
  return {
    until: Date.parse(shown.valid_to),
    lifetime: Date.parse(shown.valid_to) - Date.parse(shown.valid_from),
    names: shown.subjectaltname ?? String(shown.subject.CN),
    isForHost: checkServerIdentity(host, shown) === undefined,
    problem: socket.authorized ? undefined : String(socket.authorizationError),
  }
}
