// Builds the image of the Dockerfile and runs it:  npm run test:container [-- IMAGE]
// It needs Linux, root, Buildah, and a registry with the base images, or these in Buildah's store. It needs no container
// engine: each container is a chroot in namespaces of its own, on a read-only file system, with no capability, as another
// user. Settings of the build, such as certificates of a proxy, go into the base images.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'

const ROOT = path.resolve(import.meta.dirname, '../..')
const MB = 1e6
/** The image has 250 MB at most, of which debian:bookworm-slim takes 75. A base that was made by hand may be larger. */
const MOST_ADDED = 175 * MB
/** Milliseconds after SIGTERM until an engine kills a container. */
const ENGINE_WAITS = 10_000
const FORBIDDEN = ['cc', 'gcc', 'g++', 'make', 'python3', 'npm', 'npx', 'yarn']
const PASSWORD = 'correct horse battery'
const READY = /listening on http:\S+:(\d+)"/

const buildah = (...args) => execFileSync('buildah', args, { encoding: 'utf8', maxBuffer: 64 * MB, stdio: ['ignore', 'pipe', 'inherit'] }).trim() // prettier-ignore
const folder = mkdtempSync(path.join(tmpdir(), 'feedbackctl-container-'))
const started = []
let working

try {
  const image = process.argv[2] ?? 'localhost/feedbackctl-test'
  if (process.argv[2] === undefined) {
    say('builds the image')
    buildah(
      'build',
      '--isolation',
      'chroot',
      '--network',
      'host',
      '--format',
      'docker',
      '--layers=false',
      '-t',
      image,
      ROOT,
    )
  }
  working = buildah('from', '--pull=never', image)
  await main(JSON.parse(buildah('inspect', '--type', 'image', image)), buildah('mount', working))
  say('all is well')
} catch (error) {
  process.stderr.write(`✗ ${error.message}\n`)
  process.exitCode = 1
} finally {
  for (const { inner } of started)
    if (inner !== undefined && existsSync(`/proc/${inner}`)) process.kill(inner, 'SIGKILL')
  if (working !== undefined) buildah('rm', working)
  rmSync(folder, { recursive: true, force: true })
}

async function main({ Docker: { config } }, root) {
  const base = layersOf('debian:bookworm-slim')
  const added = sizeOf(root) - base
  say(`the image adds ${Math.round(added / MB)} MB to a base of ${Math.round(base / MB)} MB`)
  check(added < MOST_ADDED, `it adds more than ${MOST_ADDED / MB} MB`)
  const found = FORBIDDEN.filter((name) => config.Env[0].slice('PATH='.length).split(':').some((each) => existsSync(path.join(root, each, name)))) // prettier-ignore
  check(found.length === 0, `it has ${found.join(', ')}`)
  const modules = readdirSync(path.join(root, 'opt/feedbackctl/node_modules')).toSorted()
  check(modules.join() === '@node-rs,better-sqlite3', `it has the packages ${modules.join()}`)
  check(config.Healthcheck?.Test.join(' ') === 'CMD feedbackctl healthcheck', 'it has another health check')

  const place = { root, env: config.Env, entry: config.Entrypoint }
  const user = Number(config.User.split(':')[0])
  await firstStart(place, config.Cmd, user)
  await fromVariables(place, config.Cmd, 4711)
  await wrongOwner(place, config.Cmd, user)
}

/** Without any variable: it comes up, setup runs beside it, and no acknowledged write is lost when it stops. */
async function firstStart(place, command, uid) {
  say(`user ${uid}, without settings`)
  const data = newData(uid)
  const port = await freePort()
  const at = { ...place, data, uid, more: [`FEEDBACKCTL_LISTEN=0.0.0.0:${port}`] }
  const server = run(at, command)
  await server.says(READY)
  await server.says(/docker exec -it \S+ feedbackctl setup/)
  check(/"pid":1,/.test(server.output()), 'the server is not process 1')
  await succeeds(at, ['healthcheck', '--ready'])
  const answer = await succeeds(at, ['setup', '--email', 'ada@example.org', '--generate-password', '--mail-url', 'folder:/data/mail', '--json']) // prettier-ignore
  check(existsSync(path.join(data, 'feedbackctl/config.toml')), 'setup wrote no configuration file')
  await stops(server)

  const again = run(at, command)
  await again.says(READY)
  check(!/no owner yet|mail is not configured/.test(again.output()), 'the server does not know what setup wrote')
  const { authToken } = JSON.parse(answer.slice(answer.indexOf('{'))).user
  const written = await writeUntilStopped(`http://127.0.0.1:${port}`, authToken, again)
  const boards = await succeeds(at, ['boards', 'list', '--all', '-o', 'name'])
  const lost = written.filter((url) => !boards.split('\n').includes(url))
  check(written.length > 0 && lost.length === 0, `${lost.length} of ${written.length} writes are lost`)
  say(`stopped beside ${written.length} writes, of which none is lost`)
}

