import { isLegalPage, LEGAL_PAGES, type LegalPage } from '../../core/legal.js'
import { links } from '../../core/pagelinks.js'
import * as service from '../../service/legal.js'
import { action, page, type View } from '../kit/page.js'
import { Field, Form, Submit, Summary } from '../parts/form.js'
import { FormsScript } from '../parts/formsscript.js'
import { Top } from '../parts/top.js'
import { Version } from '../parts/version.js'

const PATH = '/dashboard/settings/legal'

/** The legal pages, each in its own form. */
export const legalPages = page({
  cache: 'never',
  section: 'legal',
  async load(view) {
    const found = []
    for (const name of LEGAL_PAGES) found.push(await view.call(service.show, { name }))
    return found
  },
  title: ({ t }) => t('legal.title'),
  show(view, found) {
    const { t } = view
    const unsent = { ...view, form: { values: {}, error: undefined } }
    return (
      <>
        <Top view={view} title={t('legal.title')} />
        <p>{t('legal.explained')}</p>
        <FormsScript view={view} />
        <Summary view={view} fields={{ markdown: view.params.name ?? '' }} />
        {found.map(({ page: { name, markdown }, version }) => {
          const form = view.params.name === name ? view : unsent
          return (
            <Form view={view} to={links.legalForm(name)} class="settings-form" data-unsaved="">
              <Version view={form} version={version} fresh={PATH} />
              <Field
                view={form}
                of={service.set}
                name="markdown"
                id={`field-${name}`}
                label={t(`legal.${name}`)}
                hint={<Hint view={view} name={name} isThere={markdown !== null} />}
                rows={12}
                value={markdown ?? ''}
              />
              <Submit>{t('form.save')}</Submit>
            </Form>
          )
        })}
      </>
    )
  },
})

/** The public address of the page. */
function Hint({ view, name, isThere }: { view: View; name: LegalPage; isThere: boolean }) {
  const { t, href, absolute } = view
  const address = absolute(links.legal(name))
  return (
    <>
      {t('legal.hint')}{' '}
      {isThere ? (
        <a href={href(links.legal(name))}>
          <code>{address}</code>
        </a>
      ) : (
        t('legal.address', { address })
      )}
    </>
  )
}

export const save = action({
  operation: service.set,
  page: async () => legalPages,
  input: ({ params: { name = '' } }, { markdown }) => ({
    ...(isLegalPage(name) && { name }),
    markdown: markdown ?? '',
  }),
  done: () => ({ to: PATH, flash: 'saved' }),
})
