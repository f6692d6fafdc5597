import type { Insertable, SelectQueryBuilder, Updateable } from 'kysely'
import { asStored, isId } from '../core/ids.js'
import type { Db, RoadmapRow, Tables } from './tables.js'
import { lock, visibleTotal, type Visibility } from './counters.js'
import { unlessTaken } from './dialect.js'
import { countAfter, pageOf, within, type Page, type Period } from './paging.js'

/** Which roadmaps. */
export interface RoadmapFilter extends Period {
  visibility: readonly Visibility[]
  /** How a folded name begins; undefined is any name. */
  prefix?: string | undefined
}

const filtered = (db: Db, { visibility, prefix, ...period }: RoadmapFilter) => {
  const [first, second] = new Set(visibility)
  return within(db.selectFrom('roadmaps'), 'created_at', period)
    .$if(second === undefined, (query) => query.where('display', '=', first === 'public' ? 1 : 0))
    .$if(prefix !== undefined, (query) => startingWith(query, prefix ?? ''))
}

const startingWith = <O>(query: SelectQueryBuilder<Tables, 'roadmaps', O>, prefix: string) =>
  query.where('nameFolded', '>=', prefix).where('nameFolded', '<', `${prefix}\u{10ffff}`)

const ORDER = { by: ['index', 'id'] } as const

export const listRoadmaps = (db: Db, filter: RoadmapFilter, page: Page<RoadmapRow>): Promise<RoadmapRow[]> =>
  pageOf(filtered(db, filter), ORDER, page).selectAll().execute()

export const roadmapsAfter = async (db: Db, filter: RoadmapFilter, cursor: RoadmapRow): Promise<number> =>
  (await countAfter(filtered(db, filter), ORDER, cursor).executeTakeFirstOrThrow()).count

/** How many roadmaps the filter lets through: of all from counts that the database keeps. */
export async function roadmapTotal(db: Db, filter: RoadmapFilter): Promise<number> {
  const { visibility, prefix, since, until } = filter
  if (prefix === undefined && since === undefined && until === undefined)
    return visibleTotal(db, 'roadmaps', visibility)
  const some = filtered(db, filter).select((eb) => eb.fn.countAll<number>().as('count'))
  return (await some.executeTakeFirstOrThrow()).count
}

/** By id or url. The service refuses urls that look like an id, so at most one roadmap matches. */
export const findRoadmap = (db: Db, urlOrId: string): Promise<RoadmapRow | undefined> =>
  db
    .selectFrom('roadmaps')
    .selectAll()
    .where(isId(urlOrId) ? 'id' : 'url', '=', asStored(urlOrId))
    .executeTakeFirst()

export const roadmapsWithIds = (db: Db, ids: readonly string[]): Promise<RoadmapRow[]> =>
  ids.length === 0 ? Promise.resolve([]) : db.selectFrom('roadmaps').selectAll().where('id', 'in', ids).execute()

/** Roadmaps whose folded name starts with the folded prefix, by name. */
export const searchRoadmaps = (db: Db, prefix: string, limit: number): Promise<RoadmapRow[]> =>
  startingWith(db.selectFrom('roadmaps'), prefix).selectAll().orderBy('nameFolded').orderBy('id').limit(limit).execute()

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
