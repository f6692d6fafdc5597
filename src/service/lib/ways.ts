import { TZDate } from '@date-fns/tz'
import { topicOf, type NotificationKind } from '../../core/notificationkinds.js'
import {
  DEFAULT_DIGEST,
  DEFAULT_TIMES,
  effectiveWays,
  isOnPage,
  mailOf,
  WEEKDAYS,
  type DigestTime,
  type MailWay,
  type QuietHours,
} from '../../core/notificationways.js'
import type { MailSettings } from '../../mail/transport.js'
import type { Receiver } from '../../db/notificationsettings.js'

/** Seconds. What happens to one post meanwhile is one mail. */
const GATHER = 5 * 60

/** How a person is told. Columns of `notifications`. */
export interface Told {
  isOnPage: number
  mail: MailWay | null
  mailAt: string | null
}

/**
 * How a receiver is told of a kind of thing; undefined where in no way. The page tells what no mail can. `site` are the
 * defaults of the site, as stored; `mail` is null where the site sends none.
 */
export function toldHow(
  { settings, isVerified, isOwner, isSuppressed }: Receiver,
  kind: NotificationKind,
  { site, now, mail: settingsOfMail }: { site: string; now: Date; mail: MailSettings | null },
): Told | undefined {
  const ways = effectiveWays(site, settings?.ways)[topicOf(kind)]
  const isReachable = settingsOfMail !== null && (isVerified === 1 || isOwner === 1) && !isSuppressed
  const wanted = mailOf(ways)
  const mail = isReachable ? wanted : null
  const isShown = isOnPage(ways) || mail !== wanted
  if (!mail && !isShown) return undefined
  return {
    isOnPage: isShown ? 1 : 0,
    ...(mail
      ? mailed(mail, { now, times: settings ?? DEFAULT_TIMES, gather: settingsOfMail?.gather })
      : { mail, mailAt: null }),
  }
}

/** Which mail is to be written, and when. */
function mailed(
  mail: 'now' | 'digest',
  { now, times, gather = GATHER }: { now: Date; times: DigestTime & QuietHours; gather: number | undefined },
): { mail: MailWay; mailAt: string } {
  const time = mail === 'now' ? new Date(now.getTime() + gather * 1000) : nextDigest(times, now)
  const end = endOfQuiet(times, time)
  return { mail: end && mail === 'now' ? 'quiet' : mail, mailAt: (end ?? time).toISOString() }
}

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
