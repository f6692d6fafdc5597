import Markdown, { type MarkdownIt, type StateBlock } from 'markdown-it'

/** Cells that any text may have in tables, and how many characters each further cell needs. */
const FEW_CELLS = 100
const CELL_LENGTH = 2

type BlockRule = (state: StateBlock, startLine: number, endLine: number, silent: boolean) => boolean

/** A parser of Markdown whose tables have no more cells than their text is long. */
export function makeParser(options: { html: boolean; linkify?: boolean }): MarkdownIt {
  const parser = new Markdown('commonmark', options)
  const table = ruleOf('table')
  parser.enable('table')
  parser.block.ruler.at('table', (state, start, end, silent) => hasRoom(state, start, end, silent) && table(state, start, end, silent), { alt: ['paragraph', 'reference'] }) // prettier-ignore
  return parser
}

function ruleOf(name: string): BlockRule {
  const { ruler } = new Markdown().block
  ruler.enableOnly([name])
  const [rule] = ruler.getRules('')
  if (!rule) throw new Error(`markdown-it has no rule ${name}.`)
  return rule
}

/**
 * markdown-it fills short rows up to the width of the header, so that each line of two characters can become hundreds of
 * cells. A table that asks for more than its text has room for is a paragraph.
 */
function hasRoom(state: StateBlock, start: number, end: number, silent: boolean): boolean {
  if (start + 2 > end) return true
  const delimiter = lineOf(state, start + 1)
  if (!/^[-:|][-:| \t]*$/.test(delimiter)) return true // no table
  const columns = delimiter
    .replace(/^\|/, '')
    .replace(/\|[ \t]*$/, '')
    .split('|').length
  const env = state.env as { cells?: number }
  env.cells ??= FEW_CELLS + state.src.length / CELL_LENGTH
  let cells = columns
  for (let line = start + 2; line < end && !state.isEmpty(line); line++) {
    cells += columns
    if (cells > env.cells) {
      env.cells = 0 // or each of its lines would be looked at again
      return false
    }
  }
  if (!silent) env.cells -= cells
  return true
}

const lineOf = ({ src, bMarks, tShift, eMarks }: StateBlock, line: number): string =>
  src.slice((bMarks[line] ?? 0) + (tShift[line] ?? 0), eMarks[line])
