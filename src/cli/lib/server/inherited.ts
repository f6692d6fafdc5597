import { fstatSync } from 'node:fs'
import type { Logger } from 'pino'
import type { Config } from '../../../config.js'
import { parseListen } from '../../../core/addresses.js'
import { AppError } from '../../../core/errors.js'
import { isLoopback } from '../../../service/lib/clients.js'

/** The first descriptor that a service manager passes, as sd_listen_fds(3) says. */
const FIRST = 3
/** The most sockets. One host needs fewer. */
const MOST = 16

/** Tells a worker how many sockets its primary has inherited. */
const OF_WORKER = 'FEEDBACKCTL_SOCKETS'

type Env = Record<string, string | undefined>

/**
 * Returns the descriptors of sockets that a service manager passed to this process. It removes the variables, so that
 * children do not inherit them.
 */
export function takeSockets(env: Env, { isWorker }: { isWorker: boolean }): number[] {
  const { LISTEN_FDS: count, LISTEN_PID: pid, LISTEN_FDNAMES: names, [OF_WORKER]: ofPrimary } = env
  for (const name of ['LISTEN_FDS', 'LISTEN_PID', 'LISTEN_FDNAMES', OF_WORKER]) delete env[name]
  if (isWorker) return descriptors(Number(ofPrimary ?? 0)) // the cluster module gets them from the primary
  if (count === undefined || pid !== String(process.pid)) return []
  if (!/^[1-9]\d?$/.test(count) || Number(count) > MOST)
    throw new AppError('CONFIG_INVALID', `LISTEN_FDS must be a number of sockets from 1 to ${MOST}; ${JSON.stringify(count.slice(0, 100))} is not.`) // prettier-ignore
  const found = descriptors(Number(count))
  // Check before opening files, which could get the same number
  for (const [index, descriptor] of found.entries())
    if (!isSocket(descriptor)) throw notListening(descriptor, names?.split(':')[index])
  return found
}

/** The variables that tell a worker how many sockets there are. */
export const socketsOfWorker = (sockets: readonly number[]): Record<string, string> =>
  sockets.length === 0 ? {} : { [OF_WORKER]: String(sockets.length) }

/** Warns if the inherited socket has another address than `listen`. */
export function warnOfSockets(
  sockets: readonly number[],
  { config, log, at }: { config: Config; log: Logger; at: string },
): void {
  const listen = config.get('listen') ?? ''
  // Node does not know the path of a Unix socket that it has inherited
  const isSame = at === listen || (at.startsWith('unix:') && listen.startsWith('unix:')) || isSamePort(at, listen)
  if (sockets.length === 0 || isSame) return
  log.warn(`listen is ${listen}, but the inherited socket is at ${at}. Run "feedbackctl service install" to update the unit of the socket`) // prettier-ignore
}

/** Whether a server at this URL has the port of `listen`. */
function isSamePort(at: string, listen: string): boolean {
  const named = parseListen(listen)
  const isLocal = (host: string) => host === 'localhost' || isLoopback(host)
  const { hostname, port } = new URL(at)
  const host = hostname.replaceAll(/[[\]]/g, '')
  return named?.port === Number(port) && (named.host === host || (isLocal(named.host) && isLocal(host)))
}

const descriptors = (count: number): number[] => Array.from({ length: count }, (_, index) => FIRST + index)

const notListening = (descriptor: number, name: string | undefined): AppError =>
  new AppError('CONFIG_INVALID', `Descriptor ${descriptor}${name ? `, ${JSON.stringify(name.slice(0, 100))},` : ''} is not a socket, although LISTEN_FDS says so.`) // prettier-ignore

function isSocket(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isSocket()
  } catch {
    return false // it is not open
  }
}
