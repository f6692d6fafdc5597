import { lookup } from 'node:dns/promises'
import { isIP, connect as connectTo } from 'node:net'
import type SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { NodemailerError } from 'nodemailer'
import { encryption, isCertificate, nameOf, switchTo, tlsFailure, type Mode, type Server } from './encryption.js'
import { reasonOf } from './reasons.js'
import type { Step, Transcript } from './steps.js'
import { smtpOptions } from './transport.js'

/** An open connection that has signed in, or the step that failed. */
export type Opened = { connection: SMTPConnection; failed?: never } | { connection?: never; failed: Step }

/**
 * Looks up the name, opens the port, reads the banner, encrypts, and signs in, as a delivery does. Adds each step and
 * what was said. Where the way of mail.url fails, the others are tried too, to say which would work; the password goes
 * only the way of mail.url. `timeout`: milliseconds for each answer.
 */
export async function openServer(url: string, timeout: number, steps: Step[], said: Transcript): Promise<Opened> {
  const server = await serverOf(url, timeout)
  const add = (step: Step): Step => {
    steps.push(step)
    return step
  }
  const name = add(await addressOf(server))
  if (name.result === 'failed') return { failed: name }
  const { port, banner } = await portOf(server, said)
  add(port)
  if (port.result === 'failed') return { failed: port }
  if (banner) add(banner)
  // A server that says nothing may wait for TLS, and one that hangs up does so in every mode
  const isSilent = banner?.result === 'failed' && banner.detail.startsWith('nothing')
  if (banner?.result === 'failed' && !isSilent) return { failed: banner }
  const { connection, failed } = await encrypted(server, { isSilent, banner }, add, said)
  if (!connection) return { failed }
  const signIn = add(await signedIn(server, connection))
  if (signIn.result !== 'failed') return { connection }
  connection.quit()
  return { failed: signIn }
}

async function serverOf(url: string, timeout: number): Promise<Server> {
  const { parseConnectionUrl } = await import('nodemailer/lib/shared')
  const { requireTLS, ...base } = smtpOptions(url)
  const options = { ...base, ...(parseConnectionUrl(url) as SMTPConnection.Options), requireTLS }
  const { secure = false, auth } = options as { secure?: boolean; auth?: { user?: string; pass?: string } }
  const { host = 'localhost', port } = options
  return {
    host: host.replaceAll(/[[\]]/g, ''),
    port: Number(port) || (secure ? 465 : 587),
    user: auth?.user ?? '',
    pass: auth?.pass ?? '',
    mode: secure ? 'TLS from the start' : requireTLS ? 'STARTTLS' : 'STARTTLS if offered',
    strict: requireTLS,
    options: { ...options, connectionTimeout: timeout, greetingTimeout: timeout, socketTimeout: timeout },
    timeout,
  }
}

async function addressOf({ host }: Server): Promise<Step> {
  const step = 'name'
  if (isIP(host)) return { step, result: 'ok', detail: `${host} is an address` }
  try {
    const found = await lookup(host, { all: true })
    return { step, result: 'ok', detail: `${host} is ${found.map(({ address }) => address).join(', ')}` }
  } catch (error) {
    const { code } = error as { code?: string }
    return code === 'ENOTFOUND'
      ? { step, result: 'failed', detail: `there is no host ${host}`, next: 'Correct the host in mail.url.' }
      : {
          step,
          result: 'failed',
          detail: `the DNS does not answer for ${host} (${code})`,
          next: 'Check the DNS of this machine, then try again.',
        }
  }
}

const PORT_PROBLEMS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached: there is no network to it',
  ETIMEDOUT: 'does not answer',
}

/** Opens the port, and where the server talks first, reads its first line. */
async function portOf({ host, port, mode, timeout }: Server, said: Transcript): Promise<{ port: Step; banner?: Step }> {
  const at = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const first = await firstLine({ host, port, timeout, talks: mode !== 'TLS from the start' })
  if ('problem' in first) {
    const next =
      first.problem === 'ECONNREFUSED'
        ? `Correct the port in mail.url (587 for smtp://, 465 for smtps://), or start the mail server.`
        : `Let this machine connect to port ${port}: a firewall or the provider of this machine may block it.`
    return { port: { step: 'port', result: 'failed', detail: `${at} ${PORT_PROBLEMS[first.problem] ?? `fails (${first.problem})`}`, next } } // prettier-ignore
  }
  const opened: Step = { step: 'port', result: 'ok', detail: `${at} accepts connections` }
  if (first.line === undefined) return { port: opened }
  const banner = bannerOf(first.line, timeout)
  if (first.line !== '') said.push(`S: ${first.line}`)
  return { port: opened, banner }
}

function bannerOf(line: string | null, timeout: number): Step {
  const step = 'banner'
  if (line === null)
    return {
      step,
      result: 'failed',
      detail: `nothing within ${timeout / 1000} s`,
      next: 'Ask whoever runs the mail server why it does not answer, or use another port.',
    }
  if (line === '')
    return {
      step,
      result: 'failed',
      detail: 'the server closes the connection at once',
      next: 'Ask whoever runs the mail server whether it refuses the address of this machine.',
    }
  if (line.startsWith('220')) return { step, result: 'ok', detail: line }
  return {
    step,
    result: 'failed',
    detail: line,
    next: /^\d/.test(line)
      ? 'Ask whoever runs the mail server why it refuses this machine.'
      : 'Correct the port in mail.url: what answers there is not a mail server.',
  }
}

