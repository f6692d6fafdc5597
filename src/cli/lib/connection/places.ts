import { readlinkSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { databaseFile } from '../../../core/addresses.js'

// The same site can be spelled in many ways. Two spellings with equal keys are the same site. A key is only compared, never opened.

/** The key of a server. */
export function serverKey(address: string): string {
  if (!URL.canParse(address)) return address
  const { protocol, hostname, port, pathname } = new URL(address)
  const folder = pathname.replaceAll(/\/{2,}/g, '/').replace(/\/$/, '').replace(/\/api\/v1$/, '') // prettier-ignore
  return `${protocol}//${hostKey(hostname)}${port && `:${port}`}${folder}`
}

/** Addresses of this machine. 0.0.0.0 and :: reach it too. */
const HERE = /^(localhost|127(\.\d{1,3}){3}|0\.0\.0\.0|\[(::1?|::ffff:(7f[\da-f]{2}:[\da-f]{1,4}|0:0))\])$/

function hostKey(host: string): string {
  const url = `http://${/^[^[].*:/.test(host) ? `[${host}]` : host}`
  const name = (URL.canParse(url) ? new URL(url).hostname : host.toLowerCase()).replace(/\.$/, '')
  return HERE.test(name) ? 'localhost' : name
}

/** The key of a database. User, password and parameters are not part of it. */
export function databaseKey(url: string, env: Readonly<Record<string, string | undefined>>): string {
  const file = databaseFile(url)
  if (file !== undefined) return fileKey(file.trim()) // as the driver opens it
  if (!URL.canParse(url)) return url
  // As the driver reads it: a parameter wins over what is before it, and variables over what is missing
  const { hostname, port: ownPort, pathname, username, searchParams } = new URL(url)
  const given = (name: string) => searchParams.getAll(name).at(-1) || undefined
  const host = given('host') ?? (decoded(hostname) || env.PGHOST || 'localhost')
  const port = given('port') ?? (ownPort || env.PGPORT || '5432')
  const user = given('user') ?? (decoded(username) || env.PGUSER || env.USER || '')
  const name = decoded(pathname.slice(1)) || env.PGDATABASE || user
  return `postgres://${host.startsWith('/') ? 'localhost' : hostKey(host)}:${Number(port)}/${name}`
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** No system follows more links. */
const MOST_LINKS = 40

/** The key of a file or folder, which need not exist yet. Paths through links and mounts have the same key. */
export function fileKey(file: string, links = MOST_LINKS): string {
  const found = quietly(() => statSync(file, { bigint: true }))
  if (found) return `${found.dev}:${found.ino}`
  const folder = path.dirname(file)
  if (folder === file) return file
  const target = links > 0 ? quietly(() => path.resolve(realpathSync(folder), readlinkSync(file))) : undefined
  return target === undefined ? path.join(fileKey(folder, links), path.basename(file)) : fileKey(target, links - 1)
}

function quietly<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined // it is missing, or not for this user
  }
}
