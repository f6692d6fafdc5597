/** The units of all durations: of flags, of settings and of limits. */
export const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }
type Unit = keyof typeof SECONDS

/** How many whole units a duration has: `2d` are 48 hours. A number alone counts them. Undefined for anything else. */
export function wholeOf(text: string, unit: Unit): number | undefined {
  const [, count, given = unit] = /^(\d{1,8})([smhdw])?$/.exec(text.trim()) ?? []
  const units = (Number(count) * SECONDS[given as Unit]) / SECONDS[unit]
  return Number.isInteger(units) ? units : undefined
}

/** The seconds of a duration in the configuration, which was checked. */
export const secondsOf = (text: string): number => wholeOf(text, 's') ?? Number.NaN

/** Reads `1d` as seconds; null for `off`, undefined for anything else. At most 366 days. */
export function durationOf(text: string): number | null | undefined {
  if (text === 'off') return null
  const seconds = /^[1-9]\d*[smhdw]$/.test(text) ? wholeOf(text, 's') : undefined
  return seconds !== undefined && seconds <= 366 * SECONDS.d ? seconds : undefined
}

/** Formats seconds for `durationOf`, in the largest whole unit: `1d` for 86,400. Returns `off` for none. */
export function durationText(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return 'off'
  const [unit, size] = Object.entries(SECONDS).findLast(([, each]) => seconds % each === 0) ?? ['s', 1]
  return `${seconds / size}${unit}`
}
