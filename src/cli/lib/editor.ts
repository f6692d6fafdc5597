import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { AppError } from '../../core/errors.js'
import { randomWord } from '../../core/ids.js'
import { say, type Terminal } from './terminal.js'
import { readText, type Written } from './textfile.js'

/** What a shell says when Ctrl-C ended its command. */
const INTERRUPTED = 130

/** Lets a person write a text in their editor, and returns what they saved; unchanged or empty means that they thought better of it. */
export async function edited(
  terminal: Terminal,
  present: string,
  otherwise: { field: string; rule: string },
): Promise<string> {
  const editor = terminal.env.VISUAL || terminal.env.EDITOR || 'vi'
  const folder = mkdtempSync(path.join(tmpdir(), 'feedbackctl-')) // only its owner may enter
  try {
    const file = path.join(folder, 'text.md')
    writeFileSync(file, present === '' ? '' : `${present}\n`, { mode: 0o600 })
    const ended = await run(terminal, editor, file)
    if (ended === INTERRUPTED) throw new AppError('INTERRUPTED', 'Interrupted: nothing was changed.')
    if (ended !== 0) throw failed(editor, ended, otherwise)
    const text = await readText(terminal, file, 'the editor')
    if (text.trim() === '' || text === present)
      throw new AppError('INTERRUPTED', 'The text is empty or as it was: nothing was changed.')
    return text
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Keeps what was written although the command then failed; where no file can be, on the screen. */
export function keep(terminal: Terminal, { text, flag }: Written): void {
  const file = path.join(tmpdir(), `feedbackctl-${randomWord(12)}.md`)
  try {
    writeFileSync(file, `${text}\n`, { mode: 0o600, flag: 'wx' })
    say(terminal, `Your text is kept. Give it again with ${flag} ${file}`)
  } catch {
    say(terminal, `Your text could not be kept in ${file}:\n${text}`)
  }
}

/** Through a shell as git does, since an editor may have arguments; on stderr, since stdout may be a pipe. Ctrl-C is the editor's meanwhile, and ends neither us nor the shell. */
async function run({ env, cwd, stdin, stderr }: Terminal, editor: string, file: string): Promise<number | string> {
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

const failed = (editor: string, ended: number | string, { field, rule }: { field: string; rule: string }): AppError =>
  new AppError(
    'INPUT_MISSING',
    `The editor ${JSON.stringify(editor)} failed (${ended}): nothing was changed. Set VISUAL or EDITOR to one that works.`,
    {
      errors: [{ code: 'FIELD_MISSING', message: `${field} is missing.`, field, rule }],
    },
  )
