import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { asStored, newId } from '../core/ids.js'
import { quoted, searchKey } from '../core/text.js'
import { lock, type Visibility, visibleTotal } from '../db/counters.js'
import {
  deleteRoadmap,
  findRoadmap,
  insertRoadmap,
  listRoadmaps,
  lockRoadmapOrder,
  placeRoadmaps,
  roadmapsAfter,
  searchRoadmaps,
  updateRoadmap,
} from '../db/roadmaps.js'
import type { RoadmapRow } from '../db/tables.js'
import { can, notAllowed } from './lib/access.js'
import { change } from './lib/change.js'
import type { Context } from './lib/context.js'
import { anyColor, assertWhole, naming } from './lib/naming.js'
import { operation } from './lib/operation.js'
import { alias, pageFields, pageKeys, pageOf } from './lib/paging.js'
import { fields, inPath, someOf } from './lib/schemas.js'
import { insertWithFreeUrl, slugFrom, slugOfName, type Urls, urlTaken } from './lib/urls.js'

export const Roadmap = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  url: Type.String({ description: 'Slug, unique on the site' }),
  color: Type.String({ description: 'Six hexadecimal digits' }),
  index: Type.Integer({ description: 'Roadmaps are shown in this order' }),
  display: Type.Boolean({ description: 'Public, or only for whoever has roadmap:read' }),
  created_at: Type.String({ format: 'date-time' }),
})
export type Roadmap = Type.Static<typeof Roadmap>

const { name, url, color, display, partial } = naming('ROADMAP')
const id = Type.String({ description: 'Id or url of the roadmap' })

export const list = operation({
  id: 'roadmaps.list',
  summary: 'List roadmaps in their order',
  http: 'GET /roadmaps 200',
  access: 'public',
  cache: 'actor',
  errors: [],
  input: fields({
    ...pageFields('Roadmaps', 'id', 20),
    visibility: someOf(['public', 'private'], {
      default: ['public'],
      description: 'Which roadmaps; private ones need roadmap:read',
    }),
  }),
  output: Type.Object({ roadmaps: Type.Array(Roadmap), results: alias(Roadmap), ...pageKeys }),
  async run({ db, actor }, { visibility, ...asked }) {
    const seen: readonly Visibility[] = can(actor, 'roadmap:read') ? visibility : ['public']
    const { rows, keys } = await pageOf<RoadmapRow>(asked, {
      size: 20,
      total: await visibleTotal(db, 'roadmaps', seen),
      id: (roadmap) => roadmap.id,
      cursor: 'id of a roadmap',
      async find(after) {
        const roadmap = await findRoadmap(db, after)
        return roadmap?.id === after && seen.includes(roadmap.display ? 'public' : 'private') ? roadmap : undefined
      },
      behind: (cursor) => roadmapsAfter(db, seen, cursor),
      read: (page) => listRoadmaps(db, seen, page),
    })
    const roadmaps = rows.map(toRoadmap)
    return { roadmaps, ...keys, ...(asked.page === undefined && { results: roadmaps }) }
  },
})

export const search = operation({
  id: 'roadmaps.search',
  summary: 'Find roadmaps whose name starts with a text, the first 100 by name',
  http: 'GET /roadmaps/search/:name 200',
  access: 'roadmap:read',
  cache: 'actor',
  errors: [],
  input: fields({ name: inPath('Start of the name, in any letter case') }),
  output: Type.Object({ roadmaps: Type.Array(Roadmap) }),
  async run({ db }, input) {
    return { roadmaps: (await searchRoadmaps(db, searchKey(input.name), 100)).map(toRoadmap) }
  },
})

export const show = operation({
  id: 'roadmaps.show',
  summary: 'Show a roadmap',
  http: 'GET /roadmaps/:url 200',
  access: 'public',
  cache: 'actor',
  errors: ['ROADMAP_NOT_FOUND', 'NOT_ENOUGH_PERMISSION'],
  input: fields({ url: inPath('Url or id of the roadmap') }),
  output: Type.Object({ roadmap: Roadmap }),
  async run({ db, actor }, input) {
    const roadmap = await findRoadmap(db, input.url)
    if (!roadmap) throw roadmapNotFound(input.url)
    if (!roadmap.display && !can(actor, 'roadmap:read')) throw notAllowed(['roadmap:read'])
    return { roadmap: toRoadmap(roadmap) }
  },
})

