import { createServer, type AddressInfo, type Socket } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { cleanup } from './site.js'

interface Received {
  from: string
  to: string[]
  user: string | undefined
  secure: boolean
  text: string
}

export interface MailHost {
  url: string
  port: number
  received: Received[]
  /** Called for each mail before it is accepted. If it rejects, so does the server, with its `responseCode`. */
  onMail: (incoming: Incoming) => Promise<void>
  /** Called before the content of each mail. */
  onContent: (incoming: Incoming) => void
}

interface Incoming {
  to: string
  /** Cuts the connection. */
  cut(): void
}

/** Starts an SMTP server that requires STARTTLS and a login, unless the options disable them. */
export async function smtpHost({
  port = 0,
  address = '127.0.0.1',
  ...options
}: SMTPServerOptions & { port?: number; address?: string } = {}): Promise<MailHost> {
  const host: MailHost = { url: '', port: 0, received: [], onMail: async () => {}, onContent: () => {} }
  const sockets = new Map<number | undefined, Socket>() // by the port of the client
  const server = new SMTPServer({
    authOptional: false,
    logger: false,
    disableReverseLookup: true,
    onAuth: ({ username, password }, _session, done) =>
      username === 'board' && password === 'p@ss:w/rd'
        ? done(null, { user: username })
        : done(new Error('wrong account')),
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      const incoming: Incoming = {
        to: session.envelope.rcptTo[0]?.address ?? '',
        cut: () => sockets.get(session.remotePort)?.destroy(),
      }
      host.onContent(incoming)
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        host.onMail(incoming).then(
          () => {
            const { mailFrom, rcptTo } = session.envelope
            host.received.push({
              from: mailFrom ? mailFrom.address : '',
              to: rcptTo.map(({ address }) => address),
              user: session.user,
              secure: session.secure,
              text: Buffer.concat(chunks).toString('utf8'),
            })
            done()
          },
          (error: Error) => done(error),
        )
      })
    },
    ...options,
  })
  server.server.on('connection', (socket) => sockets.set(socket.remotePort, socket))
  server.on('error', () => {}) // killed clients reset their connections
  await new Promise<void>((resolve) => server.listen(port, address, resolve))
  cleanup(() => new Promise<void>((resolve) => server.close(() => resolve())))
  host.port = (server.server.address() as AddressInfo).port
  // The certificate is self-signed. The password has characters that a URL must escape.
  host.url = `smtp://board:p%40ss%3Aw%2Frd@${address}:${host.port}/?tls.rejectUnauthorized=false`
  return host
}

/** Starts a server that does with each connection what no mail server should, and returns its port on 127.0.0.1. */
export async function brokenHost(onConnection: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    onConnection(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanup(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  })
  return (server.address() as AddressInfo).port
}
