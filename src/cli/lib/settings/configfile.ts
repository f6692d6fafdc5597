import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'smol-toml'
import { atomicFile } from '../../../core/atomicfile.js'
import { AppError } from '../../../core/errors.js'
import { makeFolder, removeEmpty } from '../../../core/files.js'
import { variableOf, type Key } from '../../../core/settings.js'

/** A checked change in a temporary file, to be committed by a rename. */
export interface PreparedSettings {
  commit(this: void): void
  discard(this: void): void
}

/** Settings and their values. */
export type Entries = Partial<Record<Key, string>>

/**
 * Prepares `section.name = value` for each setting in a configuration file without touching other lines. Throws
 * CONFIG_INVALID if that is not possible.
 */
export function prepareSettings(file: string, entries: Entries): PreparedSettings {
  let text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  for (const [key, value] of Object.entries(entries)) {
    const [section, name] = partsOf(key)
    text = withSetting(text, section, name, `${name} = ${JSON.stringify(value)}`)
    if (valueIn(text, section, name) !== value)
      throw new AppError(
        'CONFIG_INVALID',
        `Cannot add ${key} to ${file} automatically. Add "${section === '' ? '' : `[${section}] `}${name} = …" by hand, or set ${variableOf(key as Key)}.`,
      )
  }
  try {
    return stage(file, text)
  } catch (error) {
    throw new AppError(
      'CONFIG_INVALID',
      `Cannot write ${file}: ${(error as { code?: string }).code}. Choose another file with --config, or set ${Object.keys(
        entries,
      )
        .map((key) => variableOf(key as Key))
        .join(' and ')}.`,
    )
  }
}

/** Whether the file sets this key. A file that is missing sets none. */
export function hasSetting(file: string, key: Key): boolean {
  const [section, name] = partsOf(key)
  return existsSync(file) && valueIn(readFileSync(file, 'utf8'), section, name) !== undefined
}

/** The section, which is '' at the top of the file, and the name in it. */
const partsOf = (key: string): [section: string, name: string] => {
  const [section, name] = key.split('.')
  return name === undefined ? ['', key] : [section ?? '', name]
}

function valueIn(text: string, section: string, name: string): unknown {
  try {
    const table = parse(text) as Record<string, unknown>
    return section === '' ? table[name] : (table[section] as Record<string, unknown> | undefined)?.[name]
  } catch {
    return undefined // the new text is not valid TOML: the section exists in another notation
  }
}

/** Replaces a file atomically, readable by its owner only. A symbolic link is followed. */
export function replaceFile(file: string, text: string): void {
  const { commit, discard } = stage(file, text)
  try {
    commit()
  } catch (error) {
    discard()
    throw error
  }
}

function stage(file: string, text: string): PreparedSettings {
  // Root would replace a device such as /dev/null for all programs
  if (existsSync(file) && !statSync(file).isFile())
    throw Object.assign(new Error(`${file} is not a file`), { code: 'not a file' })
  const made = makeFolder(path.dirname(file))
  const target = existsSync(file) ? realpathSync(file) : file
  const fresh = atomicFile(target)
  const discard = () => {
    fresh.discard()
    removeEmpty(made)
  }
  try {
    fresh.write(text)
  } catch (error) {
    discard()
    throw error
  }
  return { commit: fresh.replace, discard }
}

function withSetting(text: string, section: string, name: string, line: string): string {
  const lines = text.split('\n')
  const start = section === '' ? -1 : lines.findIndex((each) => each.trim() === `[${section}]`)
  if (start === -1 && section !== '')
    return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${text.trim() === '' ? '' : '\n'}[${section}]\n${line}\n`
  const next = lines.findIndex((each, index) => index > start && each.trimStart().startsWith('['))
  const end = next === -1 ? lines.length : next
  const existing = lines.findIndex(
    (each, index) => index > start && index < end && new RegExp(`^\\s*${name}\\s*=`).test(each),
  )
  return (existing === -1 ? lines.toSpliced(start + 1, 0, line) : lines.toSpliced(existing, 1, line)).join('\n')
}
