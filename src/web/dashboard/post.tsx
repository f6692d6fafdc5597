import { links } from '../../core/pagelinks.js'
import * as comments from '../../service/comments.js'
import { page, type View } from '../kit/page.js'
import { CommentForm, isSent, repliedTo } from '../parts/commentform.js'
import { Summary } from '../parts/form.js'
import { History } from '../parts/history.js'
import { KeyHelp } from '../parts/keyhelp.js'
import { MergeLink } from '../parts/mergelink.js'
import { CommentPager } from '../parts/pager.js'
import { Person } from '../parts/person.js'
import { isMoved } from '../parts/placeconflict.js'
import { takesComments } from '../parts/taking.js'
import { textOf as commentText, Thread } from '../parts/thread.js'
import { Time } from '../parts/time.js'
import { Top } from '../parts/top.js'
import { bodyOf } from '../parts/wholepost.js'
import { cameFromList, load, linkWithList, type Data } from './postdata.js'
import { HOME as LIST } from './posts.js'
import { Side } from './postside.js'

/** One post, for those who decide about it: what was written, and beside it what can be done. */
export const teamPost = page({
  cache: 'never',
  section: 'posts',
  forms: [comments.create],
  load,
  texts: (_view, { post, list }) => [bodyOf(post), ...list.activity.map(commentText)],
  title: (_view, { post: { title } }) => title,
  show(view, data) {
    const { t, href } = view
    const { post, moves, places, previous, next } = data
    const from = cameFromList(view) ?? LIST
    const back = { to: from, text: t(from.startsWith(LIST) ? 'nav.posts' : 'inbox.title') }
    return (
      <>
        <Top view={view} title={post.title} back={back}>
          <div class="buttons">
            {previous === undefined ? null : (
              <a class="button plain" rel="prev" href={href(previous)} data-key="[">
                {t('teamPost.previous')}
              </a>
            )}
            {next === undefined ? null : (
              <a class="button plain" rel="next" href={href(next)} data-key="]">
                {t('teamPost.next')}
              </a>
            )}
            <KeyHelp view={view} keys={keysOf(view, data)} />
          </div>
        </Top>
        <div class="post-columns">
          <div>
            <article aria-label={post.title}>
              <p class="facts">
                {post.is_spam ? <span class="mark spam">{t('mark.spam')}</span> : null}
                {post.is_held ? <span class="mark">{t('mark.held')}</span> : null}
                <Person view={view} person={post.author} />
                <span>#{post.number}</span>
                <Time view={view} at={post.createdAt} />
              </p>
              {post.contentMarkdown ? (
                <div class="prose" dir="auto" dangerouslySetInnerHTML={{ __html: view.html(bodyOf(post)) }} />
              ) : null}
              <History view={view} slug={post.slug} moves={moves} />
              <Tools view={view} post={post} hasUpdates={places !== undefined} />
            </article>
            <Discussion view={view} {...data} />
          </div>
          <Side view={view} {...data} />
        </div>
      </>
    )
  },
})

/** The keys that lead to something on this page. */
const keysOf = (view: View, { post, places, tags = [], previous, next }: Data) =>
  [
    previous !== undefined && (['[', 'teamPost.previous'] as const),
    next !== undefined && ([']', 'teamPost.next'] as const),
    post.may.includes('update') && (['c', 'action.edit'] as const),
    places !== undefined && places.stages.length > 0 && (['m', 'post.changeStatus'] as const),
    tags.length > (post.tags?.length ?? 0) && (['t', 'posts.addTag'] as const),
    takesComments(view, post) && (['r', 'comment.write'] as const),
    takesComments(view, post) && view.can('comment:create_internal') && (['n', 'comment.writeNote'] as const),
    post.may.includes('delete') && (['#', 'action.delete'] as const),
    ['u', 'shortcuts.undo'] as const, // prettier-ignore
  ].filter((each) => each !== false)

function Tools({ view, post, hasUpdates }: { view: View; post: Data['post']; hasUpdates: boolean }) {
  const { t, href } = view
  const { slug, may } = post
  const to = `?${new URLSearchParams({ to: linkWithList(view, slug) }).toString()}`
  return (
    <div class="tools">
      <a href={href(links.post(slug))}>{t('teamPost.public')}</a>
      {may.includes('update') ? (
        <a href={href(`${links.post(slug)}/edit${to}`)} data-key="c">
          {t('action.edit')}
        </a>
      ) : null}
      {hasUpdates ? <a href={href(`${links.post(slug)}/update${to}`)}>{t('update.post')}</a> : null}
      <MergeLink view={view} post={post} search={to} />
      {may.includes('delete') ? (
        <a href={href(linkWithList(view, slug, '/delete'))} data-key="#">
          {t('action.delete')}
        </a>
      ) : null}
    </div>
  )
}

function Discussion({
  view,
  post,
  list: { activity, total_count: count, total_pages: pages },
  own,
  item,
}: Data & { view: View }) {
  // prettier-ignore
  const { t, query } = view
  const { values } = view.form
  const { slug } = post
  const [path, back] = [linkWithList(view, slug, '/comments'), linkWithList(view, slug)]
  const written = { view, path, slug, post }
  const apart = repliedTo(view, activity)
  const noteTo = apart?.is_internal ? apart : undefined
  const field = (values.parent_id ? `body-${values.parent_id}` : values.is_internal === 'true' ? 'body-note' : 'body') // prettier-ignore
  return (
    <section aria-labelledby="comments">
      <div data-live="comments">
        <h2 id="comments">{count === 0 ? t('comment.title') : t('comment.count', { count })}</h2>
        <CommentPager view={view} pages={pages} to="older" />
        {activity.length > 0 ? (
          <Thread
            view={view}
            slug={slug}
            post={post}
            comments={activity}
            reported={own}
            team={{ back, replies: path, replyTo: query.at }}
          />
        ) : (
          <p class="soft">{t('comment.none')}</p>
        )}
        <CommentPager view={view} pages={pages} to="newer" />
      </div>
      {isMoved(view) ? null : <Summary view={view} fields={{ body: field }} />}
      <CommentForm
        {...written}
        {...(apart?.is_internal === false && { to: apart })}
        kind="public"
        shortcut="r"
        autofocus={query.at === 'reply'}
        keep={query.at === 'reply' && item && item.reasons.length > 0 ? item.updated_at : undefined}
      />
      {(takesComments(view, post) || isSent(view, noteTo?.id, 'note')) && view.can('comment:create_internal') ? (
        <CommentForm
          {...written}
          {...(noteTo && { to: noteTo })}
          kind="note"
          shortcut="n"
          autofocus={query.at === 'note'}
        />
      ) : null}
    </section>
  )
}
