import type { Key } from '../../core/catalogue.js'
import { links } from '../../core/pagelinks.js'
import * as comments from '../../service/comments.js'
import type * as service from '../../service/moderation.js'
import { move as movePosts } from '../../service/postmoves.js'
import { withParameters, withQuery } from '../kit/addresses.js'
import type { View } from '../kit/page.js'
import { Marked } from '../parts/marked.js'
import { anchorOf } from './unmet.js'

interface Props {
  view: View
  item: service.Item
}

/** The earlier post that it most likely repeats, and where that is if others see it than those who see this one. */
export function Repeats({ view: { t, href }, item: { repeats } }: Props) {
  if (!repeats) return null
  const { board, is_private: isPrivate, is_held: isHeld, is_mergeable: isMergeable } = repeats
  return (
    <p class="soft">
      {t('inbox.repeats', { number: repeats.number })}:{' '}
      <a href={href(links.post(repeats.slug))}>
        <bdi>
          <Marked text={repeats.title} words={repeats.words} />
        </bdi>
      </a>
      {isMergeable || !board ? null : (
        <>
          {' '}
          <a href={href(links.board(board.url))}>
            <bdi>{board.name}</bdi>
          </a>
        </>
      )}
      {isMergeable || !isPrivate ? null : (
        <>
          {' '}
          <span class="mark">{t('mark.private')}</span>
        </>
      )}
      {isHeld ? (
        <>
          {' '}
          <span class="mark">{t('mark.held')}</span>
        </>
      ) : null}
    </p>
  )
}

/**
 * One button merges into the earlier post; where others see that one, a link leads to the page that asks.
 */
export function MergeButton({ view, item, to }: Props & { to: string }) {
  const { repeats, post } = item
  if (!repeats || repeats.is_held || !item.may.includes('merge')) return null
  const page = `${links.post(post.slug)}/merge`
  if (!repeats.is_mergeable)
    return (
      <a class="button plain" href={view.href(withQuery(page, { to }))} data-key="i">
        {view.t('action.merge')}
      </a>
    )
  return (
    <button
      type="submit"
      class="button plain"
      formaction={view.href(withQuery(page, { to, seen: item.updated_at }))}
      name="into"
      value={repeats.number}
      data-key="i"
    >
      {view.t('inbox.mergeInto', { number: repeats.number })}
    </button>
  )
}

/** This list at a row. */
export const placeOf = (view: View, id: string | undefined): string =>
  withParameters(view.url, {}) + (id === undefined ? '' : `#${anchorOf(id)}`)

/** The page of the team about what waits, which leads back to the list. */
export const pageOf = ({ id, kind, post }: service.Item, from: string): string =>
  withQuery(links.teamPost(post.slug), { from }, kind === 'comment' ? `comment-${id}` : undefined)

interface WaysProps extends Props {
  next: string | undefined
}

const way = ({ t, href }: View, key: string, label: Key, to: string) => (
  <a class="button plain" href={href(to)} data-key={key}>
    {t(label)}
  </a>
)

const at = ({ post }: service.Item, place: string, from: string) =>
  withQuery(links.teamPost(post.slug), { from, at: place })

/** Leads to the field or the question, and back to the row that is next. */
export function Ways({ view, item, next }: WaysProps) {
  const { id, kind, post } = item
  const isPost = kind === 'post'
  const go = placeOf(view, next)
  return (
    <>
      {item.may.includes('merge') && (!item.repeats || item.repeats.is_held) ? (
        way(view, 'i', 'action.merge', withQuery(`${links.post(post.slug)}/merge`, { to: go }))
      ) : (
        <MergeButton view={view} item={item} to={go} />
      )}
      {view.may(comments.create) ? way(view, 'r', 'comment.reply', at(item, isPost ? 'reply' : id, go)) : null}
    </>
  )
}

/** What is done less often; undefined where that is nothing. */
export function moreWays({ view, item, next, hasStatus }: WaysProps & { hasStatus: boolean }) {
  const { id, kind, may, post } = item
  const isPost = kind === 'post'
  const [stay, go] = [placeOf(view, id), placeOf(view, next)]
  const remove = isPost
    ? withQuery(`${links.teamPost(post.slug)}/delete`, { from: go, at: 'delete' })
    : withQuery(`${links.comment(post.slug, id)}/delete`, { to: go })
  const found = [
    view.can('comment:create_internal') ? way(view, 'n', 'comment.writeNote', at(item, 'note', stay)) : null,
    isPost && !hasStatus && view.may(movePosts) ? way(view, 'm', 'filter.roadmap', at(item, 'status', stay)) : null,
    may.includes('delete') ? way(view, '#', 'action.delete', remove) : null,
  ].filter((each) => each !== null)
  return found.length > 0 ? <>{found}</> : undefined
}
