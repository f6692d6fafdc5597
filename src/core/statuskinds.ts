/** What a roadmap says of its posts, in the order of their way: they wait, are planned, are worked on, are done, or will not be done. */
export const STATUS_KINDS = ['open', 'planned', 'active', 'done', 'declined'] as const
export type StatusKind = (typeof STATUS_KINDS)[number]

/** What is still to come. */
export const UNFINISHED: readonly StatusKind[] = ['open', 'planned', 'active']

/** Whole words of names, in the languages of the pages. The first that fits decides: "nicht geplant" is declined. */
const WORDS: readonly (readonly [StatusKind, readonly string[]])[] = [
  ['declined', ['declined', 'rejected', 'wont do', 'wont fix', 'will not do', 'not planned', 'closed', 'cancelled', 'canceled', 'abgelehnt', 'verworfen', 'nicht geplant', 'geschlossen']],
  ['open', ['under review', 'in review', 'under consideration', 'open', 'idea', 'ideas', 'backlog', 'not started', 'in prüfung', 'in pruefung', 'offen', 'idee', 'ideen', 'nicht begonnen']],
  ['planned', ['planned', 'accepted', 'approved', 'next', 'soon', 'todo', 'to do', 'geplant', 'als nächstes', 'als naechstes', 'demnächst', 'demnaechst']],
  ['active', ['in progress', 'in development', 'started', 'underway', 'building', 'wip', 'in arbeit', 'in entwicklung', 'in umsetzung', 'begonnen']],
  ['done', ['done', 'complete', 'completed', 'shipped', 'released', 'live', 'launched', 'erledigt', 'fertig', 'umgesetzt', 'veröffentlicht', 'veroeffentlicht']],
] // prettier-ignore

/** What a new roadmap says where nobody chose it, by its name: "🚀 Shipped" is done. What no word tells is open. */
export function guessedKind(name: string): StatusKind {
  const words = name.normalize('NFKC').toLowerCase().replaceAll(/['’]/g, '').replaceAll(/[^\p{L}\p{N}]+/gu, ' ').trim() // prettier-ignore
  return WORDS.find(([, some]) => some.some((each) => ` ${words} `.includes(` ${each} `)))?.[0] ?? 'open'
}
