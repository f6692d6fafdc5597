import { rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'
import type { Command } from 'commander'
import { localCall } from '../app/call.js'
import { openApp, type App } from '../app/open.js'
import { listenAddress, loadConfig, ratesOf } from '../config.js'
import { parseListen, urlOf } from '../core/addresses.js'
import { AppError } from '../core/errors.js'
import { createFile, makePrivateFolder } from '../core/files.js'
import { listenFailed } from '../core/listening.js'
import { startDaemon, type Daemon } from '../serve.js'
import * as posts from '../service/posts.js'
import { fillDemo, OWNER } from './demodata.js'
import type { Cli } from './lib/connection/session.js'
import { setFixes } from './lib/errors/fixes.js'
import { explain } from './lib/flags/helptext.js'
import { isMachineReadable, print, type OutputFlags } from './lib/output/output.js'
import { siteExports } from './lib/server/siteexports.js'
import { siteImports } from './lib/server/siteimports.js'
import { untilStopped } from './lib/server/shutdown.js'
import { say, tell, write } from './lib/terminal/terminal.js'
import { columns } from './postcolumns.js'
import { version } from './version.js'

const HOST = '127.0.0.1' // not localhost, where another program may listen on the same port of ::1
const PORT = 8000

export function register(command: Command, cli: Cli): void {
  setFixes(command, { PORT_IN_USE: ['demo'], LISTEN_FAILED: ['demo'] })
  explain(command, {
    own: ['listen'],
    examples: ['demo', 'demo --listen 127.0.0.1:9000', 'demo --once'],
    notes: ['It listens on 127.0.0.1:8000, or on a free port where that is taken, unless --listen says otherwise.'],
  })
    .option('--once', 'print the output, then stop and remove the site')
    .action(async () => {
      const flags = command.optsWithGlobals<OutputFlags & { once?: boolean; listen?: string }>()
      const wanted = flags.listen === undefined ? undefined : parseListen(flags.listen)
      if (flags.listen !== undefined && !wanted) throw new AppError('USAGE', '--listen must be HOST:PORT or PORT.')
      const opened: { held?: HeldPort; app?: App; daemon?: Daemon } = {}
      const close = async () => {
        await opened.held?.release()
        await opened.daemon?.stop(1)
        await opened.app?.close()
      }
      const stopped = untilStopped(5, close) // before anything is created, so that Ctrl-C always cleans up
      const folder = makePrivateFolder('feedbackctl-demo-')
      // Work in progress may still create files until the process exits.
      process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
      try {
        const { host } = wanted ?? { host: HOST }
        const held = (opened.held = await (wanted ? holdWanted(wanted) : hold({ host, port: PORT }).catch(() => hold({ host, port: 0 })))) // prettier-ignore
        const url = urlOf({ '0.0.0.0': HOST, '::': '::1' }[host] ?? host, held.port)
        const file = path.join(folder, 'feedbackctl.toml')
        const settings = `listen = "${host.includes(':') ? `[${host}]` : host}:${held.port}"\n\n[site]\nurl = "${url}"\n\n[data]\ndir = "data"\n\n[mail]\nurl = "folder:mail"\n`
        createFile(file, settings)
        const config = await loadConfig({ flags: { config: file }, env: {}, cwd: folder })
        const app = (opened.app = await openApp(config, { creating: true }))
        await fillDemo(app)
        await held.release()
        opened.daemon = await startDaemon(
          app,
          {
            at: listenAddress(config),
            rates: ratesOf(config),
            version,
            exports: siteExports(app, config),
            imports: siteImports(app, config),
          },
          { level: 'warn', stream: cli.terminal.stderr },
        )
        await show(cli, flags, { app, url, file })
        if (!['127.0.0.1', '::1', 'localhost'].includes(host) && !host.startsWith('127.'))
          tell(
            cli.terminal,
            `Warning: whoever can reach ${host} can sign in as the owner: everybody knows the password.`,
          )
        if (!flags.once) {
          say(cli.terminal, '\nServing until Ctrl-C, which also removes the site.')
          await stopped
        }
      } finally {
        await close()
      }
    })
}

interface Address {
  host: string
  port: number
}

/** A port that no other program gets before it is released. */
interface HeldPort {
  port: number
  release(): Promise<void>
}

/**
 * Takes this port, or any free one for 0, until the server listens. The address is part of the site, in links and mail,
 * so it has to be known before the site is filled. Rejects if another program has the port.
 */
function hold({ host, port }: Address): Promise<HeldPort> {
  const server = createServer((socket) => socket.destroy())
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () =>
      resolve({
        port: (server.address() as AddressInfo).port,
        release: () => new Promise((done) => void server.close(() => done())),
      }),
    )
  })
}

const holdWanted = (address: Address): Promise<HeldPort> =>
  hold(address).catch((error: unknown) => {
    throw listenFailed(error, address, 'listen')
  })

async function show(
  { terminal }: Cli,
  flags: OutputFlags,
  { app, url, file }: { app: App; url: string; file: string },
): Promise<void> {
  const tell = async (lines: string[]) => {
    const text = lines.join('\n')
    if (isMachineReadable(flags)) say(terminal, text)
    else await write(terminal, `${text}\n`)
  }
  await tell([
    `Open ${url} in your browser.`,
    `To sign in as the owner: ${OWNER.email}, password "${OWNER.password}".`,
    '',
  ])
  const answer = await localCall(app)(posts.list, { limit: 8, sort: 'votes' })
  await print(terminal, isMachineReadable(flags) ? flags : { ...flags, output: flags.output ?? 'table' }, {
    body: answer,
    rows: answer.posts,
    columns,
    id: (post) => post.slug,
    single: false,
  })
  await tell([
    '',
    `API documentation: ${url}/api/v1/docs/`,
    'Try these in another terminal:',
    `  curl '${url}/api/v1/boards?limit=3'`,
    `  export FEEDBACKCTL_CONFIG=${file}`,
    '  npx feedbackctl posts list --board ideas',
    '  npx feedbackctl posts create "🚀 Launch"',
    '  npx feedbackctl events list --follow',
  ])
}
