import { CommanderError, type Command } from 'commander'
import { fixesOf } from './lib/fixes.js'
import { buildProgram, usageError } from './program.js'
import { report } from './lib/report.js'
import type { Terminal } from './lib/terminal.js'

/** Runs one command and sets the exit code. Never exits after writing: into a pipe that would cut the output. */
export async function run(terminal: Terminal): Promise<void> {
  terminal.stdout.on('error', (error) => stdoutFailed(terminal, error))
  terminal.stderr.on('error', () => {}) // nobody listens to what is said: the work goes on
  const { program, cli } = buildProgram(terminal)
  let running: Command | undefined
  program.hook('preAction', (_program, command) => void (running = command))
  try {
    await program.parseAsync(terminal.args, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return
    const known = { options: running?.options ?? [], fixes: running ? fixesOf(running) : {} }
    process.exitCode = report(
      terminal,
      { flags: program.opts(), words: program.args, ...known },
      usageError(error) ?? error,
    )
  } finally {
    await cli.close()
  }
}

/** Whoever read us has read enough (`| head`): that is no failure. Data that cannot be written at all is one. */
function stdoutFailed({ stderr }: Terminal, error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0)
  stderr.write(`✗ Cannot write the output: ${error.code ?? error.message}\n`)
  process.exit(1)
}
