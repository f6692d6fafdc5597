/** Takes the place of spaces in a command within a sentence, which is copied and so stays in one piece. */
const GLUE = '\u0000'

/**
 * Breaks a paragraph between words into lines of at most `width` columns. A longer word has a line of its own, and so
 * has a command in quotes. `measured` says how many columns a text takes, where it can hold more than plain letters.
 */
export function wrapped(
  text: string,
  width: number,
  indent = '',
  measured: (text: string) => number = ({ length }) => length,
): string {
  const lines: string[] = []
  let line = ''
  const glued = text.replace(/"feedbackctl [^"]*"/g, (command) => command.replaceAll(' ', GLUE))
  for (const word of glued.split(' ')) {
    if (line !== '' && indent.length + measured(line) + 1 + measured(word) > width) {
      lines.push(indent + line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, indent + line].join('\n').replaceAll(GLUE, ' ')
}

interface Place {
  width: number
  /** Columns before the term. */
  indent: number
  /** The column in which the text starts. */
  column: number
}

/** A term, and its text beside it: below it where the term is too long. */
export function wrappedRow(term: string, text: string, { width, indent, column }: Place): string {
  const start = ' '.repeat(indent) + term
  if (text === '') return start
  const longest = Math.max(...text.split(' ').map((word) => word.length))
  if (column + longest > width) return `${start}\n${wrapped(text, width, ' '.repeat(indent + 4))}`
  const body = wrapped(text, width, ' '.repeat(column))
  return start.length + 1 <= column ? start.padEnd(column) + body.slice(column) : `${start}\n${body}`
}

/**
 * Text whose paragraphs are one line each, in lines of at most `width` columns. A line with a gap of two or more spaces
 * is a row of a table, whose right part stays in its column, and one with a number is an item of a list.
 */
export const wrappedText = (text: string, width: number): string =>
  text
    .split('\n')
    .map((line) => {
      if (line.length <= width) return line
      const [item] = /^ *\d+\. /.exec(line) ?? []
      if (item !== undefined) return item + wrapped(line.slice(item.length), width, ' '.repeat(item.length)).trimStart()
      const row = /^( *)(\S.*?) {2,}(?=\S)/.exec(line)
      const indent = /^ */.exec(line)?.[0].length ?? 0
      if (!row) return wrapped(line.trim(), width, ' '.repeat(indent))
      const [start, , term = ''] = row
      const column = start.length > width / 2 ? indent + 4 : start.length
      return wrappedRow(term, line.slice(start.length), { width, indent, column })
    })
    .join('\n')
