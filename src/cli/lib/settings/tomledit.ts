import { isDeepStrictEqual } from 'node:util'
import { parse } from 'smol-toml'
import { isTable, lineOfKey } from '../../../core/tomllines.js'

/** A key and a value on one line, and the comment after them. */
const ASSIGNMENT = /^(\s*[^=#[]+?\s*=\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s#"'[{]+)(\s*(?:#[^]*)?)$/

/**
 * The text of a configuration file with a key set to a value as TOML writes it, or without the key where there is no
 * value. All other lines stay. Undefined where that is not possible: the key is in an inline table, or has a value of
 * several lines.
 */
export function edited(text: string, key: string, value: string | undefined): string | undefined {
  const before = keysIn(text)
  const changed = value === undefined ? withoutLine(text, key) : withLine(text, key, value)
  const after = changed === undefined ? undefined : keysIn(changed)
  if (!before || !after) return undefined
  if (value === undefined) before.delete(key)
  else before.set(key, parse(`value = ${value}`).value)
  return isDeepStrictEqual(before, after) ? changed : undefined
}

/** The keys of a file and their values. Undefined where it is not valid TOML. */
export function keysIn(text: string): Map<string, unknown> | undefined {
  try {
    return new Map(flattened(parse(text)))
  } catch {
    return undefined
  }
}

const flattened = (table: Record<string, unknown>, prefix = ''): [string, unknown][] =>
  Object.entries(table).flatMap(([name, value]) =>
    isTable(value) ? flattened(value, `${prefix}${name}.`) : [[prefix + name, value] as [string, unknown]],
  )

function withoutLine(text: string, key: string): string | undefined {
  const line = lineOfKey(text, key)
  return line === undefined
    ? undefined
    : text
        .split('\n')
        .toSpliced(line - 1, 1)
        .join('\n')
}

function withLine(text: string, key: string, value: string): string {
  const lines = text.split('\n')
  const ending = lines[0]?.endsWith('\r') ? '\r' : ''
  const existing = lineOfKey(text, key)
  if (existing !== undefined) {
    const [, name = '', , rest = ''] = ASSIGNMENT.exec(lines[existing - 1] ?? '') ?? []
    return lines.toSpliced(existing - 1, 1, `${name}${value}${rest}`).join('\n')
  }
  const [section, name] = key.split('.', 2) as [string, string | undefined]
  const insert = (index: number, line: string) => lines.toSpliced(index, 0, `${line}${ending}`).join('\n')
  const firstTable = lines.findIndex((each) => each.trimStart().startsWith('['))
  const top = firstTable === -1 ? lines : lines.slice(0, firstTable)
  if (name === undefined) return insert(topOf(top), `${key} = ${value}`)
  const header = lines.findIndex((each) => /^\s*\[([^[\]]+)\]\s*(?:#.*)?$/.exec(each)?.[1]?.trim() === section)
  if (header !== -1) return insert(header + 1, `${name} = ${value}`)
  const beside = top.findLastIndex((each) => new RegExp(`^\\s*${section}\\s*\\.`).test(each))
  if (beside !== -1) return insert(beside + 1, `${key} = ${value}`)
  const start = text === '' || text.endsWith('\n') ? text : `${text}${ending}\n`
  return `${start}${text.trim() === '' ? '' : `${ending}\n`}[${section}]${ending}\n${name} = ${value}${ending}\n`
}

/** Where a key begins that is in no table: after the last of them, or after the comment that the file begins with. */
function topOf(lines: readonly string[]): number {
  const last = lines.findLastIndex((each) => /^\s*[^\s#]/.test(each))
  if (last !== -1) return last + 1
  const end = lines.findIndex((each) => !each.startsWith('#'))
  return end > 0 && lines[end]?.trim() === '' ? end : 0 // a comment without a space below is that of a table
}
