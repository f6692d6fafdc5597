import { isLegalPage, LEGAL_PAGES } from '../../core/legal.js'
import * as service from '../../service/legal.js'
import { links } from '../kit/links.js'
import { action, page } from '../kit/page.js'
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
            <Form view={view} to={`${PATH}/${name}`} class="settings-form" data-unsaved="">
              <Version view={form} version={version} fresh={PATH} />
              <Field
                view={form}
                of={service.set}
                name="markdown"
                id={`field-${name}`}
                label={t(`legal.${name}`)}
                hint={
                  markdown === null ? (
                    t('legal.hint')
                  ) : (
                    <>
                      {t('legal.hint')} <a href={view.href(links.legal(name))}>{t('legal.show')}</a>
                    </>
                  )
                }
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

export const save = action({
  operation: service.set,
  page: async () => legalPages,
  input: ({ params: { name = '' } }, { markdown }) => ({
    ...(isLegalPage(name) && { name }),
    markdown: markdown ?? '',
  }),
  done: () => ({ to: PATH, flash: 'saved' }),
})
