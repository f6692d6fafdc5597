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

/** A change that is ready, on the disk and checked, and only waits to be put in place. */
export interface PreparedSetting {
  commit(): void
  discard(): void
}

/** Prepares `section.name = value` in a configuration file; every other line, comments too, stays as it is. Throws CONFIG_INVALID where that cannot be. */
export function prepareSetting(file: string, key: `${string}.${string}`, value: string): PreparedSetting {
  const [section = '', name = ''] = key.split('.')
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const after = withSetting(before, section, name, `${name} = ${JSON.stringify(value)}`)
  if (valueIn(after, section, name) !== value)
    throw new AppError(
      'CONFIG_INVALID',
      `Cannot add ${key} to ${file} as it is written. Add "[${section}] ${name} = …" to it by hand, or set FEEDBACKCTL_MAIL_URL.`,
    )
  try {
    return staged(file, after)
  } catch (error) {
    throw new AppError(
      'CONFIG_INVALID',
      `Cannot write ${file}: ${(error as { code?: string }).code}. Choose another with --config, or set FEEDBACKCTL_MAIL_URL.`,
    )
  }
}

function valueIn(text: string, section: string, name: string): unknown {
  try {
    return (parse(text) as Record<string, Record<string, unknown> | undefined>)[section]?.[name]
  } catch {
    return undefined // the section is there already, in a form that cannot be added to
  }
}

/** The whole file or none of it, readable by its owner only; a link stays a link. */
export const replaceFile = (file: string, text: string): void => staged(file, text).commit()

function staged(file: string, text: string): PreparedSetting {
  const made = mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  const target = existsSync(file) ? realpathSync(file) : file
  const mine = `${target}.${process.pid}.tmp`
  writeFileSync(mine, text, { mode: 0o600, flush: true })
  const discard = () => {
    rmSync(mine, { force: true })
    if (made !== undefined) removeEmpty(path.dirname(file), made)
  }
  return { commit: () => renameSync(mine, target), discard }
}

/** Removes folders from the inside out as far as `top`, and stops where somebody has put something. */
function removeEmpty(folder: string, top: string): void {
  if (readdirSync(folder).length > 0) return
  rmdirSync(folder)
  if (folder !== top) removeEmpty(path.dirname(folder), top)
}

function withSetting(text: string, section: string, name: string, line: string): string {
  const lines = text.split('\n')
  const start = lines.findIndex((each) => each.trim() === `[${section}]`)
  if (start === -1)
    return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${text.trim() === '' ? '' : '\n'}[${section}]\n${line}\n`
  const next = lines.findIndex((each, index) => index > start && each.trimStart().startsWith('['))
  const end = next === -1 ? lines.length : next
  const held = lines.findIndex(
    (each, index) => index > start && index < end && new RegExp(`^\\s*${name}\\s*=`).test(each),
  )
  return (held === -1 ? lines.toSpliced(start + 1, 0, line) : lines.toSpliced(held, 1, line)).join('\n')
}
