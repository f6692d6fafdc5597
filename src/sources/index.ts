import type { Source } from './source.js'

/** The products that can be imported from, by the word that the command takes. */
export const SOURCES = {
  csv: () => import('./csv.js').then(({ csv }) => csv),
  records: () => import('./records.js').then(({ records }) => records),
} as const satisfies Record<string, () => Promise<Source>>
export type SourceName = keyof typeof SOURCES
export const SOURCE_NAMES = Object.keys(SOURCES) as SourceName[]
