import { newId } from '../../src/core/ids.js'
import type { TestSite } from './site.js'

/** Adds boards named `Board 0` and so on, a millisecond apart: faster than one by one. */
export async function addBoards({ db }: Pick<TestSite, 'db'>, from: number, to: number): Promise<void> {
  const rows = Array.from({ length: to - from }, (_, index) => {
    const [name, createdAt] = [`Board ${from + index}`, new Date(Date.UTC(2026, 0, 1) + from + index).toISOString()]
    const row = { boardId: newId(), name, url: `board-${from + index}`, color: '336699', display: 1, view_voters: 1 }
    return { ...row, nameFolded: name.toLowerCase(), createdAt, updatedAt: createdAt }
  })
  for (let start = 0; start < rows.length; start += 500)
    await db
      .insertInto('boards')
      .values(rows.slice(start, start + 500))
      .execute()
}
