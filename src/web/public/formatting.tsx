import type { Text } from '../../core/markdown/index.js'
import { page, type View } from '../kit/page.js'
import { Icon } from '../parts/icon.js'

/** Each has a button below a text that is written; the keys are those of its script. */
const MARKS = [
  { name: 'bold', key: 'B', write: (text: string) => `**${text}**` },
  { name: 'italic', key: 'I', write: (text: string) => `*${text}*` },
  { name: 'code', write: (text: string) => `\`${text}\`` },
  { name: 'link', key: 'K', write: (text: string) => `[${text}](https://example.org)` },
  { name: 'list', write: (text: string) => `- ${text}\n- ${text}` },
  { name: 'quote', write: (text: string) => `> ${text}` },
] as const

/** How to write Markdown: for people, and for the script that makes buttons of it. */
export const formattingPage = page({
  cache: 'visitor',
  isUnlisted: true,
  load: async () => ({}),
  texts: ({ t }) => MARKS.map((mark) => exampleOf(mark, t)),
  title: ({ t }) => t('editor.bar'),
  show(view) {
    const { t } = view
    return (
      <article>
        <h1>{t('editor.bar')}</h1>
        <div class="prose">
          <div class="table" role="group" aria-label={t('editor.bar')} tabIndex={0}>
            <table>
              <thead>
                <tr>
                  <th scope="col">{t('editor.written')}</th>
                  <th scope="col">{t('editor.shown')}</th>
                  <th scope="col">{t('editor.button')}</th>
                </tr>
              </thead>
              <tbody>
                {MARKS.map((mark) => (
                  <tr data-md={mark.name}>
                    <td>
                      <pre dir="auto">
                        <code>{mark.write(t(`editor.${mark.name}`))}</code>
                      </pre>
                    </td>
                    <td dir="auto" dangerouslySetInnerHTML={{ __html: view.html(exampleOf(mark, t)) }} />
                    <td>
                      <Icon name={mark.name} /> <span data-name="">{t(`editor.${mark.name}`)}</span>{' '}
                      {'key' in mark ? <kbd data-key={mark.key}>{t('editor.key', { key: mark.key })}</kbd> : null}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </div>
      </article>
    )
  },
})

const exampleOf = ({ name, write }: (typeof MARKS)[number], t: View['t']): Text => ({
  markdown: write(t(`editor.${name}`)),
  level: 2,
})
