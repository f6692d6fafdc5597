import * as Type from 'typebox'
import type { ToldView } from '../../db/notifications.js'

/** How many people were told of something, in which ways, and what became of it. */
export const counts = {
  people: Type.Integer({ description: 'How many were told' }),
  page: Type.Integer({ description: 'Of them on their page of notifications' }),
  mail: Type.Integer({ description: 'By a mail at once' }),
  digest: Type.Integer({ description: 'In their next digest' }),
  mailed: Type.Integer({ description: 'Mails about it that were written so far' }),
  read: Type.Integer({ description: 'How many have read it on their page' }),
}

/** What several kinds of one event told, together. */
export function countsOf(rows: readonly Pick<ToldView, 'people' | 'page' | 'now' | 'digest' | 'mailed' | 'read'>[]) {
  const sum = (column: 'people' | 'page' | 'now' | 'digest' | 'mailed' | 'read') => rows.reduce((total, row) => total + row[column], 0) // prettier-ignore
  const [people, page, mail, digest] = [sum('people'), sum('page'), sum('now'), sum('digest')]
  return { people, page, mail, digest, mailed: sum('mailed'), read: sum('read') }
}
