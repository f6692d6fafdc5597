import path from 'node:path'

/** Parses `HOST:PORT`, `[::1]:PORT`, `:PORT` or `PORT`. Returns undefined for anything else. */
export function parseListen(text: string): { host: string; port: number } | undefined {
  const match = /^(?:(\[[0-9a-f:.]+\]|[^:[\]]*):)?(\d{1,5})$/i.exec(text)
  const port = Number(match?.[2])
  if (!match || port > 65_535) return undefined
  return { host: match[1]?.replaceAll(/[[\]]/g, '') || '127.0.0.1', port }
}

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

/** Makes the path in a `folder:` or `sqlite:` URL absolute. */
export const absoluteUrl = (url: string, base: string): string =>
  url.replace(/^(folder|sqlite):(.+)$/s, (_, scheme: string, file: string) => `${scheme}:${path.resolve(base, file)}`)

/** Replaces passwords in a URL by `***`, even if the URL is malformed. The user of a database alone is no secret. */
export const redactedUrl = (url: string): string =>
  url
    .replace(/^([\w+.-]+:\/\/)([^:@/?#]+):.*@/s, '$1$2:***@')
    .replace(/^(?!postgres(?:ql)?:\/\/[\w.-]+@[^@]*$)([\w+.-]+:\/\/)(?![^:@/?#]+:\*\*\*@).*@/s, '$1***@')
    .replaceAll(/([?&][^=&]*(?:pass|secret|token)[^=&]*=)[^&]*/gi, '$1***')
