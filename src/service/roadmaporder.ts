import * as Type from 'typebox'
import { asStored } from '../core/ids.js'
import { findRoadmap, lockRoadmapOrder, placeRoadmaps } from '../db/roadmaps.js'
import type { RoadmapRow } from '../db/tables.js'
import { change } from './change.js'
import { operation } from './operation.js'
import { Roadmap, roadmapNotFound, roadmapOf, toRoadmap } from './roadmaps.js'
import { fields, inPath } from './schemas.js'

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
      const wanted = new Map(rows.map((row) => [row.id, row === moved[0] ? from.index : row === moved[1] ? to.index : row.index]))
      const index = (row: RoadmapRow) => wanted.get(row.id) ?? row.index
      const places = new Set(wanted.values()).size === rows.length ? wanted : numbered(rows.toSorted((one, other) => index(one) - index(other)))
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
    position: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Place from 1; past the end is the last' }),
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
