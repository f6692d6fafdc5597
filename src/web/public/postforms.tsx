import { AppError } from '../../core/errors.js'
import { links } from '../../core/pagelinks.js'
import { LIKELY, RELATED } from '../../core/search/likely.js'
import { unescaped } from '../../core/text.js'
import type { SimilarReason } from '../../service/lib/similarreasons.js'
import type { Post } from '../../service/lib/postshapes.js'
import { titleMissing } from '../../service/lib/posttitles.js'
import * as service from '../../service/posts.js'
import { cameFrom } from '../kit/addresses.js'
import { AnswerTitle } from '../parts/answertitle.js'
import { boardsWith, roadmapsWith } from '../parts/lists.js'
import { action, page, Redirect, type Fields, type LiveView, type View } from '../kit/page.js'
import { teamFrame } from '../kit/teamframe.js'
import { asksForBoards, boardText } from '../parts/boardfield.js'
import { Summary } from '../parts/form.js'
import { PostForm } from '../parts/postform.js'
import { PostList } from '../parts/postlist.js'
import { admitPreview, previewOf } from '../parts/preview.js'
import { named } from '../parts/namefield.js'
import { Stored, versionOf } from '../parts/stored.js'
import { takesPosts } from '../parts/taking.js'
import { postAt } from './posts.js'

/** The choices of a form, with those that are chosen. */
const placesOf = async (view: View, board = view.form.values.boardId, roadmap = view.form.values.roadmapId) => ({
  boards: await boardsWith(view, board, boardText(view)).catch(() => boardsWith(view)),
  roadmaps: view.can('post:update') ? await roadmapsWith(view, roadmap).catch(() => roadmapsWith(view)) : undefined,
})

/**
 * Posts like one with this title, for those who are signed in. They are help: nobody is kept from writing by the limit of
 * them.
 */
async function similarTo(
  view: LiveView,
  title: string,
): Promise<{ posts: readonly Post[]; reasons?: readonly SimilarReason[] } | undefined> {
  if (!view.viewer) return undefined
  if (title.trim() === '') return { posts: [] }
  try {
    const { posts, reasons } = await view.call(service.similar, { title })
    const likely = reasons.filter(({ score }) => score >= LIKELY)
    return { posts: posts.slice(0, likely.length), reasons: likely } // the most alike first
  } catch (error) {
    if (error instanceof AppError && error.code === 'RATE_LIMITED') return { posts: [] }
    throw error
  }
}

/** Boards that take the posts of whoever reads the page, and the present board of a post. */
const taking = (view: View, { rows, total }: Awaited<ReturnType<typeof boardsWith>>, present?: string) => {
  const open = rows.filter((board) => board.url === present || takesPosts(view, board))
  return { rows: open, total: total - rows.length + open.length }
}

export const newPost = page({
  cache: 'never',
  isUnlisted: true,
  forms: [service.create],
  async load(view) {
    const title = view.form.values.title ?? view.query.title ?? ''
    const places = await placesOf(view, view.form.values.boardId ?? view.query.board)
    return {
      ...places,
      boards: taking(view, places.boards),
      similar: await similarTo(view, title),
    }
  },
  texts: (view) => previewOf(view, 'contentMarkdown'),
  title: ({ t }) => t('post.new'),
  show: (view, { boards: places, similar }) => (
    <>
      <h1>{view.t('post.new')}</h1>
      <Summary view={view} />
      <PostForm
        view={view}
        to={links.newPost}
        of={service.create}
        boards={places}
        {...(similar && { similar })}
        values={{
          title: view.query.title,
          boardId: view.query.board,
          contentMarkdown: places.rows.find(({ url }) => url === view.query.board)?.template ?? '',
        }}
        submit={view.t('post.send')}
      />
    </>
  ),
})

/** The posts that the title of a new one is like, while it is typed. */
export const similar = page({
  cache: 'never',
  isUnlisted: true,
  signedIn: true,
  load: (view) => view.call(service.similar, { title: view.query.title ?? '' }),
  title: ({ t }) => t('similar.title'),
  show: (view, found) => (
    <>
      <h1>{view.t('similar.title')}</h1>
      {found.posts.length > 0 ? (
        <PostList view={view} {...found} isShort isInForm />
      ) : (
        <p class="soft">{view.t('similar.none')}</p>
      )}
    </>
  ),
})

/** The similar posts of a post. Its page links here. */
export const related = page({
  cache: 'never',
  isUnlisted: true,
  async load(view) {
    const { postId: except, title, contentMarkdown: text, slug } = await postAt(view)
    const { posts, reasons } = await view.call(service.similar, { title, except, ...(text && { text: text.slice(0, MOST_TEXT) }) }) // prettier-ignore
    const like = reasons.filter(({ score }) => score >= RELATED)
    return { title, slug, posts: posts.slice(0, like.length), reasons: like }
  },
  title: ({ t }) => t('similar.title'),
  show: (view, { title, slug, ...found }) => (
    <>
      <nav class="crumbs facts" aria-label={view.t('layout.crumbs')}>
        <a href={view.href(links.post(slug))}>
          <bdi>{title}</bdi>
        </a>
      </nav>
      <h1>{view.t('similar.title')}</h1>
      {found.posts.length > 0 ? (
        <PostList view={view} {...found} isShort />
      ) : (
        <p class="soft">{view.t('similar.none')}</p>
      )}
    </>
  ),
})

