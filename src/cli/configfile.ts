import { accessSync, constants, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'smol-toml'
import { AppError } from '../core/errors.js'

/** Writes `section.name = value` into a configuration file and leaves every other line, comments too, as it is. */
export function writeSetting(file: string, key: `${string}.${string}`, value: string): void {
  const [section = '', name = ''] = key.split('.')
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const after = withSetting(before, section, name, `${name} = ${JSON.stringify(value)}`)
  const written = (parse(after) as Record<string, Record<string, unknown> | undefined>)[section]?.[name]
  if (written !== value) throw new AppError('CONFIG_INVALID', `Cannot add ${key} to ${file}. Add it by hand.`)
  replaceFile(file, after)
}

/** Throws before anything is done if the file could not be written afterwards. */
export function assertWritable(file: string): void {
  try {
    accessSync(nearestFolder(path.dirname(file)), constants.W_OK)
  } catch (error) {
    throw new AppError(
      'CONFIG_INVALID',
      `Cannot write ${file}: ${(error as { code?: string }).code}. Choose another with --config, or set FEEDBACKCTL_MAIL_URL.`,
    )
  }
}

const nearestFolder = (folder: string): string => (existsSync(folder) || folder === path.dirname(folder) ? folder : nearestFolder(path.dirname(folder)))

/** The whole file or none of it, readable by its owner only. */
export function replaceFile(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  const mine = `${file}.${process.pid}.tmp`
  writeFileSync(mine, text, { mode: 0o600, flush: true })
  renameSync(mine, file)
}

function withSetting(text: string, section: string, name: string, line: string): string {
  const lines = text.split('\n')
  const start = lines.findIndex((each) => each.trim() === `[${section}]`)
  if (start === -1) return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${text.trim() === '' ? '' : '\n'}[${section}]\n${line}\n`
  const next = lines.findIndex((each, index) => index > start && each.trimStart().startsWith('['))
  const end = next === -1 ? lines.length : next
  const held = lines.findIndex((each, index) => index > start && index < end && new RegExp(`^\\s*${name}\\s*=`).test(each))
  return (held === -1 ? lines.toSpliced(start + 1, 0, line) : lines.toSpliced(held, 1, line)).join('\n')
}
