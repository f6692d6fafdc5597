const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

/** `3 hours ago`, `yesterday`. */
export function ago(iso: string, now: Date): string {
  const seconds = Math.round((Date.parse(iso) - now.getTime()) / 1000)
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1]
  if (unit === 'second') return 'just now'
  words ??= new Intl.RelativeTimeFormat('en', { numeric: 'auto' }) // making one takes a millisecond
  return words.format(Math.trunc(seconds / size), unit)
}

let words: Intl.RelativeTimeFormat | undefined
