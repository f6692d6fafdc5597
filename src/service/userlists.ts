import * as Type from 'typebox'
import type { AppError } from '../core/errors.js'
import { invalidField } from '../core/fields.js'
import { asStored, isId } from '../core/ids.js'
import { quoted, searchKey } from '../core/text.js'
import { findRoles } from '../db/roles.js'
import {
  STEADY_USER_SORTS,
  userList,
  USER_SORTS,
  USER_STATES,
  type ListedUser,
  type UserFilter,
} from '../db/userlists.js'
import { userCells } from './lib/cells.js'
import type { Context } from './lib/context.js'
import { csvOf } from './lib/csvof.js'
import { NONE } from './lib/named.js'
import { operation } from './lib/operation.js'
import { alias, pageFields, pageKeys, pageOf, type Listing } from './lib/paging.js'
import { User, usersShown } from './lib/people.js'
import { fields, listOf, oneOf, someOf } from './lib/schemas.js'
import { orderFields, periodFields, periodFrom, timeField, timeFrom } from './lib/times.js'
import { tagKey } from './lib/usertagwords.js'

const PEOPLE: Listing<ListedUser> = { row: 'user', rows: 'Users', id: 'userId', alias: true }

export const list = operation({
  id: 'users.list',
  summary: 'List users, oldest first',
  http: 'GET /users 200',
  access: 'user:read',
  inputFirst: true,
  sensitive: true,
  errors: [],
  input: fields({
    ...orderFields('asc'),
    sort: Type.Optional(
      oneOf(USER_SORTS, {
        anyCase: true,
        steady: STEADY_USER_SORTS,
        description: 'Order (default: oldest); seen is by when they were last seen',
      }),
    ),
    ...pageFields(PEOPLE),
    query: Type.Optional(
      Type.String({
        maxLength: 500,
        description: 'Only users with this text in their name, user name or address, in any letter case',
      }),
    ),
    role: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 50,
        rule: 'a list of up to 50 role ids or names',
        description: `Only users with one of these roles: ids or names, or "${NONE}" for users without a role`,
        names: 'role',
      }),
    ),
    tag: Type.Optional(listOf({ maxItems: 50, description: 'Only users with one of these tags, in any letter case' })),
    state: Type.Optional(someOf(USER_STATES, { description: 'Only users in one of these states' })),
    seenSince: timeField('Only users last seen since this time'),
    seenBefore: timeField('Only users last seen before this time, or never'),
    ...periodFields('users who signed up'),
  }),
  output: Type.Object({
    status: Type.Object({ code: Type.Integer(), type: Type.String() }),
    users: Type.Array(User),
    results: alias(User),
    ...pageKeys,
  }),
  async run(
    ctx,
    { created, sort, since, until, query = '', role = [], tag = [], state, seenSince, seenBefore, ...page },
  ) {
    const text = query.trim()
    const filter: UserFilter = {
      ...periodFrom({ since, until }),
      states: state && [...new Set(state)],
      roles: role.length > 0 ? await roleIdsFrom(ctx, role) : undefined,
      tags: tag.length > 0 ? [...new Set(tag.map(tagKey))] : undefined,
      texts: text === '' ? undefined : [...new Set([searchKey(text), text.toLowerCase()])],
      seen: { since: timeFrom('seenSince', seenSince), until: timeFrom('seenBefore', seenBefore) },
    }
    const found = await userList(ctx.db, filter, sort ?? (created === 'asc' ? 'oldest' : 'newest'))
    const { rows: users, keys } = await pageOf(PEOPLE, page, {
      ...found,
      find: async (after) => (isId(after) ? found.find(asStored(after)) : undefined),
      show: (rows) => usersShown(ctx, rows),
    })
    return { status: { code: 200, type: 'success' }, users, ...keys }
  },
})

export const downloadAll = csvOf(list, {
  id: 'users.download',
  summary: 'Download all users of a list as CSV or JSON lines',
  http: 'GET /export/users 200',
  file: 'users',
  rows: ({ users }) => users,
  cells: userCells,
  fixed: { created: 'asc' },
  fields: { sort: oneOf(STEADY_USER_SORTS, { default: 'oldest', anyCase: true, description: 'Order' }) },
})

/** The ids of roles that are given by id or name, and null for "none". A name stands for all roles that have it. */
async function roleIdsFrom({ db }: Context, given: readonly string[]): Promise<(string | null)[]> {
  const ids: (string | null)[] = []
  for (const each of given) {
    const found = (await findRoles(db, each, MOST_OF_A_NAME)).map(({ id }) => id)
    if (found.length > 0) ids.push(...found)
    else if (each === NONE) ids.push(null)
    else throw unknownRole(each)
  }
  return [...new Set(ids)]
}

/** Roles of one name that a filter takes. */
const MOST_OF_A_NAME = 50

function unknownRole(given: string): AppError {
  const [value, rule] = [given.slice(0, 100).toWellFormed(), 'the id or the name of a role, or "none"']
  const message = `role must be ${rule}; ${quoted(given)} is not.`
  return invalidField({ code: 'UNKNOWN_ROLE', message, field: 'role', rule, value })
}
