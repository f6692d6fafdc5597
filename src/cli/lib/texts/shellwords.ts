/** The words of a line as a POSIX shell splits them, without variables. Undefined where a quotation mark is not closed. */
export function shellWords(line: string): string[] | undefined {
  const words: string[] = []
  let word: string | undefined
  let rest = line
  while (rest !== '') {
    const [part = '', space, single, double, escape, plain] =
      /^(?:(\s+)|'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])|([^\s'"\\]+))/.exec(rest) ?? []
    if (part === '') return undefined
    rest = rest.slice(part.length)
    if (space === undefined)
      word = (word ?? '') + (single ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? escape ?? plain ?? '')
    else if (word !== undefined) {
      words.push(word)
      word = undefined
    }
  }
  return word === undefined ? words : [...words, word]
}
