import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Command } from 'commander'
import { localCall, openApp, type App } from '../app.js'
import { listenAddress, loadConfig, ratesOf, type Config } from '../config.js'
import { AppError } from '../core/errors.js'
import { startDaemon, type Daemon } from '../serve.js'
import * as posts from '../service/posts.js'
import { fillDemo, OWNER } from './lib/demodata.js'
import { isMachineReadable, print, type OutputFlags } from './lib/output.js'
import { columns } from './posts.js'
import { untilStopped } from './serve.js'
import type { Cli } from './lib/session.js'
import { say, write, type Terminal } from './lib/terminal.js'

export function register(command: Command, cli: Cli): void {
  command
    .option('--once', 'print the output, then stop and remove the site')
    .addHelpText('before', 'Examples:\n  $ feedbackctl demo\n  $ feedbackctl demo --once\n')
    .action(async () => {
      const flags = command.optsWithGlobals<OutputFlags & { once?: boolean }>()
      const folder = mkdtempSync(path.join(tmpdir(), 'feedbackctl-demo-'))
      const opened: { app?: App; daemon?: Daemon } = {}
      const remove = async () => {
        await opened.daemon?.stop(1)
        await opened.app?.close()
        rmSync(folder, { recursive: true, force: true })
      }
      const stopped = untilStopped(5, remove) // before anything is created, so that Ctrl-C always cleans up
      try {
        const file = path.join(folder, 'feedbackctl.toml')
        writeFileSync(file, `listen = "127.0.0.1:8000"\n\n[data]\ndir = "data"\n\n[mail]\nurl = "folder:mail"\n`)
        const config = await loadConfig({ flags: { config: file }, env: {}, cwd: folder })
        const app = (opened.app = await openApp(config, { creating: true }))
        const token = await fillDemo(app)
        const daemon = (opened.daemon = await listen(app, config, cli.terminal))
        await show(cli, flags, { app, daemon, token, file })
        if (!flags.once) {
          say(cli.terminal, '\nServing until Ctrl-C, which also removes the site.')
          await stopped
        }
      } finally {
        await remove()
      }
    })
}

/** Listens on port 8000, or on any free port if that is in use. */
async function listen(app: App, config: Config, { stderr }: Terminal): Promise<Daemon> {
  const quiet = { level: 'warn', stream: stderr }
  try {
    return await startDaemon(app, { ...listenAddress(config), rates: ratesOf(config) }, quiet)
  } catch (error) {
    if (error instanceof AppError && ['LISTEN_FAILED', 'PORT_IN_USE'].includes(error.code))
      return startDaemon(app, { host: '127.0.0.1', port: 0, rates: ratesOf(config) }, quiet)
    throw error
  }
}

async function show(
  { terminal }: Cli,
  flags: OutputFlags,
  { app, daemon, token, file }: { app: App; daemon: Daemon; token: string; file: string },
): Promise<void> {
  const answer = await localCall(app)(posts.list, { limit: 15, sort: 'votes' })
  await print(terminal, isMachineReadable(flags) ? flags : { ...flags, output: flags.output ?? 'table' }, {
    body: answer,
    rows: answer.posts,
    columns,
    id: (post) => post.slug,
    single: false,
  })
  const root = `${daemon.url}/api/v1`
  const json = `-H 'Content-Type: application/json'`
  const lines = [
    '',
    `${OWNER.siteTitle} is served at ${root}`,
    `API documentation: ${root}/docs/`,
    '',
    'Try these in another terminal:',
    `  curl '${root}/boards?limit=3'`,
    `  curl '${root}/boards?created=asc&page=2'`,
    `  curl ${json} -d '{"sort":"votes","limit":3}' ${root}/posts/get`,
    `  curl ${root}/roadmaps`,
    `  curl ${json} -d '${JSON.stringify({ email: OWNER.email, password: OWNER.password })}' ${root}/auth/login`,
    `  curl ${json} -d '{"title":"🚀 Launch"}' \\`,
    `    -H 'Authorization: Bearer ${token}' \\`,
    `    ${root}/posts`,
    `  npx feedbackctl --config ${file} posts list --board ideas`,
    `  npx feedbackctl --config ${file} events list --follow`,
  ]
  if (isMachineReadable(flags)) say(terminal, lines.join('\n'))
  else await write(terminal, `${lines.join('\n')}\n`)
}
