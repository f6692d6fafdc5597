import * as Type from 'typebox'
import { wordsOf } from '../core/catalogue.js'
import { changeOf, changesOf, type Recorded } from '../core/details.js'
import { asStored, newId } from '../core/ids.js'
import { LANGUAGES } from '../core/language.js'
import { guessedKind, STATUS_KINDS, type StatusKind } from '../core/statuskinds.js'
import { searchKey } from '../core/text.js'
import { lock } from '../db/counters.js'
import { stateBefore } from '../db/details.js'
import {
  deleteRoadmap,
  findRoadmap,
  insertRoadmap,
  listRoadmaps,
  lockRoadmapOrder,
  updateRoadmapIndexes,
  roadmapsAfter,
  roadmapTotal,
  searchRoadmaps,
  updateRoadmap,
  type RoadmapFilter,
} from '../db/roadmaps.js'
import type { RoadmapRow } from '../db/tables.js'
import { can, type Actor, type Gated } from './lib/access.js'
import { change, type Change } from './lib/change.js'
import type { Context } from './lib/context.js'
import { named } from './lib/named.js'
import { operation } from './lib/operation.js'
import { alias, pageFields, pageKeys, pageOf, type Listing } from './lib/paging.js'
import { policy, runs } from './lib/policies.js'
import { fields, inPath, oneOf } from './lib/schemas.js'
import { periodFields, periodFrom } from './lib/times.js'
import { assertVersion, ifVersion, versionField, versionOf } from './lib/versions.js'

const roadmapPolicy = policy({
  update: runs((): Gated => update),
  delete: runs((): Gated => remove),
})

const KIND = 'What it says of its posts'

export const Roadmap = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  url: Type.String({ description: 'Slug, unique on the site' }),
  color: Type.String({ description: 'Six hexadecimal digits' }),
  index: Type.Integer({ description: 'Roadmaps are shown in this order' }),
  display: Type.Boolean({ description: 'Public; otherwise only with roadmap:read' }),
  kind: oneOf(STATUS_KINDS, { description: KIND }),
  created_at: Type.String({ format: 'date-time' }),
  may: roadmapPolicy.field,
})
export type Roadmap = Type.Static<typeof Roadmap>

const noun = named<RoadmapRow>({
  noun: 'roadmap',
  id: 'id',
  createdAt: 'created_at',
  find: findRoadmap,
  routes: (): { http: string }[] => [search, sort, createUsual],
})
const { name, url, color, display, partial, visibility } = noun.fields
const ROADMAPS: Listing<RoadmapRow> = { row: 'roadmap', rows: 'Roadmaps', id: 'id', size: 20, alias: true }
const kindField = (description: string) => oneOf(STATUS_KINDS, { description })
const id = Type.String({ description: 'Id or url of the roadmap', names: 'roadmap' })

export const list = operation({
  id: 'roadmaps.list',
  summary: 'List roadmaps in their order',
  http: 'GET /roadmaps 200',
  access: 'public',
  cache: 'actor',
  errors: [],
  input: fields({
    ...pageFields(ROADMAPS),
    visibility,
    query: Type.Optional(
      Type.String({
        maxLength: 500,
        description: 'Only roadmaps whose name starts with this text, in any letter case',
      }),
    ),
    ...periodFields('roadmaps created'),
  }),
  output: Type.Object({ roadmaps: Type.Array(Roadmap), results: alias(Roadmap), ...pageKeys }),
  async run({ db, actor }, { visibility, query = '', since, until, ...page }) {
    const filter: RoadmapFilter = {
      visibility: can(actor, 'roadmap:read') ? visibility : ['public'],
      prefix: query.trim() === '' ? undefined : searchKey(query.trim()),
      ...periodFrom({ since, until }),
    }
    const { rows: roadmaps, keys } = await pageOf(ROADMAPS, page, {
      total: await roadmapTotal(db, filter),
      find: (after) => noun.atCursor(db, filter, after),
      countAfter: (cursor) => roadmapsAfter(db, filter, cursor),
      read: (slice) => listRoadmaps(db, filter, slice),
      show: (rows) => rows.map((row) => toRoadmap(actor, row)),
    })
    return { roadmaps, ...keys }
  },
})

