import { AppError } from '../core/errors.js'
import { canAsk, type Terminal } from './terminal.js'

type Prompts = typeof import('@inquirer/prompts')

/** Runs prompts on stderr; Ctrl-C and a closed terminal end the command with 130. Check `canAsk` first. */
export async function asking<T>(
  terminal: Terminal,
  ask: (prompts: Prompts, streams: { input: NodeJS.ReadStream; output: NodeJS.WriteStream }) => Promise<T>,
): Promise<T> {
  const prompts = await import('@inquirer/prompts')
  try {
    return await ask(prompts, { input: terminal.stdin, output: terminal.stderr })
  } catch (error) {
    if (error instanceof Error && error.name === 'ExitPromptError') throw new AppError('INTERRUPTED', 'Interrupted: nothing was changed.')
    throw error
  }
}

/** Asks before something is lost. Without a terminal only --yes consents: silence never does. */
export async function confirm(terminal: Terminal, flags: { input?: boolean; yes?: boolean }, question: string): Promise<void> {
  if (flags.yes) return
  if (!canAsk(terminal, flags)) throw new AppError('CONFIRMATION_NEEDED', `${question} This cannot be taken back, and nobody is here to be asked.`)
  const agreed = await asking(terminal, (prompts, streams) => prompts.confirm({ message: question, default: false }, streams))
  if (!agreed) throw new AppError('INTERRUPTED', 'Stopped: nothing was changed.')
}

/** A new password, typed twice and never shown. */
export async function askNewPassword(terminal: Terminal, problem: (password: string) => string | undefined): Promise<string> {
  for (;;) {
    const password = await asking(terminal, (prompts, streams) =>
      prompts.password({ message: 'Password (8 to 256 characters)', mask: false, validate: (text) => problem(text) ?? true }, streams),
    )
    const again = await asking(terminal, (prompts, streams) => prompts.password({ message: 'The same again', mask: false }, streams))
    if (again === password) return password
    terminal.stderr.write('The two passwords differ. Type them once more.\n')
  }
}
