import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { makeMachine, PROGRAM } from '../support/cli.js'

/** A machine whose /etc is in a folder, and whose systemctl writes down how it was called. */
async function withSystemd({ fails = '' } = {}) {
  const machine = await makeMachine('sqlite')
  const root = path.join(machine.folder, 'root')
  const calls = path.join(machine.folder, 'calls')
  const bin = path.join(machine.folder, 'bin')
  mkdirSync(bin)
  const systemctl = `#!/bin/sh
echo "$*" >> ${calls}
case "$*" in *"${fails || 'nothing'}"*) echo "Failed to do that." >&2; exit 1;; esac
echo "ActiveState=active"
echo "UnitFileState=enabled"
`
  writeFileSync(path.join(bin, 'systemctl'), systemctl)
  chmodSync(path.join(bin, 'systemctl'), 0o755)
  const env = { PATH: `${bin}:${machine.env.PATH}`, FEEDBACKCTL_TEST_ROOT: root }
  return {
    machine,
    run: (args: string) => machine.run(`service ${args}`, { env }),
    unit: (name = 'feedbackctl') => path.join(root, `etc/systemd/system/${name}.service`),
    socket: (name = 'feedbackctl') => path.join(root, `etc/systemd/system/${name}.socket`),
    config: (name = 'feedbackctl') => path.join(root, `etc/${name}/config.toml`),
    data: path.join(root, 'var/lib/feedbackctl'),
    /** Those since the last time. */
    calls() {
      const lines = existsSync(calls) ? readFileSync(calls, 'utf8').trimEnd().split('\n') : []
      writeFileSync(calls, '')
      return lines.filter((line) => line !== '' && !line.endsWith('--version'))
    },
  }
}

it('"service install" writes the units and the settings, and starts the server; again, it changes nothing', async () => {
  const { machine, run, unit, socket, config, data, calls } = await withSystemd()
  const dry = await run('install --dry-run')
  expect(dry).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`Would write ${unit()}.\nWould write ${socket()}.\nWould write ${config()}.\n`),
  })
  expect([existsSync(unit()), calls()]).toEqual([false, []])

  const done = await run('install')
  expect(done).toMatchObject({ code: 0, stderr: expect.stringContaining(`\n  feedbackctl setup --config ${config()}\n`) }) // prettier-ignore
  const starting = ['enable feedbackctl.socket feedbackctl.service', 'start feedbackctl.socket feedbackctl.service']
  expect(calls()).toEqual(['daemon-reload', ...starting])
  expect(readFileSync(unit(), 'utf8')).toBe((await run('print')).stdout)
  expect(readFileSync(socket(), 'utf8')).toBe((await run('print --socket')).stdout)
  expect([statSync(unit()).mode & 0o777, statSync(config()).mode & 0o777]).toEqual([0o644, 0o600])
  expect((await machine.run(`config get data.dir --config ${config()}`)).stdout).toBe(`${data}\n`)
  writeFileSync(config(), 'listen = "127.0.0.1:8000"\n') // as earlier versions did

  expect(await run('install')).toMatchObject({ code: 0, stderr: expect.stringContaining(`\n  feedbackctl setup --data-dir ${data} --config ${config()}\n`) }) // prettier-ignore
  expect(calls()).toEqual(starting)
  writeFileSync(unit(), 'of an earlier version')
  await run('install')
  expect(calls()).toEqual(['daemon-reload', ...starting, 'try-restart feedbackctl.service']) // the socket stays open
  writeFileSync(config(), 'listen = "127.0.0.1:9000"\n')
  await run('install')
  expect(calls()).toEqual(['daemon-reload', 'stop feedbackctl.socket feedbackctl.service', ...starting])
  expect(readFileSync(socket(), 'utf8')).toContain('\nListenStream=127.0.0.1:9000\n')
  expect(readFileSync(config(), 'utf8')).toBe('listen = "127.0.0.1:9000"\n')
})

it('"service print" runs this program, hardened, with the settings of the name', async () => {
  const { run, config } = await withSystemd()
  const { stdout } = await run('print --name ideas')
  expect(stdout).toMatch(
    /^ExecStart=\S+ \S+\/bin\/feedbackctl\.js serve --config \$\{CREDENTIALS_DIRECTORY\}\/config\.toml$/m,
  )
  for (const line of [
    `LoadCredential=config.toml:${config('ideas')}`,
    'StateDirectory=ideas',
    'DynamicUser=yes',
    'ProtectSystem=strict',
    'CapabilityBoundingSet=',
  ])
    // prettier-ignore
    expect(stdout.split('\n')).toContain(line)
  const own = (await run('print --user')).stdout
  expect(own).not.toMatch(/DynamicUser|StateDirectory|ProtectSystem/)
  expect(own).toContain('WantedBy=default.target')
})

