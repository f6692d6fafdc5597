import type { Insertable, Selectable, Updateable } from 'kysely'
import { compiled } from './cache/compiled.js'
import { referringTo } from './references.js'
import type { Db, NotificationSettingsRow, Tables } from './tables.js'

/** What a person chose; undefined where they never did. */
export async function findNotificationSettings(db: Db, userId: string): Promise<NotificationSettingsRow | undefined> {
  const [row] = await compiled(
    db,
    'findNotificationSettings',
    { userId },
    (given) => db.selectFrom('notification_settings').selectAll().where('userId', '=', given.userId),
    { notification_settings: [userId] },
  )
  return row
}

/** Whose mails have this key. */
export const findByMailKey = (db: Db, mailKey: string): Promise<NotificationSettingsRow | undefined> =>
  db.selectFrom('notification_settings').selectAll().where('mailKey', '=', mailKey).executeTakeFirst()

/** Stores what a person chose; what is not given stays as it is. */
export const putNotificationSettings = (
  db: Db,
  userId: string,
  choices: Omit<Updateable<Tables['notification_settings']>, 'userId' | 'mailKey'>,
): Promise<NotificationSettingsRow> =>
  referringTo({ users: userId }, () =>
    db
      .insertInto('notification_settings')
      .values({ userId, ...(choices as Omit<Insertable<Tables['notification_settings']>, 'userId'>) })
      .onConflict((conflict) => conflict.column('userId').doUpdateSet({ userId, ...choices }))
      .returningAll()
      .executeTakeFirstOrThrow(),
  )

/** Why no notification is mailed to a person, and since when; undefined where they are mailed. */
export async function findMailStop(
  db: Db,
  userId: string,
): Promise<{ reason: string; suppressedAt: string } | undefined> {
  const [row] = await compiled(
    db,
    'findMailStop',
    { userId },
    (given) =>
      db
        .selectFrom('mail_bounces')
        .select(['reason', 'suppressedAt'])
        .where('userId', '=', given.userId)
        .where('suppressedAt', 'is not', null)
        .$narrowType<{ suppressedAt: string }>(),
    { mail_bounces: [userId] },
  )
  return row
}

/** Gives a person the key of the links in their mails, unless they have one. Returns theirs. */
export async function claimMailKey(db: Db, userId: string, fresh: string): Promise<string> {
  const { mailKey } = await db
    .insertInto('notification_settings')
    .values({ userId, mailKey: fresh })
    .onConflict((conflict) =>
      conflict
        .column('userId')
        .doUpdateSet((eb) => ({ mailKey: eb.fn.coalesce('notification_settings.mailKey', 'excluded.mailKey') })),
    )
    .returning('mailKey')
    .executeTakeFirstOrThrow()
  return mailKey ?? fresh
}

export type Receiver = Selectable<Pick<Tables['users'], 'userId' | 'isVerified' | 'isOwner'>> & {
  settings: NotificationSettingsRow | undefined
  isSuppressed: boolean
}

/** What decides in which ways some people are told. Those who are blocked are left out. */
export async function receiversAmong(db: Db, userIds: readonly string[]): Promise<Receiver[]> {
  if (userIds.length === 0) return []
  const people = await db
    .selectFrom('users')
    .leftJoin('mail_bounces', 'mail_bounces.userId', 'users.userId')
    .select(['users.userId', 'users.isVerified', 'users.isOwner', 'mail_bounces.suppressedAt'])
    .where('users.userId', 'in', userIds)
    .where('users.isBlocked', '=', 0)
    .execute()
  const rows = await db.selectFrom('notification_settings').selectAll().where('userId', 'in', userIds).execute()
  const settings = new Map(rows.map((row) => [row.userId, row]))
  return people.map(({ suppressedAt, ...person }) => ({
    ...person,
    settings: settings.get(person.userId),
    isSuppressed: suppressedAt !== null,
  }))
}
