import { urlOf } from './addresses.js'
import { AppError } from './errors.js'
import { flagOf, type Key } from './settings.js'

/** Turns an error of `listen` into an AppError that says why. Returns other errors unchanged. */
export function listenFailed(
  error: unknown,
  { host, port, setting }: { host: string; port: number; setting: Key },
): unknown {
  const { code } = error as { code?: string }
  const reasons: Record<string, string> = {
    EADDRINUSE: 'another program listens there',
    EACCES: 'this user may not open that port',
    EADDRNOTAVAIL: 'this machine has no such address',
    ENOTFOUND: 'there is no such host',
  }
  const reason = reasons[code ?? '']
  if (reason === undefined) return error
  const message = `Cannot listen on ${urlOf(host, port).slice('http://'.length)}: ${reason}. Choose another with --${flagOf(setting)}.`
  return new AppError(code === 'EADDRINUSE' ? 'PORT_IN_USE' : 'LISTEN_FAILED', message, {
    cause: error,
    ...(setting === 'metrics.listen' && { reason: 'metrics-port' }),
  })
}
