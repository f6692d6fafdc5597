import { AppError } from '../../core/errors.js'
import { printable } from '../../core/text.js'
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
    if (error instanceof Error && error.name === 'ExitPromptError')
      throw new AppError('INTERRUPTED', 'Interrupted: nothing was changed.')
    throw error
  }
}

/** The question before something is lost; where much is lost, with the name that must be typed for a yes. */
export type Loss = string | { question: string; type: string }

/** Asks before something is lost. Without a terminal only --yes consents: silence never does. */
export async function confirm(
  terminal: Terminal,
  flags: { input?: boolean; yes?: boolean },
  loss: Loss,
): Promise<void> {
  if (flags.yes) return
  const { question, type }: { question: string; type?: string } = typeof loss === 'string' ? { question: loss } : loss
  if (!canAsk(terminal, flags))
    throw new AppError('CONFIRMATION_NEEDED', `${question} This cannot be taken back, and nobody is here to be asked.`)
  const agreed = await asking(terminal, async (prompts, streams) => {
    if (type === undefined) return prompts.confirm({ message: question, default: false }, streams)
    const typed = await prompts.input({ message: `${question} Type ${printable(type)} to go on:` }, streams)
    return [type, printable(type)].some((name) => name.trim() === typed.trim())
  })
  if (!agreed) throw new AppError('INTERRUPTED', 'Stopped: nothing was changed.')
}
