import { TZDate } from '@date-fns/tz'
import { topicOf, type NotificationKind } from '../../core/notificationkinds.js'
import {
  DEFAULT_DIGEST,
  effectiveWays,
  isOnPage,
  mailOf,
  WEEKDAYS,
  type DigestTime,
} from '../../core/notificationways.js'
import type { Receiver } from '../../db/notificationsettings.js'

/** Milliseconds. What happens to one post meanwhile is one mail. */
const MAIL_DELAY_MS = 5 * 60 * 1000

/** How a person is told. Columns of `notifications`. */
export interface Told {
  isOnPage: number
  mail: 'now' | 'digest' | null
  mailAt: string | null
}

/**
 * How a receiver is told of a kind of thing; undefined where in no way. `site` are the defaults of the site, as stored;
 * `isMailed` is whether the site sends mail.
 */
export function toldHow(
  { settings, isVerified, isOwner, isSuppressed }: Receiver,
  kind: NotificationKind,
  { site, now, isMailed }: { site: string; now: Date; isMailed: boolean },
): Told | undefined {
  const ways = effectiveWays(site, settings?.ways)[topicOf(kind)]
  const isReachable = isMailed && (isVerified === 1 || isOwner === 1) && !isSuppressed
  const mail = isReachable ? mailOf(ways) : null
  if (!mail && !isOnPage(ways)) return undefined
  return { isOnPage: isOnPage(ways) ? 1 : 0, mail, mailAt: mail && mailTime(mail, { now, settings }) }
}

/** When a mail is to be written. */
const mailTime = (mail: 'now' | 'digest', { now, settings }: { now: Date; settings: DigestTime | undefined }): string =>
  (mail === 'now' ? new Date(now.getTime() + MAIL_DELAY_MS) : nextDigest(settings ?? DEFAULT_DIGEST, now)).toISOString()

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
