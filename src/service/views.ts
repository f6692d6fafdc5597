import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { newId } from '../core/ids.js'
import { LENGTHS } from '../core/lengths.js'
import { searchKey } from '../core/text.js'
import { lockUser } from '../db/users.js'
import {
  countViews,
  deleteView,
  insertView,
  listViews,
  lockView,
  updateView,
  type NamedView,
  type StoredFilter,
} from '../db/views.js'
import { refusedBy } from './lib/access.js'
import { change } from './lib/change.js'
import type { CachedContext, Context } from './lib/context.js'
import { operation } from './lib/operation.js'
import { pageFields, pageKeys, pageOf, sourceOf, type Listing } from './lib/paging.js'
import { fields, inPath, oneLine } from './lib/schemas.js'
import { personOf } from './lib/sessions.js'
import { textField, textMatcher } from './lib/textsearch.js'
import { isWithin, periodFields, periodFrom } from './lib/times.js'
import { assertVersion, ifVersion, versionField, versionOf } from './lib/versions.js'
import { Missing, opened, storedFrom, viewFields, viewGiven, viewPolicy, VIEWERS, without } from './lib/views.js'

/** Views that a person can have, and that all people together can share. */
const MOST_OWN = 50
const MOST_SHARED = 200

/** Without a limit a page has all, as before there were pages. */
const VIEWS: Listing<NamedView> = { row: 'view', rows: 'Views', id: 'viewId', size: MOST_OWN + MOST_SHARED }

export const View = Type.Object({
  viewId: Type.String({ format: 'uuid' }),
  name: Type.String(),
  shared: Type.Boolean({ description: 'Whether everybody with dashboard:read sees it' }),
  user: Type.Union([Type.Object({ userId: Type.String({ format: 'uuid' }), username: Type.String() }), Type.Null()], {
    description: 'Who saved it; null once the account is deleted',
  }),
  filter: Type.Object(viewFields, { description: 'The fields of posts.list that it stands for' }),
  missing: Type.Array(Missing, { description: 'Choices that are gone, or that you may not see' }),
  createdAt: Type.String({ format: 'date-time' }),
  updatedAt: Type.String({ format: 'date-time' }),
  may: viewPolicy.field,
})
export type View = Type.Static<typeof View>

const name = Type.String({
  ...oneLine(LENGTHS.viewName),
  description: 'Name, unique among your views and among the shared ones',
})
const shared = Type.Boolean({ description: 'Share it with everybody who has dashboard:read' })
const which = inPath('Id or name of the view', 'view')

export const list = operation({
  id: 'views.list',
  summary: 'List your saved views of posts, and those that are shared, by name',
  http: 'GET /views 200',
  access: VIEWERS,
  errors: ['USER_NOT_FOUND'],
  input: fields({
    query: textField('views', { within: 'name' }),
    ...pageFields(VIEWS),
    ...periodFields('views saved'),
  }),
  output: Type.Object({ views: Type.Array(View), ...pageKeys }),
  async run(ctx, { query, since, until, ...page }) {
    const hasText = textMatcher(query)
    const period = periodFrom({ since, until })
    const all = await listViews(ctx.db, await personOf(ctx))
    const found = all.filter(({ name, createdAt }) => isWithin(period, createdAt) && (hasText?.(name) ?? true))
    const { rows, keys } = await pageOf(VIEWS, page, {
      ...sourceOf(VIEWS, found),
      show: (part) => Promise.all(part.map((row) => toView(ctx, row))),
    })
    return { views: rows, ...keys }
  },
})

export const show = operation({
  id: 'views.show',
  summary: 'Show a saved view of posts',
  http: 'GET /views/:view 200',
  access: VIEWERS,
  errors: ['VIEW_NOT_FOUND', 'USER_NOT_FOUND'],
  input: fields({ view: which }),
  output: Type.Object({ view: View, version: versionField }),
  subject: viewOf,
  run: async (ctx, _input, row) => ({ view: await toView(ctx, row), version: versionOf(changeable(row)) }),
})

export const create = operation({
  id: 'views.create',
  summary: 'Save a filter and order of posts by a name',
  http: 'POST /views 201',
  access: VIEWERS,
  errors: ['VIEW_EXISTS', 'VIEW_LIMIT', 'USER_NOT_FOUND'],
  input: fields({ name, shared: Type.Optional(shared), ...viewFields }),
  output: Type.Object({ view: View }),
  async run(ctx, { name: given, shared: isShared = false, ...filter }) {
    const [userId, createdAt] = [await personOf(ctx), ctx.now().toISOString()]
    const row = {
      viewId: newId(),
      userId,
      name: given,
      nameFolded: searchKey(given),
      isShared: isShared ? 1 : 0,
      filter: JSON.stringify(await storedFrom(ctx, filter)),
      createdAt,
      updatedAt: createdAt,
    }
    return change(ctx, async (tx) => {
      const user = await lockUser(tx.db, userId) // so that two requests do not exceed the number together
      const count = await countViews(tx.db, userId)
      if (count.own >= MOST_OWN) throw limitReached(`You have ${MOST_OWN} views. Delete one first.`)
      if (isShared) assertFewShared(count.shared)
      if ((await insertView(tx.db, row)) === 'taken') throw nameTaken(given)
      tx.record('view.created', row.viewId, isShared ? given : undefined)
      return { view: await toView(ctx, { ...row, username: user?.username ?? null }) }
    })
  },
})

