import type { Source } from './source.js'

/** The products that can be imported from, by the word that the command takes. */
export const SOURCES = {
  astuto: () => import('./astuto.js').then(({ astuto }) => astuto),
  canny: () => import('./canny.js').then(({ canny }) => canny),
  clearflask: () => import('./clearflask.js').then(({ clearflask }) => clearflask),
  csv: () => import('./csv.js').then(({ csv }) => csv),
  fider: () => import('./fider.js').then(({ fider }) => fider),
  github: () => import('./github.js').then(({ github }) => github),
  logchimp: () => import('./logchimp.js').then(({ logchimp }) => logchimp),
  quackback: () => import('./quackback.js').then(({ quackback }) => quackback),
  records: () => import('./records.js').then(({ records }) => records),
  uservoice: () => import('./uservoice.js').then(({ uservoice }) => uservoice),
} as const satisfies Record<string, () => Promise<Source>>
export type SourceName = keyof typeof SOURCES
export const SOURCE_NAMES = Object.keys(SOURCES) as SourceName[]