export const search = operation({
  id: 'roadmaps.search',
  summary: 'Find roadmaps whose name starts with a text; the first 100 by name',
  http: 'GET /roadmaps/search/:name 200',
  access: 'roadmap:read',
  cache: 'actor',
  errors: [],
  input: fields({ name: inPath('Start of the name, in any letter case') }),
  output: Type.Object({ roadmaps: Type.Array(Roadmap) }),
  async run({ db, actor }, input) {
    const rows = await searchRoadmaps(db, searchKey(input.name), 100)
    return { roadmaps: rows.map((row) => toRoadmap(actor, row)) }
  },
})

export const show = operation({
  id: 'roadmaps.show',
  summary: 'Show a roadmap',
  http: 'GET /roadmaps/:url 200',
  access: 'public',
  cache: 'actor',
  errors: ['ROADMAP_NOT_FOUND', 'NOT_ENOUGH_PERMISSION'],
  input: fields({ url: inPath('Url or id of the roadmap', 'roadmap') }),
  output: Type.Object({ roadmap: Roadmap, version: versionField }),
  async run(ctx, input) {
    const row = await noun.readable(ctx, input.url)
    return { roadmap: toRoadmap(ctx.actor, row), version: versionOf(changeable(row)) }
  },
})

export const create = operation({
  id: 'roadmaps.create',
  summary: 'Create a roadmap and add it at the end',
  http: 'POST /roadmaps 201',
  access: 'roadmap:create',
  errors: ['ROADMAP_URL_EXISTS'],
  input: fields({
    name: Type.Optional({ ...name, default: 'new roadmap' }),
    color: Type.Optional({ ...color, description: 'Six hexadecimal digits (default: the next of a readable palette)' }),
    url: Type.Optional({ ...url, description: 'Slug in the address (default: derived from the name)' }),
    display: Type.Optional({ ...display, default: false }),
    kind: Type.Optional(kindField(`${KIND} (default: guessed by the name)`)),
  }),
  output: Type.Object({ roadmap: Roadmap }),
  async run(ctx, input) {
    const insert = await newRoadmap(ctx, input)
    return change(ctx, async (tx) => ({ roadmap: toRoadmap(ctx.actor, await insert(tx)) }))
  },
})

/** Makes the address of a new roadmap, as `newBoard` does. */
export async function newRoadmap({ now }: Pick<Context, 'now'>, input: NewRoadmap, id = newId()) {
  const at = now().toISOString()
  const row = { id, created_at: at, updated_at: at }
  const slug = await noun.slugOfNew(input)
  return async (tx: Change): Promise<RoadmapRow> => {
    const others = await lockRoadmapOrder(tx.db)
    const columns = { ...row, ...noun.columns(input, others), index: (others.at(-1)?.index ?? 0) + 1 }
    const kind = input.kind ?? guessedKind(columns.name)
    const roadmap = await noun.insert(tx, slug, input, (url) => insertRoadmap(tx.db, { ...columns, kind, url }))
    tx.record('roadmap.created', roadmap.id, roadmap.name)
    return roadmap
  }
}
interface NewRoadmap {
  name?: string
  color?: string
  url?: string
  display?: boolean
  kind?: StatusKind
}

/** What the usual roadmaps say, whatever language their names are in. */
const USUAL_KINDS: readonly StatusKind[] = ['open', 'planned', 'active', 'done']

/** Creates the usual roadmaps in a transaction, without those whose url there is already. */
export async function usualRoadmaps({ siteLanguage }: Pick<Context, 'siteLanguage'>) {
  const names = wordsOf(siteLanguage ?? LANGUAGES[0])
    .t('roadmap.usualNames')
    .split(', ')
  const urls = await Promise.all(names.map((each) => noun.slugOfNew({ name: each })))
  return async (tx: Change): Promise<RoadmapRow[]> => {
    const rows = await lockRoadmapOrder(tx.db)
    const first = (rows.at(-1)?.index ?? 0) + 1
    const created: RoadmapRow[] = []
    for (const [at, given] of names.entries()) {
      const now = tx.now().toISOString()
      const row = { id: newId(), url: urls[at] ?? '', created_at: now, updated_at: now, index: first + created.length }
      const columns = noun.columns({ name: given, display: true }, [...rows, ...created])
      const roadmap = await insertRoadmap(tx.db, { ...row, ...columns, kind: USUAL_KINDS[at] ?? 'open' })
      if (!roadmap) continue
      created.push(roadmap)
      tx.record('roadmap.created', roadmap.id, roadmap.name)
    }
    return created
  }
}

