import { TZDate } from '@date-fns/tz'
import { DEFAULT_DIGEST, WEEKDAYS, type DigestTime, type QuietHours } from './notificationways.js'

/** When the quiet hours end in which a time is; undefined where it is in none. */
export function endOfQuiet({ quietFrom: from, quietUntil: until, timeZone }: QuietHours, time: Date): Date | undefined {
  if (from === until) return undefined
  const here = new TZDate(time.getTime(), timeZone)
  const hour = Number.isNaN(here.getTime()) ? time.getUTCHours() : here.getHours()
  const isQuiet = from < until ? hour >= from && hour < until : hour >= from || hour < until
  return isQuiet ? nextDigest({ ...DEFAULT_DIGEST, hour: until, timeZone }, time) : undefined
}

/**
 * The next time after `now` at which the digest of a person leaves: on their clock, summer time or not. An hour that
 * a change of the clock skips is the one after it; of one that comes twice, the first.
 */
export function nextDigest({ timeZone, ...wanted }: DigestTime, now: Date): Date {
  const { digest, weekday, hour } = wanted
  const here = new TZDate(now.getTime(), timeZone)
  // A server with a later version of Node may know more time zones
  if (Number.isNaN(here.getTime())) return nextDigest({ ...wanted, timeZone: DEFAULT_DIGEST.timeZone }, now)
  for (let days = 0; ; days++) {
    const time = firstOf(
      new TZDate(here.getFullYear(), here.getMonth(), here.getDate() + days, hour, timeZone),
      timeZone,
    )
    const isDay = digest === 'daily' || WEEKDAYS[(time.getDay() + 6) % 7] === weekday
    if (isDay && time.getTime() > now.getTime()) return new Date(time.getTime())
  }
}

/** Of an hour that comes twice, `TZDate` takes the one or the other, by the time zone of this machine. */
function firstOf(time: TZDate, timeZone: string): TZDate {
  const earlier = new TZDate(time.getTime() - 60 * 60 * 1000, timeZone)
  return earlier.getHours() === time.getHours() ? earlier : time
}
