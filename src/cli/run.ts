import { CommanderError, type Command } from 'commander'
import { fixesOf } from './lib/fixes.js'
import { buildProgram, usageError, withColorFlag } from './program.js'
import { report } from './lib/report.js'
import type { Terminal } from './lib/terminal.js'

/**
 * Runs one command and sets the exit code. It never calls process.exit() after writing: that truncates output in a
 * pipe.
 */
export async function run(terminal: Terminal): Promise<void> {
  terminal.stdout.on('error', (error) => stdoutFailed(terminal, error))
  terminal.stderr.on('error', () => {}) // a closed stderr does not stop the command
  const { program, cli } = buildProgram(terminal)
  let running: Command | undefined
  program.hook('preAction', (_program, command) => void (running = command))
  try {
    await program.parseAsync(withColorFlag(program, terminal.args), { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return
    const failed = {
      flags: program.opts(),
      command: namesIn(program, program.args),
      options: running?.options ?? [],
      fixes: running ? fixesOf(running) : {},
    }
    process.exitCode = report(terminal, failed, usageError(error, branchOf(program, program.args)) ?? error)
  } finally {
    await cli.close()
  }
}

/** The branch of the command that was typed. */
const branchOf = (program: Command, [word]: readonly string[]): Command | undefined =>
  program.commands.find((each) => each.name() === word)

/** The names of the command that was typed and of its parents, as far as they exist. */
function namesIn(command: Command, [word, ...rest]: readonly string[]): string[] {
  const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word ?? ''))
  return next ? [next.name(), ...namesIn(next, rest)] : []
}

/** A reader that stops early (`| head`) is no failure. Output that cannot be written at all is one. */
function stdoutFailed({ stderr }: Terminal, error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0)
  stderr.write(`✗ Cannot write the output: ${error.code ?? error.message}\n`)
  process.exit(1)
}
