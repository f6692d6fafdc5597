import { sql } from 'kysely'
import { pageOf, within, type Page, type Period, type Sorting } from './paging.js'
import type { Db } from './tables.js'

const personOf = (db: Db, address: string) => db.selectFrom('users').select('userId').where('email', '=', address)

/**
 * Records that the mail server refused an address. From the given number of times on, no notification is mailed there, and
 * those that wait are cancelled: the page tells what they were to tell alone. Does nothing where no account has the
 * address.
 */
export async function recordBounce(
  db: Db,
  { address, reason, at, most }: { address: string; reason: string; at: string; most: number },
): Promise<void> {
  const person = await personOf(db, address).executeTakeFirst()
  if (!person) return
  const { suppressedAt } = await db
    .insertInto('mail_bounces')
    .values({ userId: person.userId, bounces: 1, reason, bouncedAt: at, suppressedAt: most <= 1 ? at : null })
    .onConflict((conflict) =>
      conflict.column('userId').doUpdateSet((eb) => ({
        bounces: eb('mail_bounces.bounces', '+', 1),
        reason,
        bouncedAt: at,
        suppressedAt: sql<
          string | null
        >`case when ${eb('mail_bounces.bounces', '+', 1)} >= ${sql.lit(most)} then coalesce(${eb.ref('mail_bounces.suppressedAt')}, ${at}) end`,
      })),
    )
    .returning('suppressedAt')
    .executeTakeFirstOrThrow()
  if (suppressedAt === null) return
  const waiting = db
    .selectFrom('deliveries')
    .select('createdAt')
    .where('kind', '=', 'mail')
    .where('recipient', '=', address)
    .where('priority', '>', 0)
    .where('dueAt', 'is not', null)
  await db
    .updateTable('notifications')
    .set({ isOnPage: 1 })
    .where('userId', '=', person.userId)
    .where('isOnPage', '=', 0)
    .where('mailedAt', 'in', waiting)
    .execute()
  await db
    .updateTable('deliveries')
    .set({ cancelledAt: at, dueAt: null, lease: null, leasedUntil: null, text: '', html: '', headers: null })
    .where('kind', '=', 'mail')
    .where('recipient', '=', address)
    .where('priority', '>', 0)
    .where('dueAt', 'is not', null)
    .execute()
}

/** Forgets the refusals of an address, as the mail server accepted a mail to it. Only reads where there were none. */
export async function clearBounces(db: Db, address: string): Promise<void> {
  const row = await db
    .selectFrom('mail_bounces')
    .innerJoin('users', 'users.userId', 'mail_bounces.userId')
    .select('mail_bounces.userId')
    .where('users.email', '=', address)
    .executeTakeFirst()
  if (row) await deleteBounces(db, row.userId)
}

/** Returns whether the person had any. */
export async function deleteBounces(db: Db, userId: string): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('mail_bounces').where('userId', '=', userId).executeTakeFirst()
  return numDeletedRows > 0n
}

/** An address to which no notification is mailed. Times are ISO 8601. */
interface Suppressed {
  userId: string
  email: string
  bounces: number
  reason: string
  suppressedAt: string
}

const stopped = (db: Db) =>
  db
    .selectFrom('mail_bounces')
    .innerJoin('users', 'users.userId', 'mail_bounces.userId')
    .select(['users.userId', 'users.email', 'mail_bounces.bounces', 'mail_bounces.reason'])
    .select((eb) => eb.ref('mail_bounces.suppressedAt').$notNull().as('suppressedAt'))
    .where('mail_bounces.suppressedAt', 'is not', null)

const orderOf = ({ created: direction }: Sorting) =>
  ({ by: ['suppressedAt', 'userId'], direction, table: 'mail_bounces' }) as const

/** The address of a person, if mail to it has stopped, in this period. */
export const findSuppressed = (db: Db, period: Period, userId: string): Promise<Suppressed | undefined> =>
  within(stopped(db), 'mail_bounces.suppressedAt', period).where('mail_bounces.userId', '=', userId).executeTakeFirst()

export const listSuppressed = (db: Db, filter: Period & Sorting, page: Page<Suppressed>): Promise<Suppressed[]> =>
  pageOf(within(stopped(db), 'mail_bounces.suppressedAt', filter), orderOf(filter), page).execute()

export async function countSuppressed(db: Db, period: Period = {}): Promise<number> {
  const { count } = await within(db.selectFrom('mail_bounces'), 'suppressedAt', period)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('suppressedAt', 'is not', null)
    .executeTakeFirstOrThrow()
  return count
}
