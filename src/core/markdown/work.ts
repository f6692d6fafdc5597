import { escapeAll, escapeHtml } from './escape.js'
import { htmlOf, plainHtmlOf, type Text } from './html.js'

/** What takes long for some texts. Parsers of Markdown are quadratic in places. */
export type Work = { escape: string } | { render: Text }

export const done = (work: Work): string => ('escape' in work ? escapeHtml(work.escape) : htmlOf(work.render))

/** What is safe to show or to store instead, where the work takes too long. */
export const givenUp = (work: Work): string =>
  'escape' in work ? escapeAll(work.escape) : plainHtmlOf(work.render.markdown)
