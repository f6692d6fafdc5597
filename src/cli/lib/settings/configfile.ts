import { existsSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { atomicFile } from '../../../core/atomicfile.js'
import { AppError } from '../../../core/errors.js'
import { whyNotWritten } from '../../../core/filecauses.js'
import { keepAccess, makeFolder, removeEmpty } from '../../../core/files.js'
import { isSecret, variableOf, type Key } from '../../../core/settings.js'
import { textOfFile } from '../../../core/valuefiles.js'
import { edited, keysIn } from './tomledit.js'

/** A checked change in a temporary file, to be committed by a rename. */
export interface PreparedSettings {
  /** The name of the temporary file. */
  temporary: string
  commit(this: void): void
  discard(this: void): void
}

/** Settings and their values. */
export type Entries = Partial<Record<Key, string>>

/**
 * Prepares each setting in a configuration file without touching other lines. Throws
 * CONFIG_INVALID if that is not possible.
 */
export function prepareSettings(file: string, entries: Entries): PreparedSettings {
  let text = textOf(file)
  for (const [key, value] of Object.entries(entries)) {
    const changed = edited(text, key, literal(value))
    if (changed === undefined)
      throw new AppError(
        'CONFIG_INVALID',
        `Cannot add ${key} to ${file} automatically. Write it there by hand, or set ${variableOf(key as Key)}.`,
      )
    text = changed
  }
  try {
    return stage(file, text, { secret: Object.keys(entries).some((key) => isSecret(key as Key)) })
  } catch (error) {
    throw new AppError(
      'CONFIG_INVALID',
      `Cannot write ${file}: ${whyNotWritten(error)}. Choose another file with --config, or set ${Object.keys(entries)
        .map((key) => variableOf(key as Key))
        .join(' and ')}.`,
    )
  }
}

/** Whether the file sets this key. A file that is missing sets none. */
export const hasSetting = (file: string, key: Key): boolean => keysIn(textOf(file))?.has(key) ?? false

/** Prepares a file without the key. Undefined where it does not set it. */
export function prepareWithout(file: string, key: Key): PreparedSettings | undefined {
  if (!hasSetting(file, key)) return undefined
  const text = edited(textOf(file), key, undefined)
  if (text !== undefined) return staged(file, text, 'remove the line by hand')
  throw new AppError('CONFIG_INVALID', `Cannot remove ${key} from ${file} automatically. Remove it by hand.`)
}

/** Prepares a file with another text. */
export const prepareText = (file: string, text: string): PreparedSettings =>
  staged(file, text, 'choose another file with --config')

export const textOf = (file: string): string =>
  existsSync(file) ? textOfFile(file, '--config or by default', 'configuration') : ''

/** Numbers, true and false as they are, and all else as a text. */
const literal = (value: string): string =>
  /^(true|false|0|[1-9]\d{0,8})$/.test(value) ? value : JSON.stringify(value).replaceAll('\u007F', String.raw`\u007F`)

function staged(file: string, text: string, instead: string): PreparedSettings {
  try {
    return stage(file, text, { secret: false })
  } catch (error) {
    throw new AppError('CONFIG_INVALID', `Cannot write ${file}: ${whyNotWritten(error)}. Or ${instead}.`)
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

function stage(file: string, text: string, keeping?: { secret: boolean }): PreparedSettings {
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
    if (keeping && existsSync(target)) keepAccess(fresh.temporary, statSync(target), keeping)
  } catch (error) {
    discard()
    throw error
  }
  return { temporary: fresh.temporary, commit: fresh.replace, discard }
}
