/** Letters that may be missing or wrong, by the script of a word. In others, only letters too many and swapped ones are found. */
const ALPHABETS = [
  { script: /^[a-z]+$/, letters: range('a', 'z') },
  { script: /^[а-я]+$/, letters: range('а', 'я') },
  { script: /^[α-ω]+$/, letters: range('α', 'ω') },
]

/** A shorter word is one letter away from too many others. */
const SHORTEST = 4
const LONGEST = 20

/** Words that differ from this one by a letter: one too many, too few or wrong, or two swapped. */
export function wordsNear(word: string): string[] {
  const signs = Array.from(word)
  if (signs.length < SHORTEST || signs.length > LONGEST) return []
  const letters = ALPHABETS.find(({ script }) => script.test(word))?.letters ?? []
  const near = new Set<string>()
  for (let at = 0; at <= signs.length; at++) {
    const [before, after] = [signs.slice(0, at).join(''), signs.slice(at)]
    const [first = '', second = '', ...rest] = after
    near.add(before + after.slice(1).join(''))
    near.add(before + second + first + rest.join(''))
    for (const letter of letters) {
      near.add(before + letter + after.join(''))
      near.add(before + letter + after.slice(1).join(''))
    }
  }
  near.delete(word)
  return [...near]
}

function range(first: string, last: string): string[] {
  const from = first.charCodeAt(0)
  return Array.from({ length: last.charCodeAt(0) - from + 1 }, (_, index) => String.fromCharCode(from + index))
}
