import type { TObject } from 'typebox'
import { parse } from '../../core/fields.js'
import type { Text } from '../../core/markdown/index.js'
import type { Fields, LiveView, View } from '../kit/page.js'

/** The text of a form, where its page shows it as it will look. A post stands below a title, a comment below one more. */
export const previewOf = (
  { form }: Pick<View, 'form'>,
  name: 'contentMarkdown' | 'body' | 'message',
): readonly Text[] =>
  form.values.preview === undefined || form.error
    ? []
    : [{ markdown: form.values[name] ?? '', level: name === 'contentMarkdown' ? 2 : 3 }]

/** Visitors may ask for it, and to make HTML of Markdown takes longer than most pages. */
export async function admitPreview(view: LiveView, of: { input: TObject }, fields: Fields): Promise<void> {
  parse(of.input, fields)
  await view.guard('preview', () => Promise.resolve())
}

/** A text of a form as it will look. A script puts it into the form without leaving the page. */
export const Preview = ({ view, text }: { view: View; text: Text | undefined }) =>
  text === undefined ? null : (
    <section class="preview" tabIndex={-1} autofocus>
      <h2>{view.t('post.preview')}</h2>
      <div class="prose" dir="auto" dangerouslySetInnerHTML={{ __html: view.html(text) }} />
    </section>
  )

/** Asks for it. A post may have no title yet; a comment is nothing without its text. */
export const PreviewButton = ({ view, mayBeUnfinished = false }: { view: View; mayBeUnfinished?: boolean }) => (
  <button type="submit" class="button plain" name="preview" value="text" formnovalidate={mayBeUnfinished}>
    {view.t('post.preview')}
  </button>
)
