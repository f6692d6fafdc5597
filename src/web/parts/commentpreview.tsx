import * as comments from '../../service/comments.js'
import { notAllowed } from '../../service/lib/access.js'
import * as posts from '../../service/posts.js'
import type { Fields, LiveView } from '../kit/page.js'
import { CommentForm } from './commentform.js'
import { admitPreview, previewOf } from './preview.js'

interface Place {
  /** Where the form is sent. */
  path: string
  /** Whether the form is one of two, for comments and for notes. */
  isTeam?: boolean
}

/** A comment as it will look, and its form once more. A script takes the first, and leaves the form where it is. */
export async function commentPreview(view: LiveView, form: Fields, { path, isTeam = false }: Place) {
  const { t, params } = view
  const { body = '', parent_id: parent, is_internal: isInternal, keep } = form
  if (isTeam && !view.can('dashboard:read')) throw notAllowed(['dashboard:read'])
  await admitPreview(view, comments.create, { post_id: params.slug, body, ...(parent && { parent_id: parent }) })
  const { post } = await view.call(posts.show, { id: params.slug }) // or there is nothing to comment on
  const to = parent ? (await view.call(comments.show, { comment_id: parent })).activity : undefined
  const kind = isTeam && !to ? (isInternal === 'true' ? 'note' : 'public') : undefined
  const title = t(kind === 'note' ? 'comment.writeNote' : to ? 'comment.writeReply' : 'comment.write')
  return {
    title,
    ...(isTeam && { section: 'posts' as const }),
    texts: previewOf(view, 'body'),
    show: (
      <>
        <h1>{title}</h1>
        <CommentForm
          view={view}
          path={path}
          slug={params.slug ?? ''}
          keep={keep}
          post={post}
          {...(kind && { kind })}
          {...(to && { to: { id: to.id, is_internal: to.comment.is_internal } })}
        />
      </>
    ),
  }
}
