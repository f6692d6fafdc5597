import { isId } from '../core/ids.js'
import type { Db } from './connect.js'
import type { RoadmapRow } from './tables.js'

export const findRoadmap = (db: Db, urlOrId: string): Promise<RoadmapRow | undefined> =>
  db
    .selectFrom('roadmaps')
    .selectAll()
    .where(isId(urlOrId) ? 'id' : 'url', '=', urlOrId)
    .executeTakeFirst()
