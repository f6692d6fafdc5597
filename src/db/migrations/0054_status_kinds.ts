import type { Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** Each roadmap says whether its posts are open, planned, active, done or declined. Those that are there say it by their names. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.alterTable('roadmaps').addColumn('kind', text(db), (column) => column.notNull().defaultTo('open')).execute() // prettier-ignore
  for (const { id, name, url } of await db.selectFrom('roadmaps').select(['id', 'name', 'url']).execute()) {
    const kind = kindOf(name) ?? kindOf(url) ?? 'open'
    if (kind !== 'open') await db.updateTable('roadmaps').set({ kind }).where('id', '=', id).execute()
  }
}

/** Of this migration: what new roadmaps are guessed by may change. The first that fits decides. */
const WORDS = [
  ['declined', ['declined', 'rejected', 'wont do', 'wont fix', 'will not do', 'not planned', 'closed', 'cancelled', 'canceled', 'abgelehnt', 'verworfen', 'nicht geplant', 'geschlossen']],
  ['open', ['under review', 'in review', 'under consideration', 'open', 'idea', 'ideas', 'backlog', 'not started', 'in prüfung', 'in pruefung', 'offen', 'idee', 'ideen', 'nicht begonnen']],
  ['planned', ['planned', 'accepted', 'approved', 'next', 'soon', 'todo', 'to do', 'geplant', 'als nächstes', 'als naechstes', 'demnächst', 'demnaechst']],
  ['active', ['in progress', 'in development', 'started', 'underway', 'building', 'wip', 'in arbeit', 'in entwicklung', 'in umsetzung', 'begonnen']],
  ['done', ['done', 'complete', 'completed', 'shipped', 'released', 'live', 'launched', 'erledigt', 'fertig', 'umgesetzt', 'veröffentlicht', 'veroeffentlicht']],
] as const // prettier-ignore

function kindOf(given: string) {
  const words = given.normalize('NFKC').toLowerCase().replaceAll(/['’]/g, '').replaceAll(/[^\p{L}\p{N}]+/gu, ' ').trim() // prettier-ignore
  return WORDS.find(([, some]) => some.some((each) => ` ${words} `.includes(` ${each} `)))?.[0]
}
