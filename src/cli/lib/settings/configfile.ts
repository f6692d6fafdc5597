import { existsSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { atomicFile } from '../../../core/atomicfile.js'
import { AppError } from '../../../core/errors.js'
import { whyNotWritten } from '../../../core/filecauses.js'
import { whileLocked } from '../../../core/filelock.js'
import { keepAccess, makeFolder, removeEmpty } from '../../../core/files.js'
import { isSecret, variableOf, type Key } from '../../../core/settings.js'
import { textOfFile } from '../../../core/valuefiles.js'
import { edited, keysIn } from './tomledit.js'

/** A checked change in a temporary file, to be committed by a rename. */
export interface PreparedSettings {
  /** The name of the temporary file. */
  temporary: string
  /** Discards it where that fails: it may have secrets. */
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
  const added = (before: string): string => {
    let text = before
    for (const [key, value] of Object.entries(entries)) {
      const changed = edited(text, key, literal(value))
      if (changed === undefined)
        throw new AppError(
          'CONFIG_INVALID',
          `Cannot add ${key} to ${file} automatically. Write it there by hand, or set ${variableOf(key as Key)}.`,
        )
      text = changed
    }
    return text
  }
  try {
    return stage(file, added, { secret: Object.keys(entries).some((key) => isSecret(key as Key)) })
  } catch (error) {
    if (error instanceof AppError) throw error
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
  const removed = (before: string): string => {
    const text = keysIn(before)?.has(key) === false ? before : edited(before, key, undefined)
    if (text !== undefined) return text
    throw new AppError('CONFIG_INVALID', `Cannot remove ${key} from ${file} automatically. Remove it by hand.`)
  }
  return staged(file, removed, 'remove the line by hand')
}

/** Prepares a file with a change of its text, which is made again where another command changes the file meanwhile. */
export const prepareChange = (file: string, change: (text: string) => string): PreparedSettings =>
  staged(file, change, 'choose another file with --config')

/** Prepares a file with another text in place of this one. */
export const prepareText = (file: string, text: string, instead: string): PreparedSettings =>
  prepareChange(file, (present) => {
    if (present === instead) return text
    throw new AppError('CONFIG_INVALID', `Another command has changed ${file} meanwhile. Nothing was changed.`)
  })

export const textOf = (file: string): string =>
  existsSync(file) ? textOfFile(file, '--config or by default', 'configuration') : ''

/** Numbers, true and false as they are, and all else as a text. */
const literal = (value: string): string =>
  /^(true|false|0|[1-9]\d{0,8})$/.test(value) ? value : JSON.stringify(value).replaceAll('\u007F', String.raw`\u007F`)

function staged(file: string, change: (text: string) => string, instead: string): PreparedSettings {
  try {
    return stage(file, change, { secret: false })
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('CONFIG_INVALID', `Cannot write ${file}: ${whyNotWritten(error)}. Or ${instead}.`)
  }
}

/** Replaces a file atomically under a lock. Only its owner can read the new file. Symbolic links are followed. */
export function replaceFile(file: string, change: () => string): void {
  change() // throws its own errors first
  const { commit, discard } = stage(file, change)
  try {
    commit()
  } finally {
    discard()
  }
}

function stage(file: string, change: (text: string) => string, keeping?: { secret: boolean }): PreparedSettings {
  // Root would replace a device such as /dev/null for all programs
  if (existsSync(file) && !statSync(file).isFile())
    throw Object.assign(new Error(`${file} is not a file`), { code: 'not a file' })
  const before = textOf(file)
  const text = change(before)
  const made = makeFolder(path.dirname(file))
  const target = existsSync(file) ? realpathSync(file) : file
  const fresh = atomicFile(target)
  const discard = () => {
    fresh.discard()
    removeEmpty(made)
  }
  const write = (whole: string) => {
    fresh.write(whole)
    if (keeping && existsSync(target)) keepAccess(fresh.temporary, statSync(target), keeping)
  }
  try {
    write(text)
  } catch (error) {
    discard()
    throw error
  }
  const commit = () => {
    try {
      whileLocked(target, (assertHeld) => {
        const present = textOf(file)
        if (present !== before) {
          fresh.discard()
          write(change(present))
        }
        assertHeld()
        fresh.replace()
      })
    } catch (error) {
      discard()
      throw error
    }
  }
  return { temporary: fresh.temporary, commit, discard }
}
