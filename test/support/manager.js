// A service manager in small: opens a socket and starts the program with it, again and again, as systemd does. It takes
// no connection itself, because it waits for the program without an event loop.
// ROUNDS: how often. KIND: of the socket. FDS, PID, NAMES: what the program is told in place of what is true.
import { spawnSync } from 'node:child_process'
import dgram from 'node:dgram'
import { openSync } from 'node:fs'
import net from 'node:net'
import path from 'node:path'

const PROGRAM = path.resolve(import.meta.dirname, '../../bin/feedbackctl.js')
const { ROUNDS = '1', KIND = 'tcp', FDS = '1', PID = '$$', NAMES, AT = '127.0.0.1:0', ...env } = process.env

const [, host, port] = /^(.*):(\d+)$/.exec(AT)

/** Only Node's own handles know their descriptors. */
const descriptorOf = (socket) => socket._handle.fd // oxlint-disable-line no-underscore-dangle -- as above

const listening = (at) =>
  new Promise((resolve) => {
    const server = net.createServer().listen(at, () => run(descriptorOf(server)) || resolve())
  })

const kinds = {
  tcp: () => listening({ host, port: Number(port) }),
  unix: () => listening({ path: path.resolve('socket') }),
  udp() {
    const socket = dgram.createSocket('udp4').bind(0, '127.0.0.1', () => run(descriptorOf(socket)))
  },
  file: () => run(openSync('file', 'w')),
  none: () => run('ignore'),
}

kinds[KIND]()

function run(socket) {
  const told = [`LISTEN_PID=${PID}`, `LISTEN_FDS=${FDS}`, ...(NAMES === undefined ? [] : [`LISTEN_FDNAMES=${NAMES}`])]
  const script = `echo "started $$" >&2; ${told.join(' ')} exec "$@"`
  for (let round = 0; round < Number(ROUNDS); round++) {
    const words = ['-c', script, 'sh', process.execPath, PROGRAM, ...process.argv.slice(2)]
    const { status } = spawnSync('sh', words, { stdio: [0, 1, 2, socket], env })
    if (status !== 0) process.exit(status ?? 1)
  }
  process.exit(0)
}
