/** Words of Latin letters without accents: the texts of pages are English and German, and so are these endings. */
const LATIN = /^[a-z]{4,}$/
const VOWEL = /[aeiouy]/

/** At least so many letters stay. */
const SHORTEST = 3
/** At least so many before a German ending: without them, "user" and "use" would be one word. */
const SHORTEST_GERMAN = 4

const GERMAN = ['ern', 'em', 'en', 'er', 'es', 'e', 'n']

/**
 * What the forms of a word have in common: "export" of "exported", "einstellung" of "Einstellungen". It is no word, and
 * some words that mean other things share it, so an exact word ranks above it. Endings of both languages are taken off
 * whatever the language of the text is, as nothing says which it is.
 */
export function stemOf(word: string): string {
  if (!LATIN.test(word)) return word
  const stem = withoutEnglish(word)
  const ending = GERMAN.find((each) => stem.endsWith(each) && stem.length - each.length >= SHORTEST_GERMAN)
  return ending === undefined ? stem : stem.slice(0, -ending.length)
}

function withoutEnglish(word: string): string {
  const singular = withoutPlural(word)
  for (const ending of ['ingly', 'edly', 'ing', 'ed']) {
    const rest = singular.slice(0, -ending.length)
    if (singular.endsWith(ending) && rest.length >= SHORTEST && VOWEL.test(rest)) return undoubled(rest)
  }
  return singular.endsWith('y') && singular.length > SHORTEST ? `${singular.slice(0, -1)}i` : singular
}

function withoutPlural(word: string): string {
  if (word.endsWith('sses')) return word.slice(0, -2)
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`
  return word.endsWith('s') && !/(ss|us|is)$/.test(word) ? word.slice(0, -1) : word
}

/** "stopp" of "stopped" is "stop"; "fill" and "miss" stay. */
const undoubled = (stem: string): string =>
  stem.length > SHORTEST && /([^lsz])\1$/.test(stem) && !VOWEL.test(stem.slice(-1)) ? stem.slice(0, -1) : stem
