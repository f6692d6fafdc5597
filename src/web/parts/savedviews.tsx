import { links } from '../../core/pagelinks.js'
import type { ViewInput } from '../../service/lib/views.js'
import { create, type View as SavedView } from '../../service/views.js'
import { withQuery } from '../kit/addresses.js'
import type { View } from '../kit/page.js'
import { Check, Field, Form, Hidden, Submit } from './form.js'
import { queryOf } from './postquery.js'

interface SavedProps {
  view: View
  path: string
  saved: readonly SavedView[]
  /** The one at this address. */
  opened: SavedView | undefined
  filter: ViewInput
}

/** The views that a person may open, and a form that saves what is shown as another. */
export function SavedViews({ view, path, saved, opened, filter }: SavedProps) {
  const { t, href } = view
  return (
    <details class="picks views" open={view.form.values.name !== undefined && view.form.error !== undefined}>
      <summary class="button plain">{opened ? t('views.opened', { name: opened.name }) : t('views.title')}</summary>
      <div>
        {saved.length === 0 ? <p class="soft">{t('views.none')}</p> : null}
        <ul>
          {saved.map(({ viewId, name, shared }) => (
            <li>
              <a
                href={href(withQuery(path, { view: name }))}
                aria-current={viewId === opened?.viewId ? 'true' : undefined}
              >
                <bdi>{name}</bdi>
              </a>
              {shared ? <span class="mark">{t('views.shared')}</span> : null}
            </li>
          ))}
        </ul>
        <Form view={view} to={`${path}/views${view.url.slice(view.path.length)}`}>
          {Object.entries(queryOf(filter)).flatMap(([name, value]) =>
            (Array.isArray(value) ? value : [value]).map((each) => <Hidden name={name} value={each} />),
          )}
          <Field view={view} of={create} name="name" label={t('views.name')} required autocomplete="off" />
          <Check view={view} name="shared" label={t('views.share')} />
          <Submit kind="plain">{t('views.save')}</Submit>
        </Form>
        {opened?.may.includes('update') ? (
          <a href={href(links.viewForm(opened.viewId, 'settings'))}>{t('views.change', { name: opened.name })}</a>
        ) : null}
      </div>
    </details>
  )
}