async function writeUntilStopped(url, token, server) {
  const written = []
  const stopping = []
  const write = async (writer) => {
    for (let number = 0; ; number++) {
      const name = `w${writer}-${number}`
      const response = await fetch(`${url}/api/v1/boards`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name, url: name }),
      }).catch(() => undefined)
      if (!response?.ok) return
      written.push(name)
      if (writer === 0 && number === 50) stopping.push(stops(server))
    }
  }
  await Promise.all([0, 1, 2, 3].map(write))
  check(stopping.length > 0, 'writes failed before the server was stopped')
  await Promise.all(stopping)
  return written
}

/** As a user that the image does not know, with secrets in files. */
async function fromVariables(place, command, uid) {
  say(`user ${uid}, with variables and files of secrets`)
  const data = newData(uid)
  for (const [name, text] of Object.entries({
    'password.txt': PASSWORD,
    'mail.txt': 'folder:/data/mail',
    'secret.txt': 'b2a5'.padEnd(40, 'mnbvcxz'),
  })) {
    // prettier-ignore
    writeFileSync(path.join(data, name), `${text}\n`, { mode: 0o400 })
    chownSync(path.join(data, name), uid, uid)
  }
  const port = await freePort()
  const more = [
    `FEEDBACKCTL_LISTEN=0.0.0.0:${port}`,
    'FEEDBACKCTL_SETUP_EMAIL=ada@example.org',
    'FEEDBACKCTL_SETUP_PASSWORD_FILE=/data/password.txt',
    'FEEDBACKCTL_MAIL_URL_FILE=/data/mail.txt',
    'FEEDBACKCTL_SECRET_FILE=/data/secret.txt',
  ]
  const server = run({ ...place, data, uid, more }, command)
  await server.says(READY)
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'ada@example.org', password: PASSWORD }),
  })
  check(response.status === 200, `the owner cannot sign in: ${response.status}`)
  await stops(server)
}

async function wrongOwner(place, command, uid) {
  say('a folder of root')
  const server = run({ ...place, data: newData(0), uid, more: [] }, command)
  check((await server.ended) !== 0, 'the server ends with 0')
  check(
    server.output().includes(`fix   chown ${uid}:${uid} /data\n`),
    `it does not print the chown line:\n${server.output()}`,
  )
}

/** Runs a command as process 1 of its own namespace. */
function run({ root, env, entry, data, uid, more }, command) {
  const prepare = `mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" \
    && mount --bind "$1" "$0/data" && shift && exec chroot "$0" "$@"`
  const drop = ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--bounding-set=-all', '--inh-caps=-all', '--no-new-privs'] // prettier-ignore
  const inside = ['env', '-i', '-C', '/data', ...env, ...more, ...drop, ...entry, ...command]
  const child = spawn('unshare', ['--mount', '--pid', '--fork', '--propagation', 'private', 'sh', '-c', prepare, root, data, ...inside], { stdio: ['ignore', 'pipe', 'pipe'] }) // prettier-ignore
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part) => (text += part))
  const ended = once(child, 'close').then(([code]) => code)
  const self = {
    ended,
    output: () => text,
    get inner() {
      const file = `/proc/${child.pid}/task/${child.pid}/children`
      return existsSync(file) ? Number(readFileSync(file, 'utf8').split(' ')[0]) || undefined : undefined
    },
    async says(pattern) {
      for (;;) {
        if (pattern.test(text)) return
        const next = await Promise.race([ended, Promise.race([once(child.stderr, 'data'), once(child.stdout, 'data')])])
        if (typeof next === 'number') throw new Error(`It ended with ${next}:\n${text}`)
      }
    },
  }
  started.push(self)
  return self
}

async function succeeds(at, command) {
  const { ended, output } = run(at, command)
  const code = await ended
  check(code === 0, `${command.join(' ')} ended with ${code}:\n${output()}`)
  return output()
}

async function stops(server) {
  const since = performance.now()
  process.kill(server.inner, 'SIGTERM')
  const code = await server.ended
  check(code === 0, `the server ended with ${code}:\n${server.output()}`)
  const took = performance.now() - since
  check(took < ENGINE_WAITS, `the server took ${Math.round(took / 1000)} s to stop`)
}

function newData(uid) {
  const data = mkdtempSync(path.join(folder, 'data-'))
  chownSync(data, uid, uid)
  return data
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  return port
}

function layersOf(base) {
  const container = buildah('from', '--pull=never', base)
  try {
    return sizeOf(buildah('mount', container))
  } finally {
    buildah('rm', container)
  }
}

function sizeOf(root) {
  return Number(execFileSync('du', ['-sxB1', root], { encoding: 'utf8' }).split('\t')[0])
}

function check(holds, problem) {
  if (!holds) throw new Error(problem)
}

function say(line) {
  process.stdout.write(`${line}\n`)
}