it('"service install" of an earlier version, without a socket, stops the server that has the port', async () => {
  const { run, unit, socket, calls } = await withSystemd()
  await run('install')
  rmSync(socket())
  calls()
  await run('install')
  expect(calls()).toEqual(['daemon-reload', 'stop feedbackctl.socket feedbackctl.service', 'enable feedbackctl.socket feedbackctl.service', 'start feedbackctl.socket feedbackctl.service']) // prettier-ignore
  rmSync(socket())
  expect(JSON.parse((await run('status --json')).stdout)).toMatchObject({ socket: 'none' })
  calls()
  await run('uninstall --yes')
  expect(calls()).toEqual(['disable feedbackctl.service', 'stop feedbackctl.service', 'daemon-reload'])
  expect(existsSync(unit())).toBe(false)
})

it.each([
  ['', 'ListenStream=127.0.0.1:8000\n'],
  ['listen = "0.0.0.0:80"', 'ListenStream=0.0.0.0:80\n'],
  ['listen = "[2001:db8::1]:443"', 'ListenStream=[2001:db8::1]:443\n'],
  ['listen = 9000', 'ListenStream=127.0.0.1:9000\n'],
  ['listen = "unix:/run/100% mine.sock"', 'ListenStream=/run/100%% mine.sock\nSocketMode=0660\n'],
  ['listen = "unix:/run/a"\nsocket.mode = "666"', 'ListenStream=/run/a\nSocketMode=0666\n'],
  ['listen = "localhost:9000"', 'ListenStream=127.0.0.1:9000\n'],
])('the socket of a service listens where the settings say: %s', async (settings, line) => {
  const { run, config } = await withSystemd()
  mkdirSync(path.dirname(config()), { recursive: true })
  writeFileSync(config(), settings)
  // Variables of whoever installs the service are not of the service
  expect((await run('print --socket')).stdout.split('\n\n')[1]).toContain(`[Socket]\n${line}`)
})

it.each([
  ['listen = "127.0.0.1:0"', 'has no port'],
  ['listen = "no.such.host.invalid:80"', 'names the unknown host'],
  ['listen = "127.0.0.1:80\\nExecStartPre=x"', 'listen must be'],
  ['listen = ', 'is not valid TOML'],
])('"service install" refuses %s and writes nothing', async (settings, message) => {
  const { run, unit, config, calls } = await withSystemd()
  mkdirSync(path.dirname(config()), { recursive: true })
  writeFileSync(config(), settings)
  expect(await run('install')).toMatchObject({ code: 2, stderr: expect.stringContaining(message) })
  expect([existsSync(unit()), calls()]).toEqual([false, []])
})

it('"service install --user" asks the systemd of the user, in the folders of the user', async () => {
  const { run, machine, calls } = await withSystemd()
  expect((await run('install --user --name ideas')).code).toBe(0)
  expect(calls()).toEqual([
    '--user daemon-reload',
    '--user enable ideas.socket ideas.service',
    '--user start ideas.socket ideas.service',
  ])
  const folder = path.join(machine.folder, 'config')
  expect(readFileSync(path.join(folder, 'systemd/user/ideas.service'), 'utf8')).toContain(` serve --config ${folder}/ideas/config.toml\n`) // prettier-ignore
})

it('"service status" and "service uninstall" know what is installed', async () => {
  const { run, unit, socket, config, calls } = await withSystemd()
  expect(await run('status')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('fix   feedbackctl service install'),
  })
  expect(await run('uninstall --yes')).toMatchObject({ code: 3 })
  await run('install')
  expect(JSON.parse((await run('status --json')).stdout)).toEqual({ name: 'feedbackctl', unit: unit(), active: 'active', enabled: 'enabled', socket: 'active' }) // prettier-ignore
  calls()
  expect(await run('uninstall')).toMatchObject({ code: 5, stderr: expect.stringContaining('CONFIRMATION_NEEDED') })
  expect((await run('uninstall --dry-run')).stderr).toContain(`Would remove ${unit()}.\n`)
  expect([existsSync(unit()), calls()]).toEqual([true, []])
  expect((await run('uninstall --yes')).code).toBe(0)
  expect(calls()).toEqual([
    'disable feedbackctl.socket feedbackctl.service',
    'stop feedbackctl.socket feedbackctl.service',
    'daemon-reload',
  ])
  expect([unit(), socket(), config()].map((file) => existsSync(file))).toEqual([false, false, true])
})

