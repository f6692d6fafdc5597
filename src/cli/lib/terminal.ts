/** Where a command reads and writes: stdout is data only, everything said to a person goes to stderr. */
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
  // Opened when it is asked for: that takes longer than the rest of a start, and few commands read.
  get stdin() {
    return process.stdin
  },
  stdout: process.stdout,
  stderr: process.stderr,
  now: () => new Date(),
})

/** The root where the folder that one is in was deleted. */
function workingDirectory(): string {
  try {
    return process.cwd()
  } catch {
    return '/'
  }
}

/** Writes data and waits while the reader is slower, so that a long answer neither fills the memory nor is cut. */
export async function write({ stdout }: Terminal, text: string): Promise<void> {
  if (!stdout.write(text)) await new Promise<void>((resolve) => stdout.once('drain', resolve))
}

export const say = ({ stderr }: Terminal, line: string): void => void stderr.write(`${line}\n`)

/** Questions are asked only where somebody can see and answer them. */
export const canAsk = ({ stdin, stderr, env }: Terminal, { input = true }: { input?: boolean }): boolean =>
  input && stdin.isTTY && stderr.isTTY && !env.CI

/** Why nobody can be asked, as the end of a sentence. */
export const whyNot = ({ stdin, stderr, env }: Terminal): string => {
  if (!stdin.isTTY) return 'stdin is not a terminal'
  if (!stderr.isTTY) return 'stderr is not a terminal'
  return env.CI ? 'CI is set' : '--no-input is given, or an answer is read from stdin'
}

/** Whether a stream gets colour: --no-color, NO_COLOR, FORCE_COLOR, a dumb terminal, then whether it is a terminal at all. */
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

/** A few escape codes for talk on stderr; tables use chalk, which is not worth loading for one mark. */
export function ink(on: boolean) {
  const code = (open: number, close: number) => (text: string) => (on ? `\u001b[${open}m${text}\u001b[${close}m` : text)
  return { red: code(31, 39), green: code(32, 39), yellow: code(33, 39), dim: code(2, 22), bold: code(1, 22) }
}
