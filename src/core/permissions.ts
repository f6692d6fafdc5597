/** The 36 permissions of the contract (section 3), as `type:action[:scope]`. */
export const CONTRACT_PERMISSIONS = [
  'post:create',
  'post:read',
  'post:update',
  'post:destroy',
  'board:create',
  'board:read',
  'board:update',
  'board:destroy',
  'board:assign',
  'board:unassign',
  'vote:create',
  'vote:destroy',
  'vote:assign',
  'vote:unassign',
  'roadmap:create',
  'roadmap:read',
  'roadmap:update',
  'roadmap:destroy',
  'roadmap:assign',
  'roadmap:unassign',
  'comment:create',
  'comment:create_internal',
  'comment:view_internal',
  'comment:update:own',
  'comment:update:any',
  'comment:delete:own',
  'comment:delete:any',
  'dashboard:read',
  'role:create',
  'role:read',
  'role:update',
  'role:destroy',
  'role:assign',
  'role:unassign',
  'settings:read',
  'settings:update',
] as const

/** Those that the contract does not have: there, what they permit is for the owner alone. */
const OWN_PERMISSIONS = ['user:read', 'user:invite', 'user:block', 'event:read'] as const

export const PERMISSIONS = [...CONTRACT_PERMISSIONS, ...OWN_PERMISSIONS] as const

export type Permission = (typeof PERMISSIONS)[number]

/** Who has it is of the team: their names have a mark, and everybody can mention them. */
export const TEAM = 'dashboard:read' satisfies Permission

/** Those that the contract has and nothing here asks for. */
export const UNUSED_PERMISSIONS: readonly Permission[] = [
  'post:read',
  'board:assign',
  'board:unassign',
  'roadmap:assign',
  'roadmap:unassign',
]

/** Whether it permits to write what others see: posts, comments and votes. */
export const isForContent = (permission: Permission): boolean =>
  /^(post|vote|comment):/.test(permission) && !['post:read', 'comment:view_internal'].includes(permission)

/** The permissions of the system role `@everyone`. */
export const EVERYONE: readonly Permission[] = [
  'post:create',
  'vote:create',
  'vote:destroy',
  'comment:create',
  'comment:update:own',
  'comment:delete:own',
]
