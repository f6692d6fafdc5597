const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

/** How many whole units a duration has: `2d` are 48 hours. A number alone counts them. Undefined for anything else. */
export function wholeOf(text: string, unit: 's' | 'h' | 'd'): number | undefined {
  const [, count, given = unit] = /^(\d{1,7})([smhdw])?$/.exec(text.trim()) ?? []
  const units = (Number(count) * (SECONDS[given] ?? 0)) / (SECONDS[unit] ?? 1)
  return Number.isInteger(units) ? units : undefined
}
