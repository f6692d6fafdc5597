/** The streams and the environment of a command. stdout carries data only; messages for people go to stderr. */
export interface Terminal {
  env: Record<string, string | undefined>
  cwd: string
  args: readonly string[]
  stdin: NodeJS.ReadStream
  stdout: NodeJS.WriteStream
  stderr: NodeJS.WriteStream
  now(this: void): Date
}

export const processTerminal = (): Terminal => ({
  env: process.env,
  cwd: workingDirectory(),
  args: process.argv.slice(2),
  // Opened on first use: opening stdin takes longer than the rest of the startup, and few commands read it.
  get stdin() {
    return process.stdin
  },
  stdout: process.stdout,
  stderr: process.stderr,
  now: () => new Date(),
})

/** The root if the working directory was deleted. */
function workingDirectory(): string {
  try {
    return process.cwd()
  } catch {
    return '/'
  }
}

/** Writes data, and waits for a slow reader, so that long output neither fills the memory nor is cut off. */
export async function write({ stdout }: Terminal, text: string): Promise<void> {
  if (!stdout.write(text)) await new Promise<void>((resolve) => stdout.once('drain', resolve))
}

export const say = ({ stderr }: Terminal, line: string): void => void stderr.write(`${line}\n`)

export const canPrompt = ({ stdin, stderr, env }: Terminal, { input = true }: { input?: boolean }): boolean =>
  input && stdin.isTTY && stderr.isTTY && !env.CI

/** Why prompts are not possible, as the end of a sentence. */
export const whyNoPrompts = ({ stdin, stderr, env }: Terminal): string => {
  if (!stdin.isTTY) return 'stdin is not a terminal'
  if (!stderr.isTTY) return 'stderr is not a terminal'
  return env.CI ? 'CI is set' : '--no-input is set, or a value is read from stdin'
}

/**
 * Whether a stream gets color. First match wins: --no-color, NO_COLOR, FORCE_COLOR, TERM=dumb, whether it is a
 * terminal.
 */
export function hasColor(
  { env }: Terminal,
  stream: NodeJS.WriteStream,
  { color }: { color?: boolean | undefined },
): boolean {
  if (color === false) return false
  if (env.NO_COLOR) return false
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0'
  return env.TERM !== 'dumb' && stream.isTTY
}

/** The colors of messages. Tables use chalk, which is too slow to load for one mark. */
export function colors(on: boolean) {
  const code = (open: number, close: number) => (text: string) => (on ? `\u001b[${open}m${text}\u001b[${close}m` : text)
  return { red: code(31, 39), green: code(32, 39), dim: code(2, 22) }
}
