import type { Insertable, Updateable } from 'kysely'
import { asStored, isId } from '../core/ids.js'
import type { Db, RoadmapRow, Tables } from './tables.js'
import { lock, type Visibility } from './counters.js'
import { unlessTaken } from './dialect.js'
import { countAfter, pageOf, type Page } from './paging.js'

const filtered = (db: Db, visibility: readonly Visibility[]) => {
  const [only, other] = new Set(visibility)
  return db
    .selectFrom('roadmaps')
    .$if(other === undefined, (query) => query.where('display', '=', only === 'public' ? 1 : 0))
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

/** Roadmaps whose folded name starts with a folded prefix, by name. */
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

/** All roadmaps in order. Locks the order: other transactions wait before they add, delete or move one. */
export async function lockRoadmapOrder(db: Db): Promise<RoadmapRow[]> {
  await lock(db, 'roadmaps')
  return db.selectFrom('roadmaps').selectAll().orderBy('index').orderBy('id').execute()
}

/** Writes the indexes that changed. */
export async function placeRoadmaps(
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

/** Returns undefined when another roadmap has the url. */
export const insertRoadmap = (db: Db, roadmap: Insertable<Tables['roadmaps']>): Promise<RoadmapRow | undefined> =>
  db
    .insertInto('roadmaps')
    .values(roadmap)
    .onConflict((conflict) => conflict.column('url').doNothing())
    .returningAll()
    .executeTakeFirst()

/** Returns 'taken' when another roadmap has the url, and undefined when the roadmap does not exist any more. */
export const updateRoadmap = (
  db: Db,
  id: string,
  change: Updateable<Tables['roadmaps']>,
): Promise<RoadmapRow | 'taken' | undefined> =>
  unlessTaken(db, () => db.updateTable('roadmaps').set(change).where('id', '=', id).returningAll().executeTakeFirst())

export const deleteRoadmap = (db: Db, id: string): Promise<RoadmapRow | undefined> =>
  db.deleteFrom('roadmaps').where('id', '=', id).returningAll().executeTakeFirst()
