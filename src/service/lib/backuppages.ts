import { pageFields, pageOf, type Listing } from './paging.js'
import { fields } from './schemas.js'
import { isWithin, orderFields, periodFields, periodFrom } from './times.js'
import type { Static } from 'typebox'

interface Entry {
  file: string
  createdAt: string
}

const BACKUPS: Listing<Entry> = { row: 'backup', rows: 'Backups', id: 'file', size: 100 }

export const backupFields = fields({ ...orderFields('desc'), ...pageFields(BACKUPS), ...periodFields('backups made') })

/** A page of backups, which are sorted newest first. */
export async function backupPage<Row extends Entry>(all: readonly Row[], given: Static<typeof backupFields>) {
  const { created, since, until, ...page } = given
  const period = periodFrom({ since, until })
  const within = all.filter(({ createdAt }) => isWithin(period, createdAt))
  const sorted = created === 'asc' ? within.toReversed() : within
  const placeOf = (file: string) => sorted.findIndex((each) => each.file === file)
  const { rows: backups, keys } = await pageOf<Row, Row>(BACKUPS, page, {
    total: sorted.length,
    find: async (file) => sorted[placeOf(file)],
    countAfter: async ({ file }) => sorted.length - placeOf(file) - 1,
    async read({ limit, offset = 0, after }) {
      const first = after === undefined ? offset : placeOf(after.file) + 1
      return sorted.slice(first, first + limit)
    },
    show: (rows) => rows,
  })
  return { backups, ...keys }
}