/** The first line; empty where the connection closed before, null where there was none in time. */
function firstLine({
  host,
  port,
  timeout,
  talks,
}: Pick<Server, 'host' | 'port' | 'timeout'> & { talks: boolean }): Promise<
  { problem: string } | { line: string | null | undefined }
> {
  return new Promise((resolve) => {
    let text = ''
    let isOpen = false
    const socket = connectTo({ host, port })
    const end = (found: { problem: string } | { line: string | null | undefined }) => {
      clearTimeout(timer)
      if (isOpen && 'line' in found && found.line) socket.end('QUIT\r\n')
      else socket.destroy()
      resolve(found)
    }
    const timer = setTimeout(() => end(isOpen ? { line: null } : { problem: 'ETIMEDOUT' }), timeout)
    socket.setEncoding('latin1')
    socket.on('connect', () => {
      isOpen = true
      if (!talks) end({ line: undefined })
    })
    socket.on('data', (part: string) => {
      text = (text + part).slice(0, 1000)
      if (text.includes('\n') || text.length === 1000) end({ line: text.split(/\r?\n/)[0] ?? '' })
    })
    socket.on('error', (error: NodeJS.ErrnoException) => end(isOpen ? { line: text } : { problem: codeOf(error) }))
    socket.on('close', () => end({ line: text }))
  })
}

/** A host with several addresses fails with the errors of all. */
const codeOf = (error: NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] }): string =>
  error.code ?? error.errors?.[0]?.code ?? error.message

type Encrypted = { connection: SMTPConnection; failed?: never } | { connection?: never; failed: Step }

/** Tries the way of mail.url, and where it fails, the others, until one works. */
async function encrypted(
  server: Server,
  { isSilent, banner }: { isSilent: boolean; banner: Step | undefined },
  add: (step: Step) => Step,
  said: Transcript,
): Promise<Encrypted> {
  const { mode } = server
  let failed: Step | undefined = isSilent ? banner : undefined
  if (!isSilent) {
    const tried = await attempt(server, mode, said)
    if (tried.connection) {
      add(encryption(server, tried.connection))
      return { connection: tried.connection }
    }
    failed = add(tlsFailure(server, mode, tried.error))
    if (isCertificate(tried.error)) return { failed }
  }
  const others: Mode[] = isSilent
    ? ['TLS from the start']
    : (['STARTTLS', 'TLS from the start', 'no TLS'] as const).filter((other) => other !== mode)
  for (const other of others) {
    const { connection, error } = await attempt(server, other, said)
    if (!connection && !isCertificate(error)) {
      add({ step: 'TLS', result: 'skipped', detail: `${nameOf(other)} does not work either: ${reasonOf(error)}` })
      continue
    }
    connection?.quit()
    add({ step: 'TLS', result: 'skipped', detail: `${nameOf(other)} would work` })
    return { failed: { ...(failed as Step), next: switchTo(server, other) } }
  }
  return { failed: failed as Step }
}

/** Connects, greets and encrypts. */
async function attempt(
  { options }: Server,
  mode: Mode,
  said: Transcript,
): Promise<{ connection: SMTPConnection; error?: never } | { connection?: never; error: NodemailerError }> {
  const { default: Connection } = await import('nodemailer/lib/smtp-connection')
  said.push(`-- ${mode}`)
  const log = ({ tnx }: { tnx?: string }, text: unknown) => {
    if (tnx !== 'server' && tnx !== 'client') return
    for (const line of String(text).split(/\r?\n/)) said.push(`${tnx === 'server' ? 'S' : 'C'}: ${line}`)
  }
  const nothing = () => {}
  const connection = new Connection({
    ...options,
    secure: mode === 'TLS from the start',
    requireTLS: mode === 'STARTTLS',
    ignoreTLS: mode === 'no TLS',
    transactionLog: true,
    logger: { level: nothing, trace: nothing, debug: log, info: nothing, warn: nothing, error: nothing, fatal: nothing } as never, // prettier-ignore
  })
  return new Promise((resolve) => {
    connection.on('error', (error) => resolve({ error })) // also of later steps, which have their own callbacks
    connection.once('end', () => resolve({ error: new Error('the server closed the connection') }))
    connection.connect((error) => resolve(error ? { error } : { connection }))
  })
}

async function signedIn({ user, pass }: Server, connection: SMTPConnection): Promise<Step> {
  const step = 'sign-in'
  if (user === '') return { step, result: 'skipped', detail: 'mail.url has no user' }
  const error = await new Promise<NodemailerError | undefined>((resolve) => {
    connection.once('error', resolve)
    connection.once('end', () => resolve(new Error('the server closed the connection')))
    connection.login({ user, pass, credentials: { user, pass } }, (failure) => resolve(failure ?? undefined))
  })
  if (!error) return { step, result: 'ok', detail: `as ${user}` }
  const { response, message, responseCode = 0 } = error
  const isWrong = responseCode >= 500
  return {
    step,
    result: 'failed',
    detail: `the server refuses ${user}: ${response ?? reasonOf({ message })}`,
    next: isWrong
      ? 'Correct user and password in mail.url. Write :, / and @ in them as %3A, %2F and %40. Some providers require an app password.'
      : 'Try again in a few minutes. If that does not help, ask whoever runs the mail server.',
  }
}
