import { escapeAll, escapeHtml } from './escape.js'
import { htmlOf, plainHtmlOf, type Text } from './html.js'
import { mentionsOf } from './mentions.js'

/** What takes long for some texts. Parsers of Markdown are quadratic in places. */
export type Work = { escape: string } | { mentions: string } | { render: Text }

export function done(work: Work): string {
  if ('mentions' in work) return mentionsOf(work.mentions).join(' ')
  return 'escape' in work ? escapeHtml(work.escape) : htmlOf(work.render)
}

/** What is safe to show or to store instead, where the work takes too long. */
export function givenUp(work: Work): string {
  if ('mentions' in work) return ''
  return 'escape' in work ? escapeAll(work.escape) : plainHtmlOf(work.render.markdown)
}
