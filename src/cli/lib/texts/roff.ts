/** Columns of a line of source. Rendered lines are broken anew. */
const WIDTH = 78

/** Text that troff takes for itself: no request, no hyphen that is copied as another sign, no character beyond ASCII. */
export const roff = (text: string): string =>
  text
    .replaceAll(/\p{Extended_Pictographic}\uFE0F?\s?/gu, (sign) => (sign === '©' ? sign : '')) // few terminals' fonts of manual pages have them
    .replaceAll('…', '...')
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
    .replaceAll('"', String.raw`\(dq`)
    .replaceAll("'", String.raw`\(aq`)
    .replaceAll('`', String.raw`\(ga`)
    .replaceAll('^', String.raw`\(ha`)
    .replaceAll('~', String.raw`\(ti`)
    .replaceAll(
      /[^\x20-\x7E]/gu,
      (sign) => `\\[u${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    .replace(/^\./, String.raw`\&.`)

/** Lines of a paragraph. Each sentence begins a line, as troff puts the space after it. */
export const paragraph = (text: string): string[] => text.split(/\n+/).flatMap((part) => ['.PP', ...broken(part)])

function broken(text: string): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.trim().split(/\s+/)) {
    const isEnd = /[.!?]$/.test(line)
    if (line !== '' && (isEnd || line.length + 1 + word.length > WIDTH / 1.2)) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].filter((each) => each !== '').map(roff)
}

/** A list of terms, each with its text. */
export const terms = (rows: readonly (readonly [term: string, text: string])[]): string[] =>
  rows.flatMap(([term, text]) => ['.TP', `.B ${roff(term)}`, ...broken(text === '' ? '-' : text)])

export const sentenceOf = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)

/** A page of lines. A paragraph right after a heading begins no other. */
export const blocks = (lines: readonly string[]): string =>
  `${lines.filter((line, index) => line !== '.PP' || !/^\.S[HS]/.test(lines[index - 1] ?? '')).join('\n')}\n`
