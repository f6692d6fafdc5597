const UNITS: [unit: string, seconds: number, last?: string, next?: string][] = [
  ['year', 31_536_000, 'last year', 'next year'],
  ['month', 2_592_000, 'last month', 'next month'],
  ['week', 604_800, 'last week', 'next week'],
  ['day', 86_400, 'yesterday', 'tomorrow'],
  ['hour', 3_600],
  ['minute', 60],
]

/** `3 hours ago`, `yesterday`: as `Intl.RelativeTimeFormat` says it, which takes 15 ms to make. */
export function ago(iso: string, now: Date): string {
  const seconds = Math.round((Date.parse(iso) - now.getTime()) / 1000)
  const found = UNITS.find(([, length]) => Math.abs(seconds) >= length)
  if (!found) return 'just now'
  const [unit, length, last, next] = found
  const count = Math.floor(Math.abs(seconds) / length)
  const one = seconds < 0 ? last : next
  if (count === 1 && one !== undefined) return one
  const words = `${count} ${unit}${count === 1 ? '' : 's'}`
  return seconds < 0 ? `${words} ago` : `in ${words}`
}