/** Characters of a text that similar posts are found by. */
const MOST_TEXT = 1000

function titleGiven({ title = '' }: Fields): string {
  if (title.trim() !== '') return title
  throw titleMissing('given')
}

/** A title that is missing is asked for where the post is sent. */
const admit = (view: LiveView, { title, contentMarkdown = '' }: Fields): Promise<void> =>
  admitPreview(view, service.create, { contentMarkdown, ...(title && { title }) })

export const create = action({
  operation: service.create,
  images: 'contentMarkdown',
  page: async () => newPost,
  input: (_view, form) => ({
    title: titleGiven(form),
    contentMarkdown: form.contentMarkdown ?? '',
    boardId: form.boardId || null,
  }),
  async before(view, form) {
    const isPreview = form.preview !== undefined
    const isUnfinished = isPreview || asksForBoards(form)
    if (!isUnfinished && (!view.viewer || !form.title?.trim())) return undefined // visitors sign in first
    if (!isUnfinished && form.checked !== undefined) return named(view, form)
    if (isPreview) await admit(view, form)
    const [places, found] = [await placesOf(view), await similarTo(view, form.title ?? '')]
    if (!isUnfinished && !found?.posts.length) return named(view, form)
    return {
      title: view.t('post.new'),
      texts: previewOf(view, 'contentMarkdown'),
      show: (
        <>
          {isUnfinished ? (
            <h1>{view.t('post.new')}</h1>
          ) : (
            <>
              <AnswerTitle view={view}>{view.t('similar.title')}</AnswerTitle>
              <p>{view.t('similar.explained')}</p>
            </>
          )}
          <PostForm
            view={view}
            to={links.newPost}
            of={service.create}
            boards={taking(view, places.boards)}
            {...(found && { similar: found })}
            isChecked={!isUnfinished}
            submit={view.t(isUnfinished ? 'post.send' : 'similar.sendAnyway')}
          />
        </>
      ),
    }
  },
  done: (_view, { post: { slug, is_held } }) => ({ to: links.post(slug), flash: is_held ? 'postedHeld' : 'posted' }),
})

export const editPost = page({
  cache: 'actor',
  signedIn: true,
  frame: teamFrame,
  forms: [service.update],
  async load(view) {
    const shown = await postAt(view)
    if (!shown.may.includes('update') && !view.form.error) throw new Redirect(links.post(shown.slug))
    const { boardId, roadmapId } = view.form.values
    const places = await placesOf(view, boardId ?? view.query.board ?? shown.board?.url, roadmapId ?? shown.roadmap?.url) // prettier-ignore
    return { post: shown, ...places, boards: taking(view, places.boards, shown.board?.url) }
  },
  texts: (view) => previewOf(view, 'contentMarkdown'),
  title: ({ t }, { post: { title } }) => t('post.edit', { title }),
  show: (view, { post: shown, boards: places, roadmaps: stages }) => (
    <>
      <h1>{view.t('post.editTitle')}</h1>
      <Summary view={view} />
      <Stored view={view} texts={[shown.title, unescaped(shown.contentMarkdown ?? '')]} />
      <PostForm
        view={view}
        to={`${links.post(shown.slug)}/edit`}
        slug={shown.slug}
        of={service.update}
        boards={places}
        {...(stages && { roadmaps: stages })}
        values={{
          title: shown.title,
          contentMarkdown: unescaped(shown.contentMarkdown ?? ''),
          boardId: places.rows.some(({ url }) => url === view.query.board) ? view.query.board : shown.board?.url,
          roadmapId: shown.roadmap?.url,
          ...(view.can('post:update') && { pinned: shown.pinned ?? false, locked: shown.locked ?? 'none' }),
        }}
        version={versionOf(view, view.form.values.ifUpdatedAt, shown.updatedAt)}
        submit={view.t('form.save')}
        cancel={cameFrom(view) ?? links.post(shown.slug)}
      />
    </>
  ),
})

export const update = action({
  operation: service.update,
  images: 'contentMarkdown',
  page: async () => editPost,
  input: ({ params, can }, form) => ({
    id: params.slug,
    title: titleGiven(form),
    contentMarkdown: form.contentMarkdown ?? '',
    boardId: form.boardId || null,
    ...(can('post:update') && form.locked !== undefined && { pinned: form.pinned === 'true', locked: form.locked }),
    ...(form.ifUpdatedAt && { ifUpdatedAt: form.ifUpdatedAt }),
    ...(form.quiet && { quiet: form.quiet === 'true' }),
    ...(can('post:update') && form.roadmapId !== undefined && { roadmapId: form.roadmapId || null }),
  }),
  async before(view, form) {
    if (form.preview === undefined && !asksForBoards(form)) return undefined
    const data = await editPost.load(view)
    if (form.preview !== undefined) await admit(view, form)
    return {
      title: view.t('post.editTitle'),
      page: editPost,
      texts: previewOf(view, 'contentMarkdown'),
      show: editPost.show(view, data),
    }
  },
  done: (view, { post: { slug } }) => ({ to: cameFrom(view) ?? links.post(slug), flash: 'saved' }),
})
