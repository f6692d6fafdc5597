import { shownAddress, type ListenAddress } from './addresses.js'
import { AppError } from './errors.js'
import { flagOf, type Key } from './settings.js'

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EACCES: 'this user may not open that port',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'there is no such host',
}

const REASONS_OF_SOCKETS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there, or a file has that name',
  EACCES: 'there is no such folder, or this user may not write in it', // libuv says so of both
  ENOTDIR: 'there is no such folder',
  EROFS: 'that folder cannot be written to',
  ENAMETOOLONG: 'the path is too long for a socket',
  EINVAL: 'the path is too long for a socket',
}

/** Turns an error of `listen` into an AppError that says why. Returns other errors unchanged. */
export function listenFailed(error: unknown, at: ListenAddress, setting: Key): unknown {
  const { code } = error as { code?: string }
  const reason = ('socket' in at ? REASONS_OF_SOCKETS : REASONS)[code ?? '']
  if (reason === undefined) return error
  const message = `Cannot listen on ${shownAddress(at)}: ${reason}. Choose another with --${flagOf(setting)}.`
  return new AppError(code === 'EADDRINUSE' ? 'PORT_IN_USE' : 'LISTEN_FAILED', message, {
    cause: error,
    ...(setting === 'metrics.listen' && { reason: 'metrics-port' }),
  })
}
