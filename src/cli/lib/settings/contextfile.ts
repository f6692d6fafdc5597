import { isDeepStrictEqual } from 'node:util'
import { parse } from 'smol-toml'
import { AppError } from '../../../core/errors.js'
import { isTable, type Table } from '../../../core/tomllines.js'
import { prepareChange, type PreparedSettings } from './configfile.js'

/** What a context has in the file: `server`, `data.dir` or `protected`. */
type Entries = Readonly<Record<string, string | boolean>>

const HEADER = /^\s*\[([^[\]]+)\]\s*(?:#.*)?$/
const isComment = (line = '') => line.trimStart().startsWith('#')
const isBlank = (line = '') => line.trim() === ''

/** Prepares a configuration file with one more table [contexts.NAME], at its end. */
export const prepareContext = (file: string, name: string, entries: Entries): PreparedSettings =>
  prepared(file, name, {
    change: (text) => {
      const ending = endingOf(text)
      const lines = [`[contexts.${keyOf(name)}]`, ...Object.entries(entries).map(([key, value]) => lineOf(key, value))]
      const start = text === '' || text.endsWith('\n') ? text : `${text}${ending}`
      return `${start}${isBlank(text) ? '' : ending}${lines.map((line) => line + ending).join('')}`
    },
    expect: (contexts) => ({ ...contexts, [name]: nested(entries) }),
  })

/** Prepares a file without the table of a context, and without `context` where that is its name. */
export const prepareWithoutContext = (file: string, name: string): PreparedSettings =>
  prepared(file, name, {
    change: (text) => {
      const lines = withoutCurrent(text.split('\n'), name)
      const [start, end] = tableOf(lines, name)
      let first = start
      while (isComment(lines[first - 1])) first-- // the comment of the table, unless the file begins with it
      return joined(lines.toSpliced(first === 0 ? start : first, end - (first === 0 ? start : first)))
    },
    expect: (contexts) => Object.fromEntries(Object.entries(contexts).filter(([each]) => each !== name)),
    leaves: name,
  })

/** Prepares a file in which a context has `protected = true`, or has it no longer. */
export const prepareProtection = (file: string, name: string, isProtected: boolean): PreparedSettings =>
  prepared(file, name, {
    change: (text) => {
      const lines = text.split('\n')
      const [start, end] = tableOf(lines, name)
      const old = lines.findIndex((line, index) => index > start && index < end && /^\s*protected\s*=/.test(line))
      const rest = old === -1 ? lines : lines.toSpliced(old, 1)
      const line = `protected = true${text.includes('\r\n') ? '\r' : ''}`
      return (isProtected ? rest.toSpliced(start + 1, 0, line) : rest).join('\n')
    },
    expect: (contexts) => {
      const own = { ...((contexts[name] ?? {}) as Table) }
      delete own.protected
      return { ...contexts, [name]: isProtected ? { ...own, protected: true } : own }
    },
  })

interface Edit {
  change(this: void, text: string): string
  /** The contexts that the file then has. */
  expect(this: void, contexts: Table): Table
  /** The context that is no longer the current one. */
  leaves?: string
}

/** Nothing else of the file changes: what it then says is compared. */
const prepared = (file: string, name: string, edit: Edit): PreparedSettings =>
  prepareChange(file, (text) => changedText(file, text, name, edit))

function changedText(file: string, text: string, name: string, { change, expect, leaves }: Edit): string {
  const changed = change(text)
  const [before, after] = [read(text), read(changed)]
  const { contexts = {}, ...others } = before ?? {}
  if (others.context === leaves) delete others.context
  const wanted = { ...others, contexts: expect(isTable(contexts) ? contexts : {}) }
  if (!before || !after || !isDeepStrictEqual({ contexts: {}, ...after }, wanted))
    throw new AppError(
      'CONFIG_INVALID',
      `Cannot change the context ${JSON.stringify(name)} in ${file} automatically: it is not written as a table [contexts.NAME]. Change it by hand, with "feedbackctl config edit".`,
    )
  return changed
}

function read(text: string): Table | undefined {
  try {
    return plain(parse(text))
  } catch {
    return undefined
  }
}

const plain = (table: Table): Table => JSON.parse(JSON.stringify(table)) as Table

/** The lines of a table, from its header to before the next one and the comment of that. */
function tableOf(lines: readonly string[], name: string): [start: number, end: number] {
  const whole = `contexts.${name}`
  const start = lines.findIndex((line) => namedBy(line) === whole)
  if (start === -1) return [0, 0]
  const isOther = (line: string) => /^\s*\[/.test(line) && !(namedBy(line) ?? '').startsWith(`${whole}.`)
  const next = lines.findIndex((line, index) => index > start && isOther(line))
  if (next === -1) return [start, lines.length]
  let end = next
  while (end > start + 1 && isComment(lines[end - 1])) end--
  return [start, end]
}

const namedBy = (line: string): string | undefined => HEADER.exec(line)?.[1]?.replaceAll(/["'\s]/g, '')

/** The lines without `context = "NAME"` above all tables. */
function withoutCurrent(lines: readonly string[], name: string): string[] {
  const firstTable = lines.findIndex((line) => line.trimStart().startsWith('['))
  const at = lines.findIndex((line) => /^\s*context\s*=/.test(line))
  const isTop = at !== -1 && (firstTable === -1 || at < firstTable)
  return isTop && read(lines[at] ?? '')?.context === name ? lines.toSpliced(at, 1) : [...lines]
}

/** Without the blank lines that a table leaves at the end. */
const joined = (lines: readonly string[]): string => {
  const text = lines.join('\n')
  return text.trim() === '' ? '' : text.replace(/(\r?\n)\s*$/, '$1')
}

const endingOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')

const keyOf = (name: string): string => (/^[\w-]+$/.test(name) ? name : JSON.stringify(name))

const lineOf = (key: string, value: string | boolean): string =>
  `${key} = ${JSON.stringify(value).replaceAll('\u007F', String.raw`\u007F`)}`

/** `data.dir` is a key in a table. */
const nested = (entries: Entries): Table =>
  Object.fromEntries(
    Object.entries(entries).map(([key, value]) => {
      const [table = '', inner] = key.split('.')
      return inner === undefined ? [key, value] : [table, { [inner]: value }]
    }),
  )