export const update = operation({
  id: 'views.update',
  summary: 'Rename or share a saved view, or change its filter; yours, or as the owner of the site',
  http: 'PATCH /views/:view 200',
  access: VIEWERS,
  errors: ['VIEW_NOT_FOUND', 'VIEW_EXISTS', 'VIEW_LIMIT', 'USER_NOT_FOUND', 'CONTENT_CHANGED'],
  input: fields({
    view: which,
    name: Type.Optional(name),
    shared: Type.Optional(shared),
    replace: Type.Optional(
      Type.Boolean({ description: 'Replace the whole filter and order; otherwise what is not given stays' }),
    ),
    ...viewFields,
    ifVersion,
  }),
  output: Type.Object({ view: View }),
  subject: viewOf,
  async run(ctx, { view: _view, name: given, shared: isShared, replace = false, ifVersion: seen, ...filter }, subject) {
    viewPolicy.assert('update', ctx.actor, subject)
    const wanted = await storedFrom(ctx, filter)
    return change(ctx, async (tx) => {
      const before = await lockView(tx.db, subject.viewId)
      if (!before) throw gone()
      assertVersion(seen, changeable(before))
      const changed = { ...(replace ? {} : without(JSON.parse(before.filter) as StoredFilter, filter)), ...wanted }
      if (isShared && before.isShared === 0) assertFewShared((await countViews(tx.db, before.userId ?? '')).shared)
      const row = await updateView(tx.db, before.viewId, {
        ...(given !== undefined && { name: given, nameFolded: searchKey(given) }),
        ...(isShared !== undefined && { isShared: isShared ? 1 : 0 }),
        filter: JSON.stringify(changed),
        updatedAt: tx.now().toISOString(),
      })
      if (row === 'taken') throw nameTaken(given ?? before.name)
      if (!row) throw gone()
      tx.record('view.updated', row.viewId, row.isShared === 1 ? row.name : undefined)
      return { view: await toView(ctx, { ...row, username: subject.username }) }
    })
  },
})

/** What `update` sets. */
const changeable = (row: Pick<NamedView, 'name' | 'isShared' | 'filter'>) => [row.name, row.isShared, row.filter]

export const remove = operation({
  id: 'views.delete',
  summary: 'Delete a saved view; yours, or as the owner of the site',
  http: 'DELETE /views/:view 204',
  access: VIEWERS,
  errors: ['VIEW_NOT_FOUND', 'USER_NOT_FOUND'],
  input: fields({ view: which }),
  output: Type.Undefined(),
  subject: viewOf,
  async run(ctx, _input, view) {
    viewPolicy.assert('delete', ctx.actor, view)
    return change(ctx, async ({ db, record }) => {
      if (!(await deleteView(db, view.viewId))) throw gone()
      record('view.deleted', view.viewId, view.isShared === 1 ? view.name : undefined)
      return undefined
    })
  },
})

/** Those that a person saved. */
export const viewsOf = async (ctx: Context, userId: string): Promise<View[]> =>
  Promise.all((await listViews(ctx.db, userId)).filter((row) => row.userId === userId).map((row) => toView(ctx, row)))

/** Who may not have views does not learn whether there is one. */
async function viewOf(ctx: Context, { view: given }: Record<string, unknown>): Promise<NamedView> {
  const refusal = ctx.actor.refusal ?? refusedBy(VIEWERS, ctx.actor)
  if (refusal) throw refusal
  return viewGiven(ctx, typeof given === 'string' ? given : '')
}

async function toView(ctx: CachedContext, row: NamedView): Promise<View> {
  const { viewId, name, isShared, userId, username, createdAt, updatedAt } = row
  return {
    viewId,
    name,
    shared: isShared === 1,
    user: userId === null || username === null ? null : { userId, username },
    ...(await opened(ctx, JSON.parse(row.filter) as StoredFilter)),
    createdAt,
    updatedAt,
    may: viewPolicy.may(ctx.actor, row),
  }
}

const gone = () => new AppError('VIEW_NOT_FOUND', 'This view does not exist any more.')

const nameTaken = (given: string) =>
  new AppError('VIEW_EXISTS', `There is a view with the name "${given}", of yours or shared. Choose another name.`)

const limitReached = (message: string) => new AppError('VIEW_LIMIT', message)

function assertFewShared(count: number): void {
  if (count >= MOST_SHARED) throw limitReached(`${MOST_SHARED} views are shared already. Stop sharing one first.`)
}
