import { existsSync } from 'node:fs'
import path from 'node:path'
import { didYouMean, likely } from '../core/guesses.js'
import { AppError } from '../core/errors.js'
import { SOURCE_NAMES, type SourceName } from '../sources/index.js'
import { isAddress, type Preview } from '../sources/source.js'
import { OWN } from './importsite.js'
import { colorLevel, say, tell, widthOf, type ColorFlag, type Terminal } from './lib/terminal/terminal.js'
import type { Column } from './lib/output/table.js'
import { Mistyped } from './lib/texts/mistyped.js'

type Word = SourceName | typeof OWN

/** The words that say where the data is from. */
export const WORDS: readonly Word[] = [OWN, ...SOURCE_NAMES]

const isWord = (text: string): text is Word => WORDS.some((word) => word === text)

/** The source and the file of `import SOURCE FILE`, or of `import FILE`, whose source its content tells. */
export async function sourceOf(
  terminal: Terminal,
  first: string,
  second: string | undefined,
): Promise<{ product: Word; file: string }> {
  const { args } = terminal
  const meant = likely(first, WORDS)
  if (second !== undefined) {
    if (isWord(first)) return { product: first, file: second }
    const corrected = meant === undefined ? undefined : args.with(args.indexOf(first), meant)
    throw new Mistyped(`The source must be one of ${WORDS.join(', ')}; "${first}" is not.${didYouMean(meant)}`, corrected) // prettier-ignore
  }
  if (isWord(first)) throw new Mistyped('Missing required argument: <file>. Nothing was changed.', args.toSpliced(args.indexOf(first) + 1, 0, 'FILE')) // prettier-ignore
  if (first === '-') return { product: OWN, file: first } // no other source reads stdin
  const isUrl = isAddress(first)
  const from = isUrl ? first : path.resolve(terminal.cwd, first)
  if (!isUrl && !existsSync(from)) throw new AppError('USAGE', `${first} does not exist.${didYouMean(meant, (word) => `import ${word} FILE`)}`) // prettier-ignore
  const { recognised } = await import('../sources/recognised.js')
  const { word, what } = await recognised(from, isUrl ? 'The database' : first)
  tell(terminal, `${isUrl ? 'The address' : first} is ${what}: this is "import ${word}".`)
  return { product: word, file: first }
}

/** The order in which columns are dropped where there is little room: the title last. */
const LEAST_LAST = ['title', 'votes', 'status', 'board', 'author', 'created', 'text', 'email', 'tags', 'category', 'id', 'url'] // prettier-ignore

/** Shows on stderr what the columns of a table were taken for, and its first rows. */
export async function showPreview(
  terminal: Terminal,
  flags: ColorFlag,
  shown: string,
  { columns, rows }: Preview,
): Promise<void> {
  tell(terminal, `Columns of ${shown}: ${columns.map(({ column, header }) => `${column}=${header}`).join(', ')}`)
  if (rows.length === 0) return tell(terminal, 'It has no rows.')
  const { drawTable } = await import('./lib/output/table.js')
  const table = columns.map(({ column }): Column<Preview['rows'][number]> => ({
    head: column.toUpperCase(),
    text: (row) => (row[column] ?? '').replaceAll(/\s+/g, ' '),
    drop: LEAST_LAST.indexOf(column),
  }))
  const { stderr } = terminal
  const style = { width: widthOf(stderr), color: colorLevel(terminal, stderr, flags), wide: false, now: terminal.now() }
  for (const line of drawTable(table, rows, style).split('\n')) say(terminal, line)
  tell(
    terminal,
    `${rows.length === 1 ? 'This is the first row' : `These are the first ${rows.length} rows`}. Name other headers with --map column=header.\n`,
  )
}