export const create = operation({
  id: 'roadmaps.create',
  summary: 'Create a roadmap, as the last one',
  http: 'POST /roadmaps 201',
  access: 'roadmap:create',
  errors: ['ROADMAP_URL_EXISTS'],
  input: fields({
    name: Type.Optional({ ...name, default: 'new roadmap' }),
    color: Type.Optional({ ...color, description: 'Six hexadecimal digits (default: one of a readable palette)' }),
    url: Type.Optional({ ...url, description: 'Slug in the address (default: made of the name)' }),
    display: Type.Optional({ ...display, default: false }),
  }),
  output: Type.Object({ roadmap: Roadmap }),
  async run(ctx, input) {
    const now = ctx.now().toISOString()
    const { name: title = '' } = input // has a default
    const row = {
      id: newId(),
      name: title,
      nameFolded: searchKey(title),
      color: (input.color ?? anyColor()).toLowerCase(),
      display: input.display ? 1 : 0,
      created_at: now,
      updated_at: now,
    }
    const slug = input.url === undefined ? await slugOfName(URLS, title) : await slugFrom(URLS, input.url)
    return change(ctx, async (tx) => {
      const last = (await lockRoadmapOrder(tx.db)).at(-1)
      const insert = (url: string) => insertRoadmap(tx.db, { ...row, url, index: (last?.index ?? 0) + 1 })
      const roadmap = input.url === undefined ? await insertWithFreeUrl(slug, insert) : await insert(slug)
      if (!roadmap) throw await taken(tx, slug)
      tx.record('roadmap.created', roadmap.id, roadmap.name)
      return { roadmap: toRoadmap(roadmap) }
    })
  },
})

export const update = operation({
  id: 'roadmaps.update',
  summary: 'Change a roadmap',
  http: 'PATCH /roadmaps 200',
  access: 'roadmap:update',
  errors: ['ROADMAP_ID_OR_URL_MISSING', 'ROADMAP_NOT_FOUND', 'ROADMAP_URL_EXISTS'],
  input: fields(
    {
      id,
      name: Type.Optional(name),
      url: Type.Optional(url),
      color: Type.Optional(color),
      display: Type.Optional(display),
      partial,
    },
    [
      'index', // sort and move change it
      'created_at',
      'updated_at',
    ],
  ),
  output: Type.Object({ roadmap: Roadmap }),
  subject: roadmapOf,
  async run(ctx, input, subject) {
    assertWhole('ROADMAP', input)
    const slug = input.url === undefined || input.url === subject.url ? subject.url : await slugFrom(URLS, input.url)
    return change(ctx, async (tx) => {
      const roadmap = await updateRoadmap(tx.db, subject.id, {
        ...(input.name !== undefined && { name: input.name, nameFolded: searchKey(input.name) }),
        ...(input.url !== undefined && { url: slug }),
        ...(input.color !== undefined && { color: input.color.toLowerCase() }),
        ...(input.display !== undefined && { display: input.display ? 1 : 0 }),
        updated_at: ctx.now().toISOString(),
      })
      if (roadmap === 'taken') throw await taken(tx, slug)
      if (!roadmap) throw roadmapNotFound(input.id)
      tx.record('roadmap.updated', roadmap.id, roadmap.name)
      return { roadmap: toRoadmap(roadmap) }
    })
  },
})

export const remove = operation({
  id: 'roadmaps.delete',
  summary: 'Delete a roadmap; its posts stay, without a roadmap',
  http: 'DELETE /roadmaps 204',
  access: 'roadmap:destroy',
  errors: ['ROADMAP_ID_OR_URL_MISSING', 'ROADMAP_NOT_FOUND'],
  input: fields({ id }),
  output: Type.Undefined(),
  subject: roadmapOf,
  run: (ctx, input, subject) =>
    change(ctx, async ({ db, record }) => {
      await lock(db, 'post_counts')
      await lockRoadmapOrder(db) // before the row: the count of roadmaps is written after the row, by a trigger
      if (!(await deleteRoadmap(db, subject.id))) throw roadmapNotFound(input.id)
      record('roadmap.deleted', subject.id, subject.name)
      return undefined
    }),
})

const URLS: Urls = {
  noun: 'roadmap',
  reserved: new Set(['search', 'sort']),
  missing: 'ROADMAP_URL_MISSING',
  exists: 'ROADMAP_URL_EXISTS',
}

async function taken({ db, actor }: Context, slug: string): Promise<AppError> {
  const roadmap = await findRoadmap(db, slug)
  const visible = roadmap && (roadmap.display === 1 || can(actor, 'roadmap:read'))
  return urlTaken(URLS, slug, visible ? { name: roadmap.name, since: roadmap.created_at } : undefined)
}

