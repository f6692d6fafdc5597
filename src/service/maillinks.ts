import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { effectiveWays, NOTIFICATION_TOPICS, withoutMail } from '../core/notificationways.js'
import { cancelWaitingOf } from '../db/deliveries.js'
import { isFollower, putFollow } from '../db/follows.js'
import { findByMailKey } from '../db/notificationsettings.js'
import type { PostView } from '../db/posts/row.js'
import { readSettings } from '../db/settings.js'
import type { NotificationSettingsRow, UserRow } from '../db/tables.js'
import { findUser, lockUser } from '../db/users.js'
import { mail } from '../delivery/mail.js'
import { momentOf } from '../delivery/queue.js'
import { change, type Change } from './lib/change.js'
import type { Context } from './lib/context.js'
import {
  assertOwnTopics,
  choiceFields,
  Choices,
  choicesShown,
  isOfTeam,
  saveChoices,
} from './lib/notificationchoices.js'
import { operation } from './lib/operation.js'
import { domainOf } from './lib/emails.js'
import { fields, nullable } from './lib/schemas.js'
import { postNotFound, standingPost } from './lib/whichpost.js'

/*
 * What the links of mails lead to. Their token, the mail key of a person, stands for the choices of one person about notifications, and for nothing
 * else of theirs: it signs nobody in.
 */

const token = Type.String({ maxLength: 200, secret: true, description: 'What the link of a mail has as its token' })
const post = Type.String({ maxLength: 300, description: 'Number, slug or id of the post', names: 'post' })

const Linked = Type.Object({
  email: Type.String({ description: 'The address that the mails go to, without most of its part before the @' }),
  settings: Choices,
  post: Type.Union(
    [
      Type.Object({
        number: Type.Integer(),
        title: nullable('string', { description: 'null: not everybody may read the post' }),
      }),
      Type.Null(),
    ],
    { description: 'The post that the mail was about, if the person follows it' },
  ),
})

export const settingsByKey = operation({
  id: 'notifications.settingsByKey',
  summary: 'Show the choices that the link of a mail leads to, without signing in',
  http: 'GET /notifications/mail 200',
  access: 'public',
  sensitive: true,
  errors: ['MAIL_KEY_NOT_FOUND'],
  input: fields({ token, post: Type.Optional(post) }),
  output: Linked,
  subject: (ctx, { token: given }) => personOfKey(ctx, given),
  run: (ctx, { post: about }, person) => shown(ctx, person, about),
})

export const updateByKey = operation({
  id: 'notifications.updateByKey',
  summary: 'Change these choices, without signing in; what is not given stays as it is',
  http: 'PATCH /notifications/mail 200',
  access: 'public',
  sensitive: true,
  errors: ['MAIL_KEY_NOT_FOUND', 'NOT_ENOUGH_PERMISSION'],
  input: fields({ token, ...choiceFields }),
  output: Linked,
  subject: (ctx, { token: given }) => personOfKey(ctx, given),
  run: (ctx, { token: given, ...input }) =>
    withPerson(ctx, given, async (tx, { user }) => {
      assertOwnTopics(input, await isOfTeam(tx.db, user.userId))
      return shown(tx, { user, settings: await saveChoices(tx, user.userId, input) })
    }),
})

export const stopMail = operation({
  id: 'notifications.stopMail',
  summary: 'Stop all mails about notifications, without signing in; the notifications page stays as it is',
  http: 'POST /notifications/mail/stop 200',
  access: 'public',
  sensitive: true,
  errors: ['MAIL_KEY_NOT_FOUND'],
  input: fields({ token }),
  output: Linked,
  subject: (ctx, { token: given }) => personOfKey(ctx, given),
  run: (ctx, { token: given }) =>
    withPerson(ctx, given, async (tx, { user, settings }) => {
      // They may wait for long, for a mail server that does not respond
      await cancelWaitingOf(tx.db, user.email, momentOf(mail, tx.now()))
      const ways = effectiveWays((await readSettings(tx.db)).notificationWays, settings.ways)
      const without = Object.fromEntries(NOTIFICATION_TOPICS.map((topic) => [topic, withoutMail(ways[topic])]))
      return shown(tx, { user, settings: await saveChoices(tx, user.userId, without) })
    }),
})

export const unfollowByKey = operation({
  id: 'notifications.unfollowByKey',
  summary: 'Stop following the post that a mail was about, without signing in',
  http: 'POST /notifications/mail/unfollow 200',
  access: 'public',
  errors: ['MAIL_KEY_NOT_FOUND', 'POST_NOT_FOUND'],
  input: fields({ token, post }),
  output: Type.Object({ following: Type.Boolean() }),
  subject: (ctx, { token: given }) => personOfKey(ctx, given),
  run: (ctx, { token: given, post: about }) =>
    withPerson(ctx, given, async (tx, { user: { userId } }) => {
      const { post: found } = await standingPost(tx.db, about)
      // Whoever has the link learns nothing of other posts
      if (!found || !(isPublic(found) || (await isFollower(tx.db, { postId: found.postId, userId }))))
        throw postNotFound(about)
      await putFollow(tx.db, { postId: found.postId, userId, isFollowing: false, at: tx.now().toISOString() })
      tx.record('post.unfollowed', found.postId, undefined, userId)
      return { following: false }
    }),
})

interface Person {
  user: UserRow
  settings: NotificationSettingsRow
}

/** Also of a blocked account: anybody may end the mails that they get. */
async function personOfKey({ db }: Pick<Context, 'db'>, given: unknown): Promise<Person> {
  const settings = typeof given === 'string' ? await findByMailKey(db, given) : undefined
  const user = settings && (await findUser(db, settings.userId))
  if (!settings || !user)
    throw new AppError(
      'MAIL_KEY_NOT_FOUND',
      'This link is not known. Open the one of the newest mail, or sign in and choose in your settings.',
    )
  return { user, settings }
}

/** Changes something of whom a key stands for. The account is locked. */
const withPerson = <T>(ctx: Context, given: string, work: (tx: Change, person: Person) => Promise<T>): Promise<T> =>
  change(ctx, async (tx) => {
    const { user } = await personOfKey(tx, given)
    await lockUser(tx.db, user.userId)
    return work(tx, await personOfKey(tx, given)) // it may have changed meanwhile
  })

const isPublic = ({ display }: PostView): boolean => display === 1

async function shown(
  ctx: Pick<Context, 'db'>,
  { user, settings }: Person,
  about?: string,
): Promise<Type.Static<typeof Linked>> {
  const { db } = ctx
  const { post: found } = about === undefined ? {} : await standingPost(db, about)
  const isFollowed = found && (await isFollower(db, { postId: found.postId, userId: user.userId }))
  const { notificationWays: site } = await readSettings(db)
  return {
    email: masked(user.email),
    settings: choicesShown(settings, { site, isTeam: await isOfTeam(db, user.userId) }),
    post: found && isFollowed ? { number: found.number, title: isPublic(found) ? found.title : null } : null,
  }
}

/** `a***@example.org`: whoever has the address knows which of theirs it is. */
const masked = (email: string): string => `${[...email][0]}***@${domainOf(email)}`
