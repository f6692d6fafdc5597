import * as auth from './auth.js'
import * as boards from './boards.js'
import * as events from './events.js'
import * as labs from './labs.js'
import type { AnyOperation } from './operation.js'
import * as roadmaporder from './roadmaporder.js'
import * as roadmaps from './roadmaps.js'
import * as roles from './roles.js'
import * as settings from './settings.js'
import * as site from './site.js'

/** The registry: every operation, in the order of the documentation. */
export const operations = [
  site.status,
  site.setup,
  auth.login,
  boards.list,
  boards.get,
  boards.search,
  boards.show,
  boards.create,
  boards.update,
  boards.remove,
  boards.checkSlug,
  boards.checkName,
  roadmaps.list,
  roadmaps.search,
  roadmaps.show,
  roadmaps.create,
  roadmaps.update,
  roadmaporder.sort,
  roadmaporder.move,
  roadmaps.remove,
  roles.list,
  roles.permissions,
  roles.show,
  roles.create,
  roles.update,
  roles.remove,
  roles.assign,
  roles.unassign,
  settings.site,
  settings.update,
  labs.show,
  labs.update,
  events.list,
] as unknown as readonly AnyOperation[] // each has its own types; an interpreter knows them only by their schemas
