import { processTerminal } from './terminal.js'
import { version } from './version.js'

const terminal = processTerminal()

if (['--version', '-V'].includes(terminal.args[0] ?? '')) terminal.stdout.write(`${version}\n`)
else await (await import('./run.js')).run(terminal)
