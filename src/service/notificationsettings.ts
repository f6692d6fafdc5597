import * as Type from 'typebox'
import { changesOf } from '../core/details.js'
import { chosenWays, effectiveWays, NOTIFICATION_WAYS, type NotificationTopic } from '../core/notificationways.js'
import { findMailStop, findNotificationSettings } from '../db/notificationsettings.js'
import { lockSettings, readSettings, updateSettings } from '../db/settings.js'
import type { SettingsRow } from '../db/tables.js'
import { lockUser } from '../db/users.js'
import { change } from './lib/change.js'
import type { CachedContext } from './lib/context.js'
import { assertOwnTopics, choiceFields, Choices, choicesShown, isOfTeam, saveChoices, TOPIC_WORDS, Ways } from './lib/notificationchoices.js' // prettier-ignore
import { operation } from './lib/operation.js'
import { userNotFound } from './lib/people.js'
import { fields, oneOf } from './lib/schemas.js'
import { personOf, viewerOf } from './lib/sessions.js'
import { assertVersion, ifVersion, versionField, versionOf } from './lib/versions.js'

/** What a person chose, and whether mail to them has stopped. */
export const Own = Type.Object({
  ...Choices.properties,
  mailStopped: Type.Union(
    [
      Type.Object({
        reason: Type.String({ description: 'The words of the mail server' }),
        since: Type.String({ format: 'date-time' }),
      }),
      Type.Null(),
    ],
    { description: 'Why no notification is mailed to you: mails to your address came back' },
  ),
})
export type Own = Type.Static<typeof Own>

const output = Type.Object({ settings: Own })

export const settings = operation({
  id: 'notifications.settings',
  summary: 'Show how you are told of news',
  http: 'GET /notifications/settings 200',
  access: 'signed-in',
  cache: 'actor',
  errors: [],
  input: fields({}),
  output,
  async run(ctx) {
    return { settings: await ownOf(ctx, await viewerOf(ctx)) }
  },
})

export const update = operation({
  id: 'notifications.updateSettings',
  summary: 'Choose how you are told of news; what is not given stays as it is',
  http: 'PATCH /notifications/settings 200',
  access: 'signed-in',
  errors: ['USER_NOT_FOUND', 'NOT_ENOUGH_PERMISSION'],
  input: fields(choiceFields),
  output,
  async run(ctx, input) {
    const userId = await personOf(ctx)
    assertOwnTopics(input, await isOfTeam(ctx.db, userId))
    return change(ctx, async (tx) => {
      if (!(await lockUser(tx.db, userId))) throw userNotFound()
      await saveChoices(tx, userId, input)
      return { settings: await ownOf(tx, userId) }
    })
  },
})

export async function ownOf({ db }: Pick<CachedContext, 'db'>, userId: string | null): Promise<Own> {
  const row = userId === null ? undefined : await findNotificationSettings(db, userId)
  const stop = userId === null ? undefined : await findMailStop(db, userId)
  const { notificationWays: site } = await readSettings(db)
  const { report, followsEverything, ...choices } = choicesShown(row, {
    site,
    isTeam: userId === null || (await isOfTeam(db, userId)),
  })
  return {
    ...choices,
    mailStopped: stop ? { reason: stop.reason, since: stop.suppressedAt } : null,
    ...(report && { report }),
    ...(followsEverything !== undefined && { followsEverything }),
  }
}

const ofSite = Type.Object({ ways: Ways, version: versionField })

export const site = operation({
  id: 'settings.notifications',
  summary: 'Show how people are told of news who did not choose',
  http: 'GET /settings/notifications 200',
  access: 'settings:read',
  errors: [],
  input: fields({}),
  output: ofSite,
  async run({ db }) {
    return siteShown(await readSettings(db))
  },
})

const wanted = (topic: NotificationTopic) =>
  Type.Optional(oneOf(NOTIFICATION_WAYS, { description: TOPIC_WORDS[topic] }))

export const updateSite = operation({
  id: 'settings.updateNotifications',
  summary: 'Choose how people are told of news who did not choose; what is not given stays as it is',
  http: 'PATCH /settings/notifications 200',
  access: 'settings:update',
  errors: ['CONTENT_CHANGED'],
  input: fields({
    status: wanted('status'),
    answer: wanted('answer'),
    reply: wanted('reply'),
    mention: wanted('mention'),
    post: wanted('post'),
    report: wanted('report'),
    ifVersion,
  }),
  output: ofSite,
  run: (ctx, { ifVersion: seen, ...input }) =>
    change(ctx, async ({ db, record }) => {
      const before = await lockSettings(db)
      assertVersion(seen, [before.notificationWays])
      const row = await updateSettings(db, { notificationWays: chosenWays(before.notificationWays, input) })
      record('site.updated', 'site', row.title, undefined, changesOf('site', before, row))
      return siteShown(row)
    }),
})

const siteShown = ({ notificationWays }: SettingsRow): Type.Static<typeof ofSite> => ({
  ways: effectiveWays(notificationWays),
  version: versionOf([notificationWays]),
})
