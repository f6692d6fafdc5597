import { replaceLostTerminals } from '../process/terminal.js'
import { processTerminal } from './lib/terminal/terminal.js'
import { version } from './version.js'

const terminal = processTerminal()
process.once('exit', replaceLostTerminals)

if (['--version', '-V'].includes(terminal.args[0] ?? '')) terminal.stdout.write(`${version}\n`)
else void import('./run.js').then(({ runProcess }) => runProcess(terminal)) // it reports its own errors
