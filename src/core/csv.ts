import { printableLines } from './text.js'

/** A spreadsheet runs a cell that begins with one of these as a formula. Some skip spaces before it. */
const FORMULA = /^\s*[=+\-@\uff0b\uff0d\uff1d\uff20]/

/** Text that a spreadsheet shows as text, as OWASP advises. */
export function csvCell(text: string): string {
  const safe = printableLines(text)
  return FORMULA.test(safe) ? `'${safe}` : safe
}

/** For csv-stringify: a cell that holds another separator is quoted, or a spreadsheet may split it into several. */
export const CSV_STYLE = { quoted_match: /[;\t|]/ } as const
