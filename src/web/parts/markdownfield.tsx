import { links } from '../../core/pagelinks.js'
import { editorScript } from '../kit/assets.js'
import type { View } from '../kit/page.js'
import { Field } from './form.js'

type MarkdownFieldProps = Omit<Parameters<typeof Field>[0], 'hint'> & {
  rows: number
  /** A page with many such fields has one link to the page about Markdown, at the first of them. */
  isRepeated?: boolean
  /** A sentence before the link. */
  note?: string
}

/** A text area for Markdown. A script puts buttons below it that write the marks. */
export const MarkdownField = ({ isRepeated = false, note, ...field }: MarkdownFieldProps) => (
  <Field {...field} hint={isRepeated ? undefined : [note, ' ', <MarkdownHint view={field.view} />]} />
)

/** Leads to the page about Markdown. The script of the buttons takes their names from that page. */
const MarkdownHint = ({ view: { t, href } }: { view: View }) => (
  <a href={href(links.formatting)} target="_blank" data-script={href(editorScript.path)}>
    {t('form.markdown')}
  </a>
)
