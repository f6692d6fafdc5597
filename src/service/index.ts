import * as accounts from './accounts.js'
import * as auth from './auth.js'
import * as boards from './boards.js'
import * as domains from './domains.js'
import type { AnyOperation } from './operation.js'
import * as profile from './profile.js'
import * as settings from './settings.js'
import * as site from './site.js'
import * as users from './users.js'

/** The registry: every operation, in the order of the documentation. */
export const operations = [
  site.status,
  site.setup,
  auth.login,
  auth.signup,
  accounts.verify,
  accounts.validate,
  accounts.resetPassword,
  accounts.validateToken,
  accounts.setPassword,
  profile.profile,
  profile.updateProfile,
  profile.permissions,
  profile.dashboard,
  users.list,
  users.show,
  users.create,
  users.update,
  users.block,
  users.unblock,
  users.signOut,
  users.remove,
  boards.list,
  boards.search,
  boards.show,
  boards.create,
  boards.update,
  boards.remove,
  boards.checkSlug,
  settings.site,
  domains.blockedDomains,
  domains.blockDomains,
] as unknown as readonly AnyOperation[] // each has its own types; an interpreter knows them only by their schemas
