import type { Insertable, Updateable } from 'kysely'
import { asStored, isId } from '../core/ids.js'
import type { Db, RoadmapRow, Tables } from './tables.js'
import { lock, type Visibility } from './counters.js'
import { unlessTaken } from './dialect.js'
import { countAfter, pageOf, type Page } from './paging.js'

const filtered = (db: Db, visibility: readonly Visibility[]) => {
  const [first, second] = new Set(visibility)
  return db
    .selectFrom('roadmaps')
    .$if(second === undefined, (query) => query.where('display', '=', first === 'public' ? 1 : 0))
}

const ORDER = { by: ['index', 'id'] } as const

export const listRoadmaps = (
  db: Db,
  visibility: readonly Visibility[],
  page: Page<RoadmapRow>,
): Promise<RoadmapRow[]> => pageOf(filtered(db, visibility), ORDER, page).selectAll().execute()

export const roadmapsAfter = async (db: Db, visibility: readonly Visibility[], cursor: RoadmapRow): Promise<number> =>
  (await countAfter(filtered(db, visibility), ORDER, cursor).executeTakeFirstOrThrow()).count

/** By id or url. The service refuses urls that look like an id, so at most one roadmap matches. */
export const findRoadmap = (db: Db, urlOrId: string): Promise<RoadmapRow | undefined> =>
  db
    .selectFrom('roadmaps')
    .selectAll()
    .where(isId(urlOrId) ? 'id' : 'url', '=', asStored(urlOrId))
    .executeTakeFirst()

/** Roadmaps whose folded name starts with the folded prefix, by name. */
export const searchRoadmaps = (db: Db, prefix: string, limit: number): Promise<RoadmapRow[]> =>
  db
    .selectFrom('roadmaps')
    .selectAll()
    .where('nameFolded', '>=', prefix)
    .where('nameFolded', '<', `${prefix}\u{10ffff}`)
    .orderBy('nameFolded')
    .orderBy('id')
    .limit(limit)
    .execute()

/** Returns all roadmaps in order. Until this transaction ends, no other can add, delete or move one. */
export async function lockRoadmapOrder(db: Db): Promise<RoadmapRow[]> {
  await lock(db, 'roadmaps')
  return db.selectFrom('roadmaps').selectAll().orderBy('index').orderBy('id').execute()
}

/** Updates the roadmaps whose index has changed. */
export async function updateRoadmapIndexes(
  db: Db,
  rows: readonly RoadmapRow[],
  indexes: ReadonlyMap<string, number>,
  updatedAt: string,
): Promise<void> {
  for (const { id, index } of rows) {
    const changed = indexes.get(id) ?? index
    if (changed !== index)
      await db.updateTable('roadmaps').set({ index: changed, updated_at: updatedAt }).where('id', '=', id).execute()
  }
}

/** Returns undefined if another roadmap has the url. */
export const insertRoadmap = (db: Db, roadmap: Insertable<Tables['roadmaps']>): Promise<RoadmapRow | undefined> =>
  db
    .insertInto('roadmaps')
    .values(roadmap)
    .onConflict((conflict) => conflict.column('url').doNothing())
    .returningAll()
    .executeTakeFirst()

/** Returns 'taken' if another roadmap has the url, and undefined if the roadmap has been deleted. */
export const updateRoadmap = (
  db: Db,
  id: string,
  change: Updateable<Tables['roadmaps']>,
): Promise<RoadmapRow | 'taken' | undefined> =>
  unlessTaken(db, () => db.updateTable('roadmaps').set(change).where('id', '=', id).returningAll().executeTakeFirst())

export const deleteRoadmap = (db: Db, id: string): Promise<RoadmapRow | undefined> =>
  db.deleteFrom('roadmaps').where('id', '=', id).returningAll().executeTakeFirst()
