// Runs the program on a small disk of its own, which is full for a while, and prints what it answers as JSON. Started by
// `unshare --map-root-user --mount`, so that nobody else sees the disk.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const [program, folder] = process.argv.slice(2)
execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder])
const env = { PATH: process.env.PATH, HOME: folder, XDG_CONFIG_HOME: `${folder}/config`, XDG_DATA_HOME: `${folder}/data`, FEEDBACKCTL_LISTEN: '127.0.0.1:0', NODE_DISABLE_COMPILE_CACHE: '1' } // prettier-ignore
const run = (args, input = '') => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { cwd: folder, env, input, encoding: 'utf8' }) // prettier-ignore
  return { code: status, stdout, stderr }
}
const setup = run(['setup', '--email', 'ada@example.org', '--password-stdin', '--name', 'Ada', '--mail-url', 'folder:mail', '--json'], 'correct horse battery\n') // prettier-ignore
const token = JSON.parse(setup.stdout).user.authToken
const server = spawn(process.execPath, [program, 'serve'], { cwd: folder, env })
let log = ''
server.stderr.on('data', (text) => (log += text))
while (!/listening on/.test(log)) await once(server.stderr, 'data')
const [, url] = /listening on (http:\S+?)"/.exec(log)

const ready = async () => (await fetch(`${url}/readyz`)).status
const write = async () => {
  const body = JSON.stringify({ title: 'A post', contentMarkdown: 'x'.repeat(20_000) })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const response = await fetch(`${url}/api/v1/posts`, { method: 'POST', headers, body })
  return `${response.status} ${(await response.json()).code ?? ''}`.trim()
}
const found = { before: [await write(), await ready()] }
const filler = path.join(folder, 'filler')
for (const size of [65_536, 512])
  try {
    for (;;) writeFileSync(filler, Buffer.alloc(size), { flag: 'a' })
  } catch (error) {
    if (error.code !== 'ENOSPC') throw error
  }
found.command = run(['boards', 'create', 'Ideas'])
found.full = await ready() // before the server has tried to write
found.writes = [await write(), await write()]
found.page = (await fetch(url)).status
const taken = await fetch(`${url}/api/v1/export`, { headers: { authorization: `Bearer ${token}` } })
found.exported = `${taken.status} ${(await taken.json()).code}`
const backups = `${folder}/data/feedbackctl/backups`
found.backup = { ...run(['backup', 'create']), left: existsSync(backups) ? readdirSync(backups) : [] }
rmSync(filler)
found.after = [await ready(), await write(), run(['boards', 'create', 'Ideas']).code, run(['backup', 'create']).code]
server.kill()
await once(server, 'exit')
process.stdout.write(JSON.stringify(found))
