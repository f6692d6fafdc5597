import { links } from '../../core/pagelinks.js'
import * as service from '../../service/views.js'
import { withQuery } from '../kit/addresses.js'
import { listed } from '../kit/fields.js'
import { action, page, Redirect, type LiveView } from '../kit/page.js'
import { Confirm } from '../parts/confirm.js'
import { Check, Field, Form, Submit, Summary } from '../parts/form.js'
import { askedOf } from '../parts/postquery.js'
import { Top } from '../parts/top.js'
import { Version } from '../parts/version.js'
import { HOME as POSTS, postsPage } from './posts.js'

/** The view, for those who may change it so. Others are led to what it shows. */
async function changedAt(view: LiveView, what: 'update' | 'delete') {
  const shown = await view.call(service.show, { view: view.params.view })
  const { may, name } = shown.view
  if (!may.includes(what) && !view.form.error) throw new Redirect(withQuery(POSTS, { view: name }))
  return shown
}

/** Its name, and who sees it. Its filter is changed by saving another view. */
export const viewSettings = page({
  cache: 'never',
  section: 'posts',
  load: (view) => changedAt(view, 'update'),
  title: ({ t }, { view: { name } }) => t('views.opened', { name }),
  show(view, { view: { viewId, name, shared, may }, version }) {
    const { t } = view
    return (
      <>
        <Top
          view={view}
          title={t('views.opened', { name })}
          back={{ to: withQuery(POSTS, { view: name }), text: t('nav.posts') }}
        />
        <Summary view={view} />
        <Form view={view} to={links.viewForm(viewId, 'settings')} class="narrow settings-form">
          <Version view={view} version={version} fresh={links.viewForm(viewId, 'settings')} />
          <Field view={view} of={service.update} name="name" label={t('views.name')} value={name} required />
          <Check
            view={view}
            name="shared"
            label={t('views.share')}
            checked={shared}
            isSent={view.form.values.name !== undefined}
          />
          <div class="buttons">
            <Submit>{t('form.save')}</Submit>
            {may.includes('delete') ? (
              <a class="danger" href={view.href(links.viewForm(viewId, 'delete'))}>
                {t('views.deleteSend')}
              </a>
            ) : null}
          </div>
        </Form>
      </>
    )
  },
})

export const deleteView = page({
  cache: 'never',
  section: 'posts',
  load: (view) => changedAt(view, 'delete'),
  title: ({ t }, { view: { name } }) => t('views.deleteTitle', { name }),
  show: (view, { view: { viewId, name, shared } }) => (
    <Confirm
      view={view}
      to={links.viewForm(viewId, 'delete')}
      back={withQuery(POSTS, { view: name })}
      title={view.t('views.deleteTitle', { name })}
      action={view.t('views.deleteSend')}
    >
      {view.t(shared ? 'views.deleteShared' : 'views.deleteOwn')}
    </Confirm>
  ),
})

export const update = action({
  operation: service.update,
  page: async () => viewSettings,
  input: ({ params }, { name, shared }) => ({ view: params.view, name, shared: shared === 'true' }),
  done: (_view, { view: { name } }) => ({ to: withQuery(POSTS, { view: name }), flash: 'saved' }),
})

export const remove = action({
  operation: service.remove,
  page: async () => deleteView,
  input: ({ params }) => ({ view: params.view }),
  done: () => ({ to: POSTS, flash: 'deleted' }),
})

/** The filters of an address that may be there several times. */
const LISTED = ['board', 'roadmap', 'kind', 'tag', 'tags', 'untagged'] as const

export const saveView = action({
  operation: service.create,
  page: async () => postsPage,
  many: [...LISTED],
  fields: {
    q: 'query',
    board: 'boardId',
    roadmap: 'roadmapIds',
    kind: 'statusKind',
    tag: 'tags',
    author: 'authorId',
    by: 'mine',
  },
  input: (
    _view,
    { name, shared, q, author, since, until, recent, waiting, pinned, spam, by, voted, following, sort, ...lists },
  ) => ({
    name,
    shared: shared === 'true',
    ...askedOf({
      query: Object.fromEntries(Object.entries({ q, author, since, until, recent, waiting, pinned, spam, by, voted, following, sort }).filter((each): each is [string, string] => each[1] !== undefined)), // prettier-ignore
      queried: (field) => listed(lists[field]),
    }),
  }),
  done: (_view, { view: { name } }) => ({ to: withQuery(POSTS, { view: name }), flash: 'viewSaved' }),
})
