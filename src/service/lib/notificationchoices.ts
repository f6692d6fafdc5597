import * as Type from 'typebox'
import { invalidField } from '../../core/fields.js'
import { KINDS, topicOf } from '../../core/notificationkinds.js'
import {
  chosenWays,
  DEFAULT_TIMES,
  DIGESTS,
  effectiveWays,
  isTimeZone,
  NOTIFICATION_TOPICS,
  NOTIFICATION_WAYS,
  TEAM_TOPICS,
  WAYS_OR_DEFAULT,
  waysIn,
  WEEKDAYS,
  type NotificationTopic,
} from '../../core/notificationways.js'
import { quoted } from '../../core/text.js'
import { movePendingMails } from '../../db/notifications.js'
import { findNotificationSettings, putNotificationSettings, receiversAmong } from '../../db/notificationsettings.js'
import { readSettings } from '../../db/settings.js'
import type { Db, NotificationSettingsRow } from '../../db/tables.js'
import { findActor } from '../../db/users.js'
import { notAllowed } from './access.js'
import type { Change } from './change.js'
import { oneOf } from './schemas.js'
import { toldHow } from './ways.js'

/** What each topic is about. */
export const TOPIC_WORDS: Readonly<Record<NotificationTopic, string>> = {
  status: 'New statuses of followed posts, and updates of the team about them',
  answer: 'Comments that are marked as the answer',
  reply: 'Replies to what a person wrote',
  mention: 'Mentions of a person',
  post: 'New posts on boards that a person follows',
  report: 'Reports; for the team',
}

const waysOf = (topic: NotificationTopic) => oneOf(NOTIFICATION_WAYS, { description: TOPIC_WORDS[topic] })
const choiceOf = (topic: NotificationTopic) =>
  Type.Optional(oneOf(WAYS_OR_DEFAULT, { description: `${TOPIC_WORDS[topic]}; default: as the site does` }))

/** The ways of all topics. */
export const Ways = Type.Object({
  status: waysOf('status'),
  answer: waysOf('answer'),
  reply: waysOf('reply'),
  mention: waysOf('mention'),
  post: waysOf('post'),
  report: waysOf('report'),
})

const { report, ...ofAll } = Ways.properties
const FOLLOWS = {
  followsAuthored: 'Whether you follow the posts that you write',
  followsVoted: 'Whether you follow the posts that you vote for',
  followsCommented: 'Whether you follow the posts that you comment on',
  followsMentioned: 'Whether you follow the posts in which somebody mentions you',
  followsEverything: 'Whether you follow all boards; for the team',
} as const

const hour = ({ description }: { description: string }) =>
  Type.Integer({ minimum: 0, maximum: 23, fromText: true, description })

/** What a person chose, and what holds where they did not. */
export const Choices = Type.Object({
  ...ofAll,
  report: Type.Optional(report),
  defaults: Type.Array(oneOf(NOTIFICATION_TOPICS), {
    description: 'The topics for which you chose nothing: they are as the site has them',
  }),
  site: Type.Object(
    { ...ofAll, report: Type.Optional(report) },
    { description: 'The ways of the site, which hold where you choose nothing' },
  ),
  digest: oneOf(DIGESTS),
  weekday: oneOf(WEEKDAYS, { description: 'When weekly digests leave' }),
  hour: Type.Integer({ description: 'The hour at which digests leave, in timeZone' }),
  timeZone: Type.String(),
  quietFrom: hour({ description: 'When quiet hours begin: until they end no mail is written to you' }),
  quietUntil: hour({ description: 'When quiet hours end; the same as quietFrom: there are none' }),
  followsAuthored: Type.Boolean({ description: FOLLOWS.followsAuthored }),
  followsVoted: Type.Boolean({ description: FOLLOWS.followsVoted }),
  followsCommented: Type.Boolean({ description: FOLLOWS.followsCommented }),
  followsMentioned: Type.Boolean({ description: FOLLOWS.followsMentioned }),
  followsEverything: Type.Optional(Type.Boolean({ description: FOLLOWS.followsEverything })),
})
export type Choices = Type.Static<typeof Choices>

/** The fields of an operation that changes them. */
export const choiceFields = {
  status: choiceOf('status'),
  answer: choiceOf('answer'),
  reply: choiceOf('reply'),
  mention: choiceOf('mention'),
  post: choiceOf('post'),
  report: choiceOf('report'),
  digest: Type.Optional(oneOf(DIGESTS, { description: 'How often digests leave' })),
  weekday: Type.Optional(oneOf(WEEKDAYS, { description: 'Day of weekly digests' })),
  hour: Type.Optional(hour({ description: 'Hour of digests, in your time zone' })),
  timeZone: Type.Optional(
    Type.String({ maxLength: 100, trim: true, plain: true, description: 'Your time zone, such as Europe/Berlin' }),
  ),
  quietFrom: Type.Optional(hour({ description: 'Hour from which you are not mailed, in your time zone' })),
  quietUntil: Type.Optional(
    hour({ description: 'Hour from which you are mailed again; the same as quietFrom: always' }),
  ),
  followsAuthored: Type.Optional(Type.Boolean({ description: FOLLOWS.followsAuthored })),
  followsVoted: Type.Optional(Type.Boolean({ description: FOLLOWS.followsVoted })),
  followsCommented: Type.Optional(Type.Boolean({ description: FOLLOWS.followsCommented })),
  followsMentioned: Type.Optional(Type.Boolean({ description: FOLLOWS.followsMentioned })),
  followsEverything: Type.Optional(Type.Boolean({ description: FOLLOWS.followsEverything })),
}
const given = Type.Object(choiceFields)
type Given = Type.Static<typeof given>

