import { AppError } from '../../core/errors.js'
import { links } from '../../core/pagelinks.js'
import * as comments from '../../service/comments.js'
import * as moderation from '../../service/moderation.js'
import { move as movePosts } from '../../service/postmoves.js'
import * as posts from '../../service/posts.js'
import { tag as tagPosts } from '../../service/posttags.js'
import * as votes from '../../service/votes.js'
import { withParameters } from '../kit/addresses.js'
import { listed } from '../kit/fields.js'
import { action, page, Redirect, type LiveView, type Outcome, type View } from '../kit/page.js'
import { commentPreview } from '../parts/commentpreview.js'
import { Confirm } from '../parts/confirm.js'
import { named } from '../parts/namefield.js'
import { Quote } from '../parts/quote.js'
import { lossOf } from '../parts/wholepost.js'
import { decides } from './decisions.js'
import { teamPost } from './post.js'
import { cameFromList, linkWithList } from './postdata.js'
import { HOME as LIST } from './posts.js'

const formOf = async () => teamPost
const listOf = (view: View): string => cameFromList(view) ?? LIST

/** Back to the post, or to the list for whoever came for this alone. */
const back = (view: View, fragment = ''): string =>
  view.query.at !== undefined && cameFromList(view) !== undefined
    ? listOf(view)
    : withParameters(linkWithList(view, view.params.slug ?? ''), { at: undefined, page: undefined }) + fragment

/** Who may not see what is hidden as spam goes on with the list. */
export const decide = decides(formOf, 'posts', (view, to, verb) =>
  verb === 'keep' || view.can('board:read') ? to : withParameters(listOf(view), {}),
)

/** To another status, or another board. */
export const move = action({
  operation: movePosts,
  page: formOf,
  input: ({ params }, { roadmapId, boardId, quiet, ifRoadmapId, ifBoardId }) => ({
    ids: [params.slug],
    ...(roadmapId !== undefined && { roadmapId: roadmapId || null }),
    ...(boardId !== undefined && { boardId: boardId || null }),
    ...(quiet && { quiet: quiet === 'true' }),
    ...(ifRoadmapId && { ifRoadmapId }),
    ...(ifBoardId && { ifBoardId }),
  }),
  done(view, { outcomes: [{ error } = {}], changed, undo }, { roadmapId }): Outcome {
    if (error?.code === 'CONTENT_CHANGED') throw new AppError(error.code, error.message)
    if (error) return { to: listOf(view), flash: 'decidedNone' }
    const flash = roadmapId === undefined ? ({ flash: 'postsChanged', count: changed } as const) : 'statusSet'
    return { to: back(view), flash, undo: undo?.undo_id }
  },
})

/** Pins and locks the post. */
export const setRules = action({
  operation: posts.update,
  page: formOf,
  input: ({ params }, { pinned, locked, ifUpdatedAt }) => ({
    id: params.slug,
    partial: true,
    pinned: pinned === 'true',
    locked,
    ...(ifUpdatedAt && { ifUpdatedAt }),
  }),
  done: (view) => ({ to: back(view), flash: 'saved' }),
})

/** More tags, or fewer. */
export const tag = action({
  operation: tagPosts,
  page: formOf,
  many: ['add', 'remove'],
  input: ({ params }, { add, remove }) => ({ ids: [params.slug], add: listed(add), remove: listed(remove) }),
  done(view, { outcomes, undo }): Outcome {
    const [{ error } = {}] = outcomes
    if (error?.code === 'POST_TAG_LIMIT') throw new AppError(error.code, error.message)
    if (error) return { to: listOf(view), flash: 'decidedNone' }
    return { to: back(view, '#tags'), flash: 'tagsChanged', undo: undo?.undo_id }
  },
})

/** Keeps an item that was answered. Returns false if that is refused, for example after a change: the item stays in the queue. */
async function keepAnswered(view: LiveView, id: string | undefined, seen: string): Promise<boolean> {
  try {
    await view.call(moderation.decide, { id: id ?? '', decision: 'keep', if_updated_at: seen, if_waiting: true })
    return true
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return false
    throw error
  }
}

export const comment = action({
  operation: comments.create,
  images: 'body',
  page: formOf,
  before: async (view, form) =>
    form.preview === undefined
      ? named(view, form)
      : commentPreview(view, form, { path: linkWithList(view, view.params.slug ?? '', '/comments'), isTeam: true }),
  input: ({ params }, { body = '', parent_id, is_internal }) => ({
    post_id: params.slug,
    body,
    ...(parent_id && { parent_id }),
    ...(is_internal === 'true' && { is_internal: true }),
  }),
  async done(view, { activity: { id, comment: written } }, { parent_id: parent, keep }) {
    const to = back(view, `#comment-${id}`)
    if (keep && (await keepAnswered(view, parent || view.params.slug, keep))) return { to, flash: 'commentedKept' }
    return { to, flash: written.is_internal ? 'noted' : 'commented' }
  },
})

const voteOf = ({ params }: View, { user_id: user = '' }: Record<string, string | undefined>) => ({
  post_id: params.slug,
  user_id: user.trim(),
})

export const vote = action({
  operation: votes.assign,
  page: formOf,
  input: voteOf,
  done: (view) => ({ to: back(view, '#voters'), flash: 'voteAdded' }),
})

export const unvote = action({
  operation: votes.unassign,
  page: formOf,
  input: voteOf,
  done: (view) => ({ to: back(view, '#voters'), flash: 'voteRemoved' }),
})

export const deletePost = page({
  cache: 'never',
  section: 'posts',
  async load(view) {
    const { post } = await view.call(posts.show, { id: view.params.slug })
    if (!post.may.includes('delete')) throw new Redirect(linkWithList(view, post.slug))
    const { total_count: count } = await view.call(comments.list, { post_id: post.postId, limit: 1 })
    return { post, count }
  },
  title: ({ t }, { post: { title } }) => t('post.delete', { title }),
  show: (view, { post: { title, slug, author, contentMarkdown, voters }, count }) => (
    <Confirm
      view={view}
      to={`${links.post(slug)}/delete`}
      back={linkWithList(view, slug)}
      title={view.t('post.delete', { title })}
      action={view.t('action.delete')}
      quote={<Quote view={view} person={author} text={contentMarkdown} />}
      next={listOf(view)}
    >
      {lossOf(view, voters, count)}
    </Confirm>
  ),
})
