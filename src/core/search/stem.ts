/** Words of Latin letters without accents. */
const LATIN = /^[a-z]{4,}$/
const VOWEL = /[aeiouy]/

/** At least so many letters stay. */
const SHORTEST = 3
/** At least so many before one of `ENDINGS`: without them, "user" and "use" would be one word. */
const SHORTEST_LATIN = 4

/** Endings of German, French, Spanish and Portuguese; the longest first. */
const ENDINGS = ['iendo', 'ando', 'ado', 'ada', 'ern', 'ee', 'em', 'en', 'er', 'es', 'ez', 'ar', 'ir', 'e', 'n', 'o', 'a'] // prettier-ignore
/** These also end English words: "quota" is no "quote", and "pillar" no "pill". */
const ENDINGS_OF_LONG = new Set(['ar', 'ir', 'o', 'a'])
const SHORTEST_LONG = 6

/** Plurals that change what is before the ending: "journaux", "notificaciones", "notificações". */
const PLURALS = [
  [/eaux$/, 'eau'],
  [/aux$/, 'al'],
  [/iones$/, 'ion'],
  [/(?<=[csz])oes$/, 'ao'],
  [/ae$/, 'a'],
] as const

/** Russian words, as they are folded: "й" is "и" and "ё" is "е". */
const RUSSIAN = /^[а-я]{5,}$/
/** So many letters stay of a Russian word. */
const SHORTEST_RUSSIAN = 4
/** Endings of verbs and of the nouns that are made of them, then of other nouns and adjectives. */
const RUSSIAN_ENDINGS = (
  'ированиями ированиях ировании ирование ирования ированию ировать ируется ируют ирует ированныи ованиями ованиях ование ования ованию овании овать ' +
  'ениями ениях ением ение ения ению ении аниями аниях анием ание ания анию ании ивать ывать ять ать еть ить уть ' +
  'ется ются ится ятся ают яют ает яет ует уют ишь ешь аете ите ете ала яла ила али или ' +
  'остями остях ости остью ость иями иях ием ами ями ого его ому ему ыми ими иям ами ыи ии ои еи ая яя ое ее ые ие ую юю ых их ым им ов ев ам ям ах ях ом ем ою ею ия ию ют ут ет ит ат ят ал ил ' +
  'а я о е и ы у ю ь'
)
  .split(' ')
  .toSorted((one, other) => other.length - one.length)

/** Arabic words, what stands before them and their endings; so many letters stay. */
const ARABIC = /^[\u0621-\u064a]{4,}$/
const SHORTEST_ARABIC = 3
const ARABIC_BEFORE = ['وال', 'بال', 'كال', 'فال', 'لل', 'ال']
const ARABIC_ENDINGS = ['ات', 'ون', 'ين', 'ان', 'ها', 'ية', 'ة', 'ه', 'ي']

/**
 * What the forms of a word have in common: "export" of "exported", "einstellung" of "Einstellungen". It is no word, and
 * some words that mean other things share it, so an exact word ranks above it. Endings of all languages of a script are
 * taken off whatever the language of the text is, as nothing says which it is.
 */
export function stemOf(word: string): string {
  if (RUSSIAN.test(word)) return withoutRussian(word)
  if (ARABIC.test(word)) return withoutArabic(word)
  if (!LATIN.test(word)) return word
  const plural = PLURALS.find(([ending]) => word.length > SHORTEST_LATIN + 1 && ending.test(word))
  const stem = plural ? word.replace(plural[0], plural[1]) : withoutEnglish(word)
  const ending = ENDINGS.find((each) => stem.endsWith(each) && stem.length - each.length >= shortestBefore(each))
  return ending === undefined ? stem : stem.slice(0, -ending.length)
}

const shortestBefore = (ending: string): number => (ENDINGS_OF_LONG.has(ending) ? SHORTEST_LONG : SHORTEST_LATIN)

/** Takes off the first of these endings that leaves enough letters. */
function withoutOne(word: string, endings: readonly string[], shortest: number): string {
  const ending = endings.find((each) => word.endsWith(each) && word.length - each.length >= shortest)
  return ending === undefined ? word : word.slice(0, -ending.length)
}

const withoutRussian = (word: string): string =>
  withoutOne(word.replace(/с[ья]$/, ''), RUSSIAN_ENDINGS, SHORTEST_RUSSIAN)

function withoutArabic(word: string): string {
  const before = ARABIC_BEFORE.find((each) => word.startsWith(each) && word.length - each.length >= SHORTEST_ARABIC)
  return withoutOne(word.slice(before?.length ?? 0), ARABIC_ENDINGS, SHORTEST_ARABIC)
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
