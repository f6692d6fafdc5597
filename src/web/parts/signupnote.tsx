import type { Text } from '../../core/markdown/index.js'
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