async function roadmapOf({ db }: Context, input: Record<string, unknown>): Promise<RoadmapRow> {
  const { id: given } = input
  if (typeof given !== 'string' || given === '')
    throw new AppError('ROADMAP_ID_OR_URL_MISSING', 'Which roadmap? Give its id, or its url.')
  const roadmap = await findRoadmap(db, given)
  if (!roadmap) throw roadmapNotFound(given)
  return roadmap
}

const roadmapNotFound = (given: string) => new AppError('ROADMAP_NOT_FOUND', `There is no roadmap ${quoted(given)}.`)

const toRoadmap = (row: RoadmapRow): Roadmap => ({
  id: row.id,
  name: row.name,
  url: row.url,
  color: row.color,
  index: row.index,
  display: row.display === 1,
  created_at: row.created_at,
})

const place = Type.Object(
  { id: Type.String(), index: Type.Integer({ minimum: 0, maximum: 1_000_000 }) },
  {
    description: 'A roadmap and the index it gets, from 0 to 1000000',
    rule: 'an object {"id", "index"}, the index a whole number from 0 to 1000000',
    codes: { '*': 'INVALID_VALUE', required: 'FIELD_MISSING', type: 'OBJECT_EXPECTED' },
  },
)

/** Not flat, as the contract's is not; at the command line there is `move`. */
export const sort = operation({
  id: 'roadmaps.sort',
  summary: 'Give two roadmaps their indexes; all are numbered anew if two would have the same',
  http: 'PATCH /roadmaps/sort 200',
  access: 'roadmap:update',
  errors: ['ROADMAP_NOT_FOUND'],
  input: fields({ from: place, to: place }),
  output: Type.Unsafe<'OK' | undefined>({ type: 'string', const: 'OK' }),
  async subject({ db }, { from, to }) {
    for (const side of [from, to]) {
      const given = (side as { id?: unknown } | null | undefined)?.id
      if (typeof given === 'string' && !(await findRoadmap(db, given))) throw roadmapNotFound(given)
    }
  },
  run: (ctx, { from, to }) =>
    change(ctx, async ({ db, record, now }) => {
      const rows = await lockRoadmapOrder(db)
      const rowOf = (given: string) => {
        const row = rows.find((each) => each.id === asStored(given) || each.url === given)
        if (!row) throw roadmapNotFound(given)
        return row
      }
      const moved = [rowOf(from.id), rowOf(to.id)]
      if (moved[0] === moved[1]) return undefined
      const wanted = new Map(
        rows.map((row) => [row.id, row === moved[0] ? from.index : row === moved[1] ? to.index : row.index]),
      )
      const index = (row: RoadmapRow) => wanted.get(row.id) ?? row.index
      const places =
        new Set(wanted.values()).size === rows.length
          ? wanted
          : numbered(rows.toSorted((one, other) => index(one) - index(other)))
      await placeRoadmaps(db, rows, places, now().toISOString())
      for (const row of moved) if (places.get(row.id) !== row.index) record('roadmap.moved', row.id, row.name)
      return 'OK' as const
    }),
})

export const move = operation({
  id: 'roadmaps.move',
  summary: 'Move a roadmap to a place among all, counted from 1',
  http: 'PUT /roadmaps/:roadmap/position 200',
  access: 'roadmap:update',
  errors: ['ROADMAP_ID_OR_URL_MISSING', 'ROADMAP_NOT_FOUND'],
  input: fields({
    roadmap: inPath('Id or url of the roadmap'),
    position: Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Place from 1; past the end is the last',
    }),
  }),
  output: Type.Object({ roadmap: Roadmap }),
  subject: (ctx, { roadmap }) => roadmapOf(ctx, { id: roadmap }),
  run: (ctx, { position }, subject) =>
    change(ctx, async ({ db, record, now }) => {
      const rows = await lockRoadmapOrder(db)
      const at = rows.findIndex((row) => row.id === subject.id)
      const row = rows[at]
      if (!row) throw roadmapNotFound(subject.url)
      const places = numbered(rows.toSpliced(at, 1).toSpliced(position - 1, 0, row))
      await placeRoadmaps(db, rows, places, now().toISOString())
      const index = places.get(row.id) ?? row.index
      if (index !== at + 1) record('roadmap.moved', row.id, row.name)
      return { roadmap: toRoadmap({ ...row, index }) }
    }),
})

const numbered = (rows: RoadmapRow[]): Map<string, number> => new Map(rows.map((row, before) => [row.id, before + 1]))