it('a service fails with a cause and changes nothing where systemd is missing or the name is wrong', async () => {
  const { machine, run, unit, calls } = await withSystemd()
  const root = path.join(machine.folder, 'root')
  const none = await machine.run('service install', { env: { PATH: '/nowhere', FEEDBACKCTL_TEST_ROOT: root } })
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('There is no systemd on this machine') })
  for (const name of ['../x', 'Ideas', '💡', '%i', 'a'.repeat(51), '-'])
    expect(await run(`install --name=${name}`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--name must be'),
    })
  expect([existsSync(unit()), existsSync(root), calls()]).toEqual([false, false, []])
})

it('"service install" says what systemd said, and which command says why the server does not start', async () => {
  const { run } = await withSystemd({ fails: 'start' })
  const said =
    /systemctl start feedbackctl\.socket feedbackctl\.service failed: Failed to do that\.[^]*fix {3}journalctl -u feedbackctl\.socket -u feedbackctl -n 20\n[^]*SERVICE_FAILED \(exit 1\)/
  expect(await run('install')).toMatchObject({ code: 1, stderr: expect.stringMatching(said) })
  const own = await run('install --user --name ideas')
  expect(own).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('  fix   journalctl --user -u ideas.socket -u ideas -n 20\n'),
  })
})

it('"setup" and "config set" name the command that restarts the service with these settings', async () => {
  const { machine, run, config } = await withSystemd()
  const command = (args: string) => machine.run(`${args} --config ${config()}`, { env: { FEEDBACKCTL_TEST_ROOT: path.join(machine.folder, 'root') } }) // prettier-ignore
  await run('install')
  const done = await command('setup --email ada@example.org --generate-password --mail-url folder:mail')
  expect(done.stdout).toContain('  next    systemctl restart feedbackctl\n')
  const set = await command('config set log.level debug')
  expect(set.stderr).toContain('Run "systemctl restart feedbackctl" to use it.')
  expect((await command('config set socket.mode 660')).stderr).toContain('Run "feedbackctl service install" to use it.') // prettier-ignore
  await run('install --user')
  const own = path.join(machine.env.XDG_CONFIG_HOME ?? '', 'feedbackctl/config.toml')
  expect((await machine.run(`config set log.level debug --config ${own}`)).stderr).toContain('Run "systemctl --user restart feedbackctl" to use it.') // prettier-ignore
  await run('uninstall --yes')
  expect((await command('config set log.level info')).stderr).toContain('Restart "feedbackctl serve" to use it, or send it SIGHUP.') // prettier-ignore
})

it('root makes the owner of a service, and finds its site, without options: the settings of the machine say where', async () => {
  const machine = await makeMachine('sqlite')
  const data = path.join(machine.folder, 'service')
  const script = `mount -t tmpfs none /etc && mkdir /etc/feedbackctl && printf 'data.dir = "%s"\\n' "$2" > /etc/feedbackctl/config.toml &&
    "$0" "$1" setup --email ada@example.org --generate-password --mail-url folder:mail --site-url https://feedback.example.org &&
    "$0" "$1" config set backup.every 1d && "$0" "$1" config get backup.every && "$0" "$1" status && cat /etc/feedbackctl/config.toml`
  const args = ['--map-root-user', '--mount', 'sh', '-c', script, process.execPath, PROGRAM, data]
  const env = { ...machine.env, XDG_DATA_HOME: machine.folder }
  const { stdout } = await promisify(execFile)('unshare', args, { env, cwd: machine.folder })
  for (const part of ['  config  /etc/feedbackctl/config.toml (written)\n', '\n1d\n', `\t${data}/feedback.db (from /etc/feedbackctl/config.toml)\t`, '\n[site]\nurl = "https://feedback.example.org"\n', '\n[backup]\nevery = "1d"\n'])
    expect(stdout).toContain(part) // prettier-ignore
})
