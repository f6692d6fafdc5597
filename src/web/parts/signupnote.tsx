import type { LegalPage } from '../../core/legal.js'
import type { Text } from '../../core/markdown/index.js'
import { links } from '../../core/pagelinks.js'
import type { View } from '../kit/page.js'

const textOf = (markdown: string): Text => ({ markdown, level: 2 })

/** The text of the note, for the `texts` of a page. */
export const noteTexts = ({ settings: { signupNote } }: View): Text[] =>
  signupNote === null ? [] : [textOf(signupNote)]

/** What people agree to, where they choose their first password. */
export const SignupNote = ({ view }: { view: View }) =>
  view.settings.signupNote === null ? null : (
    <div
      class="prose field"
      dir="auto"
      dangerouslySetInnerHTML={{ __html: view.html(textOf(view.settings.signupNote)) }}
    />
  )

/** Says that people accept the terms and the privacy policy by signing up. Leaves out a page that the note links to. */
export function Accepted({ view: { t, href, legal, settings } }: { view: View }) {
  const isLinked = (name: LegalPage) => new RegExp(`${links.legal(name)}(?![\\w-])`).test(settings.signupNote ?? '')
  const isNamed = (name: LegalPage) => legal.includes(name) && !isLinked(name)
  const [terms, privacy] = [isNamed('terms'), isNamed('privacy')]
  if (!terms && !privacy) return null
  const sentence = t(terms && privacy ? 'join.acceptBoth' : terms ? 'join.acceptTerms' : 'join.acceptPrivacy', {
    terms: '\0terms\0',
    privacy: '\0privacy\0',
  })
  return (
    <p class="field sentence">
      {sentence.split('\0').map((part, index) => {
        if (index % 2 === 0) return part
        const name = part === 'terms' ? 'terms' : 'privacy'
        return <a href={href(links.legal(name))}>{t(`legal.${name}`)}</a>
      })}
    </p>
  )
}
