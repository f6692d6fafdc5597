import { sql, type Insertable, type Updateable } from 'kysely'
import { asStored, isId } from '../core/ids.js'
import type { StatusKind } from '../core/statuskinds.js'
import { isPostgres, unlessTaken } from './dialect.js'
import type { Sort } from './posts/order.js'
import { referringTo } from './references.js'
import type { Db, Tables, ViewRow } from './tables.js'

/** The filter of a view as it is stored: ids, and null for posts without a board or roadmap. */
export interface StoredFilter {
  sort?: Sort
  boards?: (string | null)[]
  roadmaps?: (string | null)[]
  statusKind?: StatusKind[]
  tags?: string[]
  allTags?: string[]
  withoutTags?: string[]
  author?: string
  since?: string
  until?: string
  waiting?: number
  pinned?: true
  spam?: true
  withoutSpam?: true
  mine?: true
  voted?: true
  following?: true
  query?: string
}

/** A view and the user name of its author; null after the account is deleted. */
export type NamedView = ViewRow & { username: string | null }

const named = (db: Db) =>
  db.selectFrom('views').leftJoin('users', 'users.userId', 'views.userId').selectAll('views').select('users.username')

const own = (db: Db, userId: string) => named(db).where('views.userId', '=', userId)
/** A constant, without which SQLite does not take the index of the shared ones. */
const IS_SHARED = sql.lit(1)
const shared = (db: Db) => named(db).where('views.isShared', '=', IS_SHARED)

/** Those of a person, and those that are shared, each by name. */
export async function listViews(db: Db, userId: string): Promise<NamedView[]> {
  const [ofPerson, ofAll] = [
    await own(db, userId).orderBy('views.nameFolded').execute(),
    await shared(db).orderBy('views.nameFolded').execute(),
  ]
  return [...ofPerson, ...ofAll.filter((view) => view.userId !== userId)]
}

/** By id or name: a person's own, or one that is shared. Of two with the name it is their own. */
export async function findView(
  db: Db,
  userId: string,
  given: { idOrName: string; folded: string },
): Promise<NamedView | undefined> {
  if (isId(given.idOrName)) {
    const view = await named(db).where('viewId', '=', asStored(given.idOrName)).executeTakeFirst()
    return view && (view.userId === userId || view.isShared === 1) ? view : undefined
  }
  return (
    (await own(db, userId).where('views.nameFolded', '=', given.folded).executeTakeFirst()) ??
    (await shared(db).where('views.nameFolded', '=', given.folded).executeTakeFirst())
  )
}

/** How many views a person has, and how many are shared by all. */
export async function countViews(db: Db, userId: string): Promise<{ own: number; shared: number }> {
  const count = db.selectFrom('views').select((eb) => eb.fn.countAll<number>().as('count'))
  const [{ count: ofPerson }, { count: ofAll }] = [
    await count.where('userId', '=', userId).executeTakeFirstOrThrow(),
    await count.where('isShared', '=', IS_SHARED).executeTakeFirstOrThrow(),
  ]
  return { own: ofPerson, shared: ofAll }
}

/** Returns 'taken' where the person has a view with the name, or where both are shared. */
export const insertView = (db: Db, view: Insertable<Tables['views']>): Promise<'taken' | undefined> =>
  referringTo({ users: view.userId }, () =>
    unlessTaken(db, async () => {
      await db.insertInto('views').values(view).execute()
      return undefined
    }),
  )

/** Locks the row until the transaction ends. */
export const lockView = (db: Db, viewId: string): Promise<ViewRow | undefined> =>
  db
    .selectFrom('views')
    .selectAll()
    .where('viewId', '=', viewId)
    .$if(isPostgres(db), (query) => query.forUpdate())
    .executeTakeFirst()

/** Returns undefined where the view does not exist any more. */
export const updateView = (
  db: Db,
  viewId: string,
  change: Updateable<Tables['views']>,
): Promise<ViewRow | 'taken' | undefined> =>
  unlessTaken(db, () =>
    db.updateTable('views').set(change).where('viewId', '=', viewId).returningAll().executeTakeFirst(),
  )

export async function deleteView(db: Db, viewId: string): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('views').where('viewId', '=', viewId).executeTakeFirst()
  return numDeletedRows > 0n
}
