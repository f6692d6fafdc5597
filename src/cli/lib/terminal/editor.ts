import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { AppError } from '../../../core/errors.js'
import { createFile, makePrivateFolder } from '../../../core/files.js'
import { randomWord } from '../../../core/ids.js'
import { NothingToDo } from './nothingtodo.js'
import { say, whyNoPrompts, type Terminal } from './terminal.js'
import { readText, type EditedText } from './textfile.js'

/** The exit code of a shell whose command was ended by Ctrl-C. */
const INTERRUPTED = 130

/** Opens a text in the editor and returns what was saved. Throws NothingToDo where it is unchanged, CANCELED where the text is empty. */
export async function editText(
  terminal: Terminal,
  initial: string,
  alternative: { field: string; rule: string },
  name = 'text.md',
): Promise<string> {
  const chosen = terminal.env.VISUAL || terminal.env.EDITOR
  // A script may be the editor. The usual one would wait for ever for keys that nobody can press.
  if (!chosen && !(terminal.stdin.isTTY && terminal.stderr.isTTY)) throw noTerminal(terminal, alternative)
  const editor = chosen || 'vi'
  const folder = makePrivateFolder('feedbackctl-')
  try {
    const file = path.join(folder, name)
    createFile(file, initial === '' ? '' : `${initial}\n`)
    const exit = await runEditor(terminal, editor, file)
    if (exit === INTERRUPTED) throw new AppError('INTERRUPTED', 'Interrupted. Nothing was changed.')
    if (exit !== 0) throw editorFailed(editor, exit, alternative)
    const text = await readText(terminal, file, 'the editor')
    if (text === initial && initial.trim() !== '') throw new NothingToDo('No changes.')
    if (text.trim() === '') throw new AppError('CANCELED', 'Cancelled: the text is empty. Nothing was changed.')
    return text
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Saves an edited text after the command failed, or prints it if it cannot be saved. */
export function saveText(terminal: Terminal, { text, flag }: EditedText): void {
  keepText(terminal, text, { ending: 'md', next: (file) => `Use it again with ${flag} ${file}` })
}

/** Saves a text that was refused where only its owner can read it, and says what to do with the file. */
export function keepText(
  terminal: Terminal,
  text: string,
  { ending, next }: { ending: string; next: (file: string) => string },
): void {
  const file = path.join(tmpdir(), `feedbackctl-${randomWord(12)}.${ending}`)
  try {
    createFile(file, `${text}\n`)
    say(terminal, `Your text was saved. ${next(file)}`)
  } catch {
    say(terminal, `Your text could not be saved in ${file}:\n${text}`)
  }
}

/**
 * Runs the editor in a shell, as git does, because the variable may contain arguments. Its output goes to stderr
 * because stdout may be a pipe. Ctrl-C belongs to the editor: it ends neither this process nor the shell.
 */
async function runEditor(
  { env, cwd, stdin, stderr }: Terminal,
  editor: string,
  file: string,
): Promise<number | string> {
  // An editor in another process needs what the operating system knows: a host of commands has other streams
  if (![stdin, stderr].every((stream) => 'fd' in stream)) return 'no terminal'
  const ignore = () => {}
  process.on('SIGINT', ignore)
  try {
    return await new Promise((resolve) => {
      const child = spawn('sh', ['-c', `trap : INT; ${editor} "$1"`, editor, file], {
        env,
        cwd,
        stdio: [stdin, stderr, stderr],
      })
      child.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      child.on('close', (code, signal) => resolve(code ?? signal ?? 'no exit code'))
    })
  } finally {
    process.off('SIGINT', ignore)
  }
}

const noTerminal = (terminal: Terminal, { field, rule }: { field: string; rule: string }) =>
  new AppError(
    'INPUT_MISSING',
    `An editor needs a terminal, and ${whyNoPrompts(terminal)}. Nothing was changed. A program can be the editor: set VISUAL or EDITOR to it.`,
    { errors: [{ code: 'FIELD_MISSING', message: `${field} is missing.`, field, rule }] },
  )

const editorFailed = (editor: string, exit: number | string, { field, rule }: { field: string; rule: string }) =>
  new AppError(
    'INPUT_MISSING',
    `The editor ${JSON.stringify(editor)} failed (${exit}). Nothing was changed. Set VISUAL or EDITOR to a working one.`,
    { errors: [{ code: 'FIELD_MISSING', message: `${field} is missing.`, field, rule }] },
  )