/** Whether a person may be told of reports, and follow all boards: they themselves, whoever asks. */
export async function isOfTeam(db: Db, userId: string): Promise<boolean> {
  const person = await findActor(db, userId)
  return person !== undefined && (person.isOwner === 1 || person.permissions.includes('dashboard:read'))
}

/** Only the team is told of reports, and follows all boards. */
export function assertOwnTopics(input: Given, isTeam: boolean): void {
  const isAsked = input.followsEverything === true || TEAM_TOPICS.some((topic) => input[topic] !== undefined)
  if (!isTeam && isAsked) throw notAllowed(['dashboard:read'])
}

const STORED = { ways: '{}', ...DEFAULT_TIMES, followsAuthored: 1, followsVoted: 1, followsCommented: 1, followsMentioned: 1, followsEverything: 0 } // prettier-ignore

/** Stored choices as an answer has them. `site` are the ways of the site, as stored. */
export function choicesShown(
  row: Omit<NotificationSettingsRow, 'userId' | 'mailKey'> | undefined,
  { site, isTeam }: { site: string; isTeam: boolean },
): Choices {
  const { ways, digest, weekday, hour, timeZone, quietFrom, quietUntil, ...follows } = row ?? STORED
  const shown = (topic: NotificationTopic) => isTeam || !TEAM_TOPICS.includes(topic)
  const chosen = waysIn(ways) ?? {}
  const { report: ofReports, ...others } = effectiveWays(site, ways)
  const { report: siteOfReports, ...siteOthers } = effectiveWays(site)
  return {
    ...others,
    defaults: NOTIFICATION_TOPICS.filter((topic) => shown(topic) && chosen[topic] === undefined),
    site: { ...siteOthers, ...(isTeam && { report: siteOfReports }) },
    digest,
    weekday,
    hour,
    timeZone,
    quietFrom,
    quietUntil,
    followsAuthored: follows.followsAuthored === 1,
    followsVoted: follows.followsVoted === 1,
    followsCommented: follows.followsCommented === 1,
    followsMentioned: follows.followsMentioned === 1,
    ...(isTeam && { report: ofReports, followsEverything: follows.followsEverything === 1 }),
  }
}

/** Stores what a person chose; mails that wait for them follow. The account is locked. */
export async function saveChoices(tx: Change, userId: string, input: Given): Promise<NotificationSettingsRow> {
  const { db } = tx
  const { digest, weekday, hour, timeZone, quietFrom, quietUntil } = input
  if (timeZone !== undefined && !isTimeZone(timeZone)) throw unknownTimeZone(timeZone)
  const flags = (Object.keys(FOLLOWS) as (keyof typeof FOLLOWS)[]).filter((name) => input[name] !== undefined)
  const before = await findNotificationSettings(db, userId)
  const row = await putNotificationSettings(db, userId, {
    ways: chosenWays(before?.ways ?? '{}', input),
    ...(digest !== undefined && { digest }),
    ...(weekday !== undefined && { weekday }),
    ...(hour !== undefined && { hour }),
    ...(timeZone !== undefined && { timeZone }),
    ...(quietFrom !== undefined && { quietFrom }),
    ...(quietUntil !== undefined && { quietUntil }),
    ...Object.fromEntries(flags.map((name) => [name, input[name] ? 1 : 0])),
  })
  await followChoices(tx, userId)
  tx.record('user.updated', userId)
  return row
}

/** What waits to be mailed goes the way that its receiver has by now. */
async function followChoices({ db, now, mail }: Change, userId: string): Promise<void> {
  const [receiver] = await receiversAmong(db, [userId]) // none where they are blocked
  const { notificationWays: site } = await readSettings(db)
  for (const topic of NOTIFICATION_TOPICS) {
    const kinds = KINDS.filter((kind) => topicOf(kind) === topic)
    const [kind] = kinds
    const told = receiver && kind && toldHow(receiver, kind, { site, now: now(), mail })
    await movePendingMails(db, userId, kinds, {
      isOnPage: told?.isOnPage === 1,
      mail: told?.mail ?? null,
      mailAt: told?.mailAt ?? null,
    })
  }
}

const unknownTimeZone = (value: string) =>
  invalidField({
    code: 'TIME_ZONE_UNKNOWN',
    message: `There is no time zone ${quoted(value)}. Give a name such as Europe/Berlin.`,
    field: 'timeZone',
    rule: 'the name of a time zone, such as Europe/Berlin',
    value: value.slice(0, 100),
  })
