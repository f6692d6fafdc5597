import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { makeMachine, PROGRAM } from './support/cli.js'
import { freePort } from './support/ports.js'
import { cleanup } from './support/site.js'

// The commands of docs/operating.md, run as they stand there, on a machine of their own without systemd and Docker.

const text = readFileSync(path.join(import.meta.dirname, '../docs/operating.md'), 'utf8')
const blocks = [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = '']) => block)

/** Programs that stand in for what the machine of a test has not. */
const STAND_INS = {
  feedbackctl: `exec ${process.execPath} ${PROGRAM} "$@"`,
  sudo: 'exec "$@"',
  // Says that the unit runs
  systemctl: 'echo ActiveState=active; echo UnitFileState=enabled',
  journalctl: '[ "$*" = "-u feedbackctl" ]',
  ssh: 'shift; exec sh -c "$*"',
  // A server that has just been started does not listen yet
  'apt-get': '[ "$*" = "install caddy" ]',
  npm: '[ "$*" = "install -g feedbackctl" ]',
  curl: `PATH=\${PATH#*:} exec curl --silent --fail --retry 60 --retry-connrefused --retry-delay 1 "$@"`,
}

/** Ends of lines: for a person who answers, for a server that would go on, and where doctor may find something. */
const ANSWERED: readonly [RegExp, string][] = [
  // The settings of this machine are elsewhere
  [/^(sudo feedbackctl (?:setup|config set .*))$/, '$1 --config /etc/feedbackctl/config.toml'],
  [/^(feedbackctl restore FILE(?: --into \S+)?)$/, '$1 --yes'],
  [/^(feedbackctl serve) &$/, '$1 --listen 127.0.0.1:0 2> log &'],
  [
    /^(\S+ feedbackctl serve .*)$/,
    '$1 --listen 127.0.0.1:0 2> log &\ngrep -qm1 "listening on" < <(tail --pid=$! -n +1 -f log)',
  ],
  [/^(feedbackctl doctor .*)$/, '$1 || [ $? = 9 ]'], // as for a server that has not come back from the restore
]

const isOfDocker = (block: string) => /^docker /m.test(block)

it('the commands of docs/operating.md work, without those of Docker', async () => {
  expect(blocks.filter((block) => !isOfDocker(block)).length).toBeGreaterThan(6)
  const machine = await makeMachine('sqlite')
  const [port, metrics] = [await freePort(), await freePort()]
  const bin = path.join(machine.folder, 'bin')
  for (const folder of [
    'bin',
    'usr/share/bash-completion/completions',
    'etc/caddy',
    'etc/feedbackctl',
    'var/lib',
    'mnt',
    'srv',
  ])
    mkdirSync(path.join(machine.folder, folder), { recursive: true })
  for (const [name, script] of Object.entries(STAND_INS)) {
    writeFileSync(path.join(bin, name), `#!/bin/sh\n${script}\n`)
    chmodSync(path.join(bin, name), 0o755)
  }
  writeFileSync(path.join(machine.folder, 'password'), 'correct horse battery')
  await machine.setup(machine.process)
  const url = `http://127.0.0.1:${port}`
  const server = machine.start('serve', { env: { FEEDBACKCTL_LISTEN: `127.0.0.1:${port}` } })
  await server.says(/listening on/)
  const env = {
    ...machine.env,
    FEEDBACKCTL_LISTEN: `127.0.0.1:${port}`,
    PATH: `${bin}:${machine.env.PATH}`,
    FEEDBACKCTL_TEST_ROOT: machine.folder,
    FEEDBACKCTL_SITE_URL: url,
    FEEDBACKCTL_SETUP_EMAIL: 'ada@example.org',
    FEEDBACKCTL_SETUP_PASSWORD_FILE: path.join(machine.folder, 'password'),
    FEEDBACKCTL_MAIL_URL: 'folder:mail',
  }
  for (const block of blocks.filter((each) => !isOfDocker(each))) {
    const lines = block
      .split('\n')
      .map((line) => line.replace(/ +# .*$/, ''))
      .map((line) => ANSWERED.reduce((sum, [from, to]) => sum.replace(from, to), line))
    const script = lines
      .join('\n')
      .replaceAll(/(?<=[ =])\/(etc|var|mnt|srv|usr\/share)\//g, `${machine.folder}/$1/`)
      .replaceAll('FILE', '"$(newest)"')
      .replaceAll('_"$(newest)"=', '_FILE=')
      .replaceAll('https://feedback.example.org', url)
      .replaceAll('9464', String(metrics))
      .replaceAll('--listen 3000', `--listen ${port}`)
    const newest = `newest() { ls -t ${machine.folder}/data/feedbackctl/backups/*.backup | head -1; }`
    const ended = 'trap "jobs -p | xargs -r kill; wait" EXIT'
    const { code, stderr } = await bash(['set -euo pipefail', newest, ended, script].join('\n'), {
      cwd: machine.folder,
      env,
    })
    expect({ block, code, stderr }).toEqual({ block, code: 0, stderr: expect.any(String) })
  }
  expect(await server.stop()).toMatchObject({ code: 0 })
})

/** Runs a script, and ends what it has started, even if the test ends before. */
async function bash(script: string, options: { cwd: string; env: Record<string, string> }) {
  const child = spawn('bash', ['-c', script], { ...options, detached: true, stdio: ['ignore', 'ignore', 'pipe'] })
  const end = () => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL')
    } catch {
      // all have ended
    }
  }
  cleanup(async () => end())
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const [code] = (await once(child, 'close')) as [number | null]
  end()
  return { code, stderr }
}