/** Whoever creates them twice gets no second ones. */
export const createUsual = operation({
  id: 'roadmaps.createUsual',
  summary:
    'Create the usual public roadmaps, in the language of the site: Under review, Planned, In progress, Complete',
  http: 'POST /roadmaps/usual 201',
  access: 'roadmap:create',
  errors: [],
  input: fields({}),
  output: Type.Object({
    roadmaps: Type.Array(Roadmap, { description: 'Those created: of each url that no roadmap had' }),
  }),
  async run(ctx) {
    const create = await usualRoadmaps(ctx)
    return change(ctx, async (tx) => ({ roadmaps: (await create(tx)).map((row) => toRoadmap(ctx.actor, row)) }))
  },
})

export const update = operation({
  id: 'roadmaps.update',
  summary: 'Change a roadmap',
  http: 'PATCH /roadmaps 200',
  access: 'roadmap:update',
  errors: ['ROADMAP_ID_OR_URL_MISSING', 'ROADMAP_NOT_FOUND', 'ROADMAP_URL_EXISTS', 'CONTENT_CHANGED'],
  input: fields(
    {
      id,
      name: Type.Optional(name),
      url: Type.Optional(url),
      color: Type.Optional(color),
      display: Type.Optional(display),
      kind: Type.Optional(kindField(KIND)),
      partial,
      ifVersion,
    },
    [
      'index', // roadmaps.sort and roadmaps.move change it
      'created_at',
      'updated_at',
      'may',
    ],
  ),
  output: Type.Object({ roadmap: Roadmap }),
  subject: noun.subject,
  async run(ctx, input, subject) {
    const slug = await noun.slugOfChanged(input, subject)
    return change(ctx, async (tx) => {
      const before = await stateBefore(tx.db, 'roadmap', subject.id)
      if (before) assertVersion(input.ifVersion, changeable(before))
      const outcome = await updateRoadmap(tx.db, subject.id, {
        ...noun.changes(input, slug),
        ...(input.kind !== undefined && { kind: input.kind }),
        updated_at: ctx.now().toISOString(),
      })
      const roadmap = await noun.updated(tx, slug, input.id, outcome)
      tx.record('roadmap.updated', roadmap.id, roadmap.name, undefined, before && changesOf('roadmap', before, roadmap))
      return { roadmap: toRoadmap(ctx.actor, roadmap) }
    })
  },
})

/** What `update` sets. */
const changeable = (row: Recorded<'roadmap'>) => [row.name, row.url, row.color, row.display, row.kind]

export const remove = operation({
  id: 'roadmaps.delete',
  summary: 'Delete a roadmap; its posts stay, without a roadmap',
  http: 'DELETE /roadmaps 204',
  access: 'roadmap:destroy',
  errors: ['ROADMAP_ID_OR_URL_MISSING', 'ROADMAP_NOT_FOUND'],
  input: fields({ id }),
  output: Type.Undefined(),
  subject: noun.subject,
  run: (ctx, input, subject) =>
    change(ctx, async ({ db, record }) => {
      await lock(db, 'post_counts')
      await lockRoadmapOrder(db) // before the row: a trigger updates the count of roadmaps after it
      if (!(await deleteRoadmap(db, subject.id))) throw noun.notFound(input.id)
      record('roadmap.deleted', subject.id, subject.name)
      return undefined
    }),
})

const toRoadmap = (actor: Actor, row: RoadmapRow): Roadmap => ({
  id: row.id,
  name: row.name,
  url: row.url,
  color: row.color,
  index: row.index,
  display: row.display === 1,
  kind: row.kind,
  created_at: row.created_at,
  may: roadmapPolicy.may(actor, row),
})

