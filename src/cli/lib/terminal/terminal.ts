import { WriteStream } from 'node:tty'
import { printableLines } from '../../../core/text.js'
import { wrapped } from '../texts/wrap.js'

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

/** Prints a line as harmless text: parts of it may come from a server, a file name or another process. */
export const say = ({ stderr }: Terminal, line: string): void => void stderr.write(`${harmless(line)}\n`)

/** Text in which nothing controls the terminal but colours. */
export const harmless = (text: string): string =>
  text
    .split(COLOR)
    .map((part, index) => (index % 2 === 1 ? part : printableLines(part)))
    .join('')

// oxlint-disable-next-line no-control-regex -- what begins a colour
const COLOR = /(\u001b\[[\d;]*m)/

interface Shape {
  /** A prefix of the sentence, two columns wide unless `indent` differs. */
  start?: string
  /** Columns before each line. The start takes them in the first. */
  indent?: number
}

/** Says sentences, a paragraph a line, that break between words on a terminal. Lines to copy are for `say`. */
export function tell(
  terminal: Terminal,
  sentence: string,
  { start = '', indent = start === '' ? 0 : 2 }: Shape = {},
): void {
  const { stderr } = terminal
  const space = ' '.repeat(indent)
  // A line that is indented is a command to copy: it stays in one piece
  const broken = (line: string) => (line.startsWith('  ') ? line : wrapped(line, widthOf(stderr), space))
  const text = stderr.isTTY ? sentence.split('\n').map(broken).join('\n').slice(space.length) : sentence
  say(terminal, start + text)
}

export const canPrompt = ({ stdin, stderr, env }: Terminal, { input = true }: { input?: boolean }): boolean =>
  input && stdin.isTTY && stderr.isTTY && !env.CI

/** Why prompts are not possible, as the end of a sentence. */
export const whyNoPrompts = ({ stdin, stderr, env }: Terminal): string => {
  if (!stdin.isTTY) return 'stdin is not a terminal'
  if (!stderr.isTTY) return 'stderr is not a terminal'
  return env.CI ? 'CI is set' : '--no-input is set, or a value is read from stdin'
}

/** The words of --color. `--no-color` is false. */
export const COLOR_WORDS = ['auto', 'always', 'never'] as const
export interface ColorFlag {
  color?: boolean | (typeof COLOR_WORDS)[number] | undefined
}

/** As chalk counts: none, 16 colors, 256, or all. */
type ColorLevel = 0 | 1 | 2 | 3

/**
 * The colors that a stream gets. First match wins: --color, NO_COLOR, FORCE_COLOR, TERM=dumb, whether it is a terminal.
 * How many follows from TERM and COLORTERM.
 */
export function colorLevel({ env }: Terminal, stream: NodeJS.WriteStream, { color }: ColorFlag): ColorLevel {
  if (color === false || color === 'never') return 0
  const { NO_COLOR: none, FORCE_COLOR: forced, ...others } = env
  if (color !== 'always') {
    if (none || forced === '0') return 0
    if (forced === '2' || forced === '3') return Number(forced) as ColorLevel
    if (!forced && (others.TERM === 'dumb' || !stream.isTTY)) return 0
  }
  // The method reads the environment only, so it serves pipes too.
  const depth = WriteStream.prototype.getColorDepth.call(stream, others)
  return ({ 24: 3, 8: 2 } as const)[depth] ?? 1
}

export const hasColor = (terminal: Terminal, stream: NodeJS.WriteStream, flags: ColorFlag): boolean =>
  colorLevel(terminal, stream, flags) > 0

/** Some pseudo-terminals say that they have 0 columns. */
export const widthOf = ({ columns }: NodeJS.WriteStream): number => columns || 80

/** The colors of messages. Tables use chalk, which is too slow to load for one mark. */
export function colors(on: boolean) {
  const code = (open: number, close: number) => (text: string) => (on ? `\u001b[${open}m${text}\u001b[${close}m` : text)
  return { red: code(31, 39), green: code(32, 39), yellow: code(33, 39), dim: code(2, 22) }
}
