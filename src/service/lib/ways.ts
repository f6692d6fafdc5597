import { endOfQuiet, nextDigest } from '../../core/digesttimes.js'
import { topicOf, type NotificationKind } from '../../core/notificationkinds.js'
import {
  DEFAULT_TIMES,
  effectiveWays,
  isOnPage,
  mailOf,
  type DigestTime,
  type MailWay,
  type QuietHours,
} from '../../core/notificationways.js'
import type { MailSettings } from '../../mail/transport.js'
import type { Receiver } from '../../db/notificationsettings.js'

/** Seconds. What happens to one post meanwhile is one mail. */
const GATHER = 5 * 60

/** How a person is told. Columns of `notifications`. */
export interface NotificationDelivery {
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
): NotificationDelivery | undefined {
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
