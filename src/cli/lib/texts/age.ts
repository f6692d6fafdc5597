const UNITS: [unit: string, seconds: number, last?: string, next?: string][] = [
  ['year', 31_536_000, 'last year', 'next year'],
  ['month', 2_592_000, 'last month', 'next month'],
  ['week', 604_800, 'last week', 'next week'],
  ['day', 86_400, 'yesterday', 'tomorrow'],
  ['hour', 3_600],
  ['minute', 60],
]

/** Formats a time as `3 hours ago` or `yesterday`, like `Intl.RelativeTimeFormat`, which takes 15 ms to construct. */
export function ago(iso: string, now: Date): string {
  const seconds = Math.round((Date.parse(iso) - now.getTime()) / 1000)
  const match = UNITS.find(([, length]) => Math.abs(seconds) >= length)
  if (!match) return 'just now'
  const [unit, length, last, next] = match
  const count = Math.floor(Math.abs(seconds) / length)
  const single = seconds < 0 ? last : next
  if (count === 1 && single !== undefined) return single
  const duration = `${count} ${unit}${count === 1 ? '' : 's'}`
  return seconds < 0 ? `${duration} ago` : `in ${duration}`
}

/** Formats when something was last used, which is stored as the beginning of an hour. */
export function lastUse(hour: string | null, now: Date): string {
  if (hour === null) return 'never'
  return now.getTime() - Date.parse(hour) < 3_600_000 ? 'this hour' : ago(hour, now)
}
