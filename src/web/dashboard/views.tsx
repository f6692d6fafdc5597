import * as service from '../../service/views.js'
import { withQuery } from '../kit/addresses.js'
import { action, page } from '../kit/page.js'
import { Confirm } from '../parts/confirm.js'

const POSTS = '/dashboard/posts'

export const deleteView = page({
  cache: 'never',
  section: 'posts',
  load: async (view) => (await view.call(service.show, { view: view.params.view })).view,
  title: ({ t }, { name }) => t('views.deleteTitle', { name }),
  show: (view, { viewId, name, shared }) => (
    <Confirm
      view={view}
      to={`/dashboard/views/${encodeURIComponent(viewId)}/delete`}
      back={withQuery(POSTS, { view: name })}
      title={view.t('views.deleteTitle', { name })}
      action={view.t('views.deleteSend')}
    >
      {view.t(shared ? 'views.deleteShared' : 'views.deleteOwn')}
    </Confirm>
  ),
})

export const remove = action({
  operation: service.remove,
  page: async () => deleteView,
  input: ({ params }) => ({ view: params.view }),
  done: () => ({ to: POSTS, flash: 'deleted' }),
})
