/** What a person chooses ways for. The last one is for the team. */
export const NOTIFICATION_TOPICS = ['status', 'answer', 'reply', 'mention', 'post', 'report'] as const
export type NotificationTopic = (typeof NOTIFICATION_TOPICS)[number]

/** Those for the team. */
export const TEAM_TOPICS: readonly NotificationTopic[] = ['report']

/** How a person is told: on their page of notifications, by a mail soon, in the next digest, or in two of these ways. */
export const NOTIFICATION_WAYS = ['page,mail', 'page,digest', 'page', 'mail', 'digest', 'none'] as const
export type NotificationWays = (typeof NOTIFICATION_WAYS)[number]

/** What a person chooses for a topic: ways, or with `default` whatever the site has. */
export const WAYS_OR_DEFAULT = ['default', ...NOTIFICATION_WAYS] as const

/** The ways for each topic. */
export type WaysByTopic = Record<NotificationTopic, NotificationWays>

/** What holds where neither the person nor the site has chosen. */
const DEFAULT_WAYS: Readonly<WaysByTopic> = {
  status: 'page,mail',
  answer: 'page,mail',
  reply: 'page,mail',
  mention: 'page,mail',
  post: 'page,digest',
  report: 'page,digest',
}

export const isOnPage = (ways: NotificationWays): boolean => ways.startsWith('page')

/** Null: no mail. */
export function mailOf(ways: NotificationWays): 'now' | 'digest' | null {
  if (ways.endsWith('mail')) return 'now'
  return ways.endsWith('digest') ? 'digest' : null
}

/** The same ways without mails and digests. */
export const withoutMail = (ways: NotificationWays): NotificationWays => (isOnPage(ways) ? 'page' : 'none')

const isWays = (value: unknown): value is NotificationWays => NOTIFICATION_WAYS.some((each) => each === value)

/** Stored choices: a JSON object with some topics. Undefined for any other text. */
export function waysIn(json: string): Partial<WaysByTopic> | undefined {
  try {
    const value: unknown = JSON.parse(json)
    if (typeof value !== 'object' || value === null) return undefined
    const known = Object.entries(value).filter(([topic]) => NOTIFICATION_TOPICS.some((each) => each === topic))
    return known.every(([, ways]) => isWays(ways)) ? Object.fromEntries(known) : undefined
  } catch {
    return undefined
  }
}

/** Stored choices after a change of some. */
export function chosenWays(
  json: string,
  given: Partial<Record<NotificationTopic, NotificationWays | 'default'>>,
): string {
  const ways = { ...waysIn(json) }
  for (const topic of NOTIFICATION_TOPICS) {
    const wanted = given[topic]
    if (wanted === 'default') delete ways[topic]
    else if (wanted !== undefined) ways[topic] = wanted
  }
  return JSON.stringify(ways)
}

/** The ways that hold: those of the person, then those of the site, then ours. Both are stored choices. */
export const effectiveWays = (site: string, person = '{}'): WaysByTopic => ({
  ...DEFAULT_WAYS,
  ...waysIn(site),
  ...waysIn(person),
})

export const DIGESTS = ['daily', 'weekly'] as const
export const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const

/** Which mail tells a person of something: one soon, one after their quiet hours, or the next digest. */
export const MAIL_WAYS = ['now', 'quiet', 'digest'] as const
export type MailWay = (typeof MAIL_WAYS)[number]

/** In which hours a person is not mailed: from one up to another, in `timeZone`. The same hour twice: in none. */
export interface QuietHours {
  quietFrom: number
  quietUntil: number
  timeZone: string
}

/** When the digests of a person leave. */
export interface DigestTime {
  digest: (typeof DIGESTS)[number]
  /** For weekly digests. */
  weekday: (typeof WEEKDAYS)[number]
  /** 0 to 23, in `timeZone`. */
  hour: number
  /** A name of the IANA database. */
  timeZone: string
}

export const DEFAULT_DIGEST: Readonly<DigestTime> = { digest: 'daily', weekday: 'monday', hour: 8, timeZone: 'UTC' }

/** When a person is mailed who chose nothing. */
export const DEFAULT_TIMES: Readonly<DigestTime & QuietHours> = { ...DEFAULT_DIGEST, quietFrom: 0, quietUntil: 0 }

/** Whether this program knows a time zone. */
export function isTimeZone(name: string): boolean {
  try {
    // An offset such as +02:00 is not a zone: it has no summer time
    return /^[A-Za-z]/.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions() !== undefined
  } catch {
    return false
  }
}
