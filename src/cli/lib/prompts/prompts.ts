import { AppError } from '../../../core/errors.js'
import { printable } from '../../../core/text.js'
import { canPrompt, widthOf, type Terminal } from '../terminal/terminal.js'
import { wrapped } from '../texts/wrap.js'

type Prompts = typeof import('@inquirer/prompts')

/** Runs prompts on stderr. Ctrl-C or a closed terminal ends the command with exit code 130. Check `canPrompt` first. */
export async function withPrompts<T>(
  terminal: Terminal,
  ask: (prompts: Prompts, streams: { input: NodeJS.ReadStream; output: NodeJS.WriteStream }) => Promise<T>,
): Promise<T> {
  const prompts = await import('@inquirer/prompts')
  try {
    return await ask(prompts, { input: terminal.stdin, output: terminal.stderr })
  } catch (error) {
    if (error instanceof Error && error.name === 'ExitPromptError')
      throw new AppError('INTERRUPTED', 'Interrupted. Nothing was changed.')
    throw error
  }
}

/**
 * Shows nothing of what is typed between the prompts of `ask`. Each prompt hides its own input, but turns the echo of the
 * terminal on again when it ends.
 */
export async function withoutEcho<T>({ stdin }: Terminal, ask: () => Promise<T>): Promise<T> {
  stdin.setRawMode(true)
  stdin.setRawMode = () => stdin // hides the method of the prototype from the prompts
  try {
    return await ask()
  } finally {
    delete (stdin as Partial<typeof stdin>).setRawMode // shows that method again
    stdin.setRawMode(false)
  }
}

/**
 * The question before data is lost. If much is lost, `type` is the name that must be typed to confirm. Not final is what
 * another change takes back.
 */
export type Confirmation = string | { question: string; type?: string; isFinal?: boolean }

/** A question that breaks between words. A mark of two columns comes before it, and `end` after it. */
function broken({ stderr }: Terminal, question: string, end = ''): string {
  const text = wrapped(question + end, widthOf(stderr), ' '.repeat(2))
  return text.slice(2, text.length - end.length)
}

/** Asks for confirmation. Without a terminal, only --yes confirms. */
export async function confirm(
  terminal: Terminal,
  flags: { input?: boolean; yes?: boolean },
  confirmation: Confirmation,
): Promise<void> {
  if (flags.yes) return
  const {
    question,
    type,
    isFinal = true,
  }: Exclude<Confirmation, string> = typeof confirmation === 'string' ? { question: confirmation } : confirmation
  if (!canPrompt(terminal, flags)) {
    const warning = isFinal ? ' This cannot be undone.' : ''
    throw new AppError('CONFIRMATION_NEEDED', `${question}${warning} Pass --yes to confirm.`)
  }
  if (type === undefined) {
    const confirmed = await withPrompts(terminal, (prompts, streams) =>
      prompts.confirm({ message: broken(terminal, question, ' (y/N)'), default: false }, streams),
    )
    if (!confirmed) throw new AppError('CANCELED', 'Cancelled. Nothing was changed.')
    return
  }
  const typed = await withPrompts(terminal, (prompts, streams) =>
    prompts.input({ message: broken(terminal, `${question} Type ${printable(type)} to confirm:`) }, streams),
  )
  if (![type, printable(type)].some((name) => name.trim() === typed.trim()))
    throw new AppError(
      'CANCELED',
      `"${typed.trim()}" does not match ${printable(type)}. Cancelled. Nothing was changed.`,
    )
}
