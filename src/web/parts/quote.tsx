import type { View } from '../kit/page.js'
import { excerptCached } from '../../core/markdown/excerpt.js'
import { Person } from './person.js'

interface QuoteProps {
  view: View
  person: Parameters<typeof Person>[0]['person']
  /** Markdown. */
  text: string | null | undefined
}

/** The beginning of a post or comment, where its page asks what to do with it. */
export const Quote = ({ view, person, text }: QuoteProps) => (
  <figure class="quote">
    <figcaption class="facts">
      <Person view={view} person={person} />
    </figcaption>
    {text ? <blockquote dir="auto">{excerptCached(text)}</blockquote> : null}
  </figure>
)