const place = Type.Object(
  { id: Type.String(), index: Type.Integer({ minimum: 0, maximum: 1_000_000 }) },
  {
    description: 'A roadmap and its new index, from 0 to 1000000',
    rule: 'an object {"id", "index"}, the index a whole number from 0 to 1000000',
    codes: { '*': 'INVALID_VALUE', required: 'FIELD_MISSING', type: 'OBJECT_EXPECTED' },
  },
)

/** Nested, as in the contract. The command line has `move` instead. */
export const sort = operation({
  id: 'roadmaps.sort',
  summary: 'Set the index of two roadmaps; renumber all if two would have the same index',
  http: 'PATCH /roadmaps/sort 200',
  access: 'roadmap:update',
  errors: ['ROADMAP_NOT_FOUND'],
  input: fields({ from: place, to: place }),
  output: Type.Unsafe<'OK' | undefined>({ type: 'string', const: 'OK' }),
  async subject(ctx, { from, to }) {
    for (const side of [from, to]) {
      const given = (side as { id?: unknown } | null | undefined)?.id
      if (typeof given === 'string') await noun.readable(ctx, given)
    }
  },
  run: (ctx, { from, to }) =>
    change(ctx, async ({ db, record, now }) => {
      const rows = await lockRoadmapOrder(db)
      const rowOf = (given: string) => {
        const row = rows.find((each) => each.id === asStored(given) || each.url === given)
        if (!row) throw noun.notFound(given)
        return row
      }
      const moved = [rowOf(from.id), rowOf(to.id)]
      if (moved[0] === moved[1]) return undefined
      const wanted = new Map(
        rows.map((row) => [row.id, row === moved[0] ? from.index : row === moved[1] ? to.index : row.index]),
      )
      const index = (row: RoadmapRow) => wanted.get(row.id) ?? row.index
      const indexes =
        new Set(wanted.values()).size === rows.length
          ? wanted
          : numbered(rows.toSorted((one, other) => index(one) - index(other)))
      await updateRoadmapIndexes(db, rows, indexes, now().toISOString())
      for (const row of moved)
        if (indexes.get(row.id) !== row.index)
          record('roadmap.moved', row.id, row.name, undefined, indexChange(row, indexes))
      return 'OK' as const
    }),
})

const indexChange = ({ id: rowId, index }: RoadmapRow, indexes: ReadonlyMap<string, number>) => {
  const after = indexes.get(rowId) ?? index
  return index === after ? [] : [changeOf('index', index, after)]
}

export const move = operation({
  id: 'roadmaps.move',
  summary: 'Move a roadmap to a position, counted from 1',
  http: 'PUT /roadmaps/:roadmap/position 200',
  access: 'roadmap:update',
  errors: ['ROADMAP_ID_OR_URL_MISSING', 'ROADMAP_NOT_FOUND'],
  input: fields({
    roadmap: inPath('Id or url of the roadmap', 'roadmap'),
    position: Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Position, counted from 1; a number past the end means the last position',
    }),
  }),
  output: Type.Object({ roadmap: Roadmap }),
  subject: (ctx, { roadmap }) => noun.subject(ctx, { id: roadmap }),
  run: (ctx, { position }, subject) =>
    change(ctx, async ({ db, record, now }) => {
      const rows = await lockRoadmapOrder(db)
      const at = rows.findIndex((row) => row.id === subject.id)
      const row = rows[at]
      if (!row) throw noun.notFound(subject.url)
      const indexes = numbered(rows.toSpliced(at, 1).toSpliced(position - 1, 0, row))
      await updateRoadmapIndexes(db, rows, indexes, now().toISOString())
      const index = indexes.get(row.id) ?? row.index
      if (index !== at + 1) record('roadmap.moved', row.id, row.name, undefined, indexChange(row, indexes))
      return { roadmap: toRoadmap(ctx.actor, { ...row, index }) }
    }),
})

const numbered = (rows: RoadmapRow[]): Map<string, number> => new Map(rows.map((row, before) => [row.id, before + 1]))
