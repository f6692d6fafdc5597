import type { AddressInfo } from 'node:net'
import path from 'node:path'

/** Parses `HOST:PORT`, `[::1]:PORT`, `:PORT` or `PORT`. Returns undefined for anything else. */
export function parseListen(text: string): { host: string; port: number } | undefined {
  const match = /^(?:(\[[0-9a-f:.]+\]|[^:[\]]*):)?(\d{1,5})$/i.exec(text)
  const port = Number(match?.[2])
  if (!match || port > 65_535) return undefined
  return { host: match[1]?.replaceAll(/[[\]]/g, '') || '127.0.0.1', port }
}

/** Where a server listens: at a TCP port, or at a Unix socket, whose path may be relative. */
export type ListenAddress = { host: string; port: number } | { socket: string }

/** The longest path of a Unix socket, in bytes. Linux takes 107, other systems 103. */
export const LONGEST_SOCKET = 103

/** Parses `unix:PATH`, and what `parseListen` does. Returns undefined for anything else. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  if (!text.startsWith('unix:')) return parseListen(text)
  const socket = text.slice('unix:'.length)
  return /^$|[\0\n]|\/$/.test(socket) ? undefined : { socket }
}

/** What is wrong with the value of `listen`, if anything. */
export function listenProblem(text: string): string | undefined {
  if (!parseListenAddress(text)) return 'must be HOST:PORT, PORT or unix:PATH'
  return text.startsWith('unix:') && Buffer.byteLength(text) - 'unix:'.length > LONGEST_SOCKET
    ? `must have a path of at most ${LONGEST_SOCKET} bytes, as systems bound the names of sockets`
    : undefined
}

/** The address of `server.address()`. Node does not know the path of a Unix socket that it has inherited. */
export const boundAddress = (bound: AddressInfo | string | null): ListenAddress =>
  bound !== null && typeof bound === 'object'
    ? { host: bound.address, port: bound.port }
    : { socket: bound ?? 'inherited' }

/** Shows an address as `listen` takes it. */
export const shownAddress = (at: ListenAddress): string => addressUrl(at).replace(/^http:\/\//, '')

/** The URL of a server that listens there. That of a Unix socket is `unix:PATH`. */
export const addressUrl = (at: ListenAddress): string =>
  'socket' in at ? `unix:${at.socket}` : urlOf(at.host, at.port)

/** The URL of a server that listens on this host and port. */
export const urlOf = (host: string, port: number): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`

/** What is wrong with a mail URL, if anything. Does not repeat the URL, which may contain a password. */
export function mailUrlProblem(url: string): string | undefined {
  if (url.startsWith('sendmail:')) return undefined
  if (url.startsWith('folder:')) return url.length > 'folder:'.length ? undefined : 'needs a path: folder:PATH'
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed && ['smtp:', 'smtps:'].includes(parsed.protocol) && parsed.hostname !== '') return undefined
  return 'must be smtp://USER:PASSWORD@HOST:587, smtps://USER:PASSWORD@HOST, sendmail: or folder:PATH'
}

export function databaseUrlProblem(url: string): string | undefined {
  if (/^sqlite:./.test(url) || (/^postgres(ql)?:\/\/./.test(url) && URL.canParse(url))) return undefined
  return 'must be sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE, with #, / and @ in the password written as %23, %2F and %40'
}

/** The SQLite file of a database URL; undefined for PostgreSQL. */
export const databaseFile = (url: string): string | undefined =>
  url.startsWith('sqlite:') ? path.resolve(url.slice('sqlite:'.length)) : undefined

export const serverUrlProblem = (url: string): string | undefined =>
  httpUrlProblem(url, 'must not contain credentials: sign in with "feedbackctl login"')

/** What is wrong with the address at which visitors open a site. */
export const visitedUrlProblem = (url: string): string | undefined =>
  httpUrlProblem(url, 'must not contain a user or a password: name the address that visitors open')

function httpUrlProblem(url: string, credentials: string): string | undefined {
  if (!/^https?:\/\/./.test(url) || !URL.canParse(url)) return 'must start with http:// or https://'
  const { username, password } = new URL(url)
  return username === '' && password === '' ? undefined : credentials
}

/** Whether the address of a database has a password, before its host or as a parameter. */
export function hasPassword(url: string): boolean {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  return parsed !== undefined && (parsed.password !== '' || parsed.searchParams.has('password'))
}

/** Makes the path in a `folder:`, `sqlite:` or `unix:` URL absolute. */
export const absoluteUrl = (url: string, base: string): string =>
  url.replace(
    /^(folder|sqlite|unix):(.+)$/s,
    (_, scheme: string, file: string) => `${scheme}:${path.resolve(base, file)}`,
  )

/** Replaces passwords in a URL by `***`, even if the URL is malformed. The user of a database alone is no secret. */
export const redactedUrl = (url: string): string =>
  url
    .replace(/^([\w+.-]+:\/\/)([^:@/?#]+):.*@/s, '$1$2:***@')
    .replace(/^(?!postgres(?:ql)?:\/\/[\w.-]+@[^@]*$)([\w+.-]+:\/\/)(?![^:@/?#]+:\*\*\*@).*@/s, '$1***@')
    .replaceAll(/([?&][^=&]*(?:pass|secret|token)[^=&]*=)[^&]*/gi, '$1***')
