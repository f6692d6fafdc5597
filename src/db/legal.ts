import { compiled } from './cache/compiled.js'
import type { Db, LegalPageRow } from './tables.js'

/** The legal pages of the site, without their texts. The footer of every page lists them. */
export const listLegalPages = (db: Db): Promise<Omit<LegalPageRow, 'markdown'>[]> =>
  compiled(db, 'listLegalPages', {}, () => db.selectFrom('legal_pages').select(['name', 'updatedAt']).orderBy('name'))

export async function findLegalPage(db: Db, name: string): Promise<LegalPageRow | undefined> {
  const [row] = await compiled(
    db,
    'findLegalPage',
    { name },
    (given) => db.selectFrom('legal_pages').selectAll().where('name', '=', given.name),
    { legal_pages: [name] },
  )
  return row
}

export const putLegalPage = (db: Db, row: LegalPageRow): Promise<unknown> =>
  db
    .insertInto('legal_pages')
    .values(row)
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ markdown: row.markdown, updatedAt: row.updatedAt }))
    .execute()

export const deleteLegalPage = (db: Db, name: string): Promise<unknown> =>
  db.deleteFrom('legal_pages').where('name', '=', name).execute()
