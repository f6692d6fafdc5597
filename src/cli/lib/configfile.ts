import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { parse } from 'smol-toml'
import { AppError } from '../../core/errors.js'

/** A checked change in a temporary file, to be committed by a rename. */
export interface PreparedSetting {
  commit(): void
  discard(): void
}

/**
 * Prepares `section.name = value` in a configuration file without touching other lines. Throws CONFIG_INVALID if that
 * is not possible.
 */
export function prepareSetting(file: string, key: `${string}.${string}`, value: string): PreparedSetting {
  const [section = '', name = ''] = key.split('.')
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const after = withSetting(before, section, name, `${name} = ${JSON.stringify(value)}`)
  if (valueIn(after, section, name) !== value)
    throw new AppError(
      'CONFIG_INVALID',
      `Cannot add ${key} to ${file} automatically. Add "[${section}] ${name} = …" by hand, or set FEEDBACKCTL_MAIL_URL.`,
    )
  try {
    return stage(file, after)
  } catch (error) {
    throw new AppError(
      'CONFIG_INVALID',
      `Cannot write ${file}: ${(error as { code?: string }).code}. Choose another file with --config, or set FEEDBACKCTL_MAIL_URL.`,
    )
  }
}

/** Whether the file sets this key. A file that is missing sets none. */
export function hasSetting(file: string, key: `${string}.${string}`): boolean {
  const [section = '', name = ''] = key.split('.')
  return existsSync(file) && valueIn(readFileSync(file, 'utf8'), section, name) !== undefined
}

function valueIn(text: string, section: string, name: string): unknown {
  try {
    return (parse(text) as Record<string, Record<string, unknown> | undefined>)[section]?.[name]
  } catch {
    return undefined // the new text is not valid TOML: the section exists in another notation
  }
}

/** Replaces a file atomically, readable by its owner only. A symbolic link is followed. */
export const replaceFile = (file: string, text: string): void => stage(file, text).commit()

function stage(file: string, text: string): PreparedSetting {
  const created = mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  const target = existsSync(file) ? realpathSync(file) : file
  const temporary = `${target}.${process.pid}.tmp`
  writeFileSync(temporary, text, { mode: 0o600, flush: true })
  const discard = () => {
    rmSync(temporary, { force: true })
    if (created !== undefined) removeEmptyFolders(path.dirname(file), created)
  }
  return { commit: () => renameSync(temporary, target), discard }
}

/** Removes a folder and its parents up to `top`, and stops at one that is not empty. */
function removeEmptyFolders(folder: string, top: string): void {
  if (readdirSync(folder).length > 0) return
  rmdirSync(folder)
  if (folder !== top) removeEmptyFolders(path.dirname(folder), top)
}

function withSetting(text: string, section: string, name: string, line: string): string {
  const lines = text.split('\n')
  const start = lines.findIndex((each) => each.trim() === `[${section}]`)
  if (start === -1)
    return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${text.trim() === '' ? '' : '\n'}[${section}]\n${line}\n`
  const next = lines.findIndex((each, index) => index > start && each.trimStart().startsWith('['))
  const end = next === -1 ? lines.length : next
  const existing = lines.findIndex(
    (each, index) => index > start && index < end && new RegExp(`^\\s*${name}\\s*=`).test(each),
  )
  return (existing === -1 ? lines.toSpliced(start + 1, 0, line) : lines.toSpliced(existing, 1, line)).join('\n')
}
