// Runs the demo and a dozen commands of the built program on the current Node:
//   node test/support/smoke.js [program]
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

const PROGRAM = path.resolve(process.argv[2] ?? path.join(import.meta.dirname, '../../bin/feedbackctl.js'))
const TIMEOUT_MS = 60_000
const COMMANDS = [
  ['--version', /^\d+\.\d+\.\d+/],
  ['--help', /boards/],
  ['setup --email ada@example.org --generate-password --mail-url folder:mail', /set up/],
  ['boards create Ideas', /Ideas/],
  ['boards list -o table', /Ideas/],
  ['boards list --json', /"url":"ideas"/],
  ['posts create Launch --body Soon --board ideas', /Launch/],
  ['posts list -o csv', /Launch/],
  ['posts search Lau', /Launch/],
  ['roadmaps create Planned', /Planned/],
  ['users list -o yaml', /ada@example.org/],
  ['roles list', /everyone/i],
  ['settings show', /Feedback/],
  ['events list', /board.created/],
  ['boards delete ideas --yes', /ideas/i],
]

const folder = mkdtempSync(path.join(tmpdir(), 'feedbackctl-smoke-'))
const env = {
  PATH: process.env.PATH,
  HOME: folder,
  TMPDIR: folder,
  XDG_CONFIG_HOME: path.join(folder, 'config'),
  XDG_DATA_HOME: path.join(folder, 'data'),
  FEEDBACKCTL_LISTEN: '127.0.0.1:0',
}
const children = []
// A failed assertion leaves none running
process.once('exit', () => children.forEach((child) => child.kill('SIGKILL')))

try {
  for (const [line, expected] of COMMANDS) await command(line, expected)
  await demo()
  process.stdout.write(`Node ${process.versions.node}: ${COMMANDS.length} commands and the demo work\n`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function command(line, expected) {
  const { ended } = start(line)
  const { code, stdout, stderr } = await ended
  assert.equal(code, 0, `feedbackctl ${line} ended with ${code}: ${stderr}`)
  assert.match(stdout + stderr, expected, `feedbackctl ${line}`)
  assert.doesNotMatch(stderr, /Warning:/, `feedbackctl ${line}`) // such as a deprecation in a newer Node
}

async function demo() {
  const { child, ended, says } = start('demo')
  const [, url] = await says(/^Open (http:\S+) in your browser/m)
  const response = await fetch(`${url}/api/v1/boards?limit=3`)
  assert.equal(response.status, 200)
  assert.equal((await response.json()).boards.length, 3)
  const page = await fetch(url, { headers: { accept: 'text/html' } })
  assert.match(await page.text(), /<h1\b/)
  const docs = `${url}/api/v1/docs`
  for (const name of ['', 'json', 'static/swagger-ui-bundle.js', 'static/swagger-ui.css'])
    assert.equal((await fetch(`${docs}/${name}`)).status, 200, `/docs/${name}`)
  child.kill('SIGINT')
  const { code, stderr } = await ended
  assert.equal(code, 0, `feedbackctl demo ended with ${code}: ${stderr}`)
}

function start(line) {
  const child = spawn(process.execPath, [PROGRAM, ...line.split(' ')], { cwd: folder, env, timeout: TIMEOUT_MS })
  children.push(child)
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (text) => (output[name] += text))
  const ended = once(child, 'close').then(([code, signal]) => ({ code: code ?? signal, ...output }))
  return {
    child,
    ended,
    async says(pattern) {
      let found
      const find = () => (found = pattern.exec(output.stdout + output.stderr))
      while (!find()) {
        assert.ok(
          child.exitCode === null && child.signalCode === null,
          `The process never printed ${pattern}: ${output.stderr}`,
        )
        await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data'), ended])
      }
      return found
    },
  }
}
