import { links } from '../../core/pagelinks.js'
import * as comments from '../../service/comments.js'
import type { DashboardPost } from '../../service/lib/postshapes.js'
import * as moderation from '../../service/moderation.js'
import * as merges from '../../service/merges.js'
import { history } from '../../service/posthistory.js'
import * as follows from '../../service/follows.js'
import { reported } from '../../service/reports.js'
import * as service from '../../service/posts.js'
import { pageNumber, within, withQuery } from '../kit/addresses.js'
import { roadmapsWith } from '../parts/lists.js'
import { action, page, Redirect, type View } from '../kit/page.js'
import { BoardChip } from '../parts/chip.js'
import { CommentForm, repliedTo } from '../parts/commentform.js'
import { Confirm } from '../parts/confirm.js'
import { Summary } from '../parts/form.js'
import { History } from '../parts/history.js'
import { Head, JsonLd } from '../parts/head.js'
import { Avatar, nameOf } from '../parts/person.js'
import { highlighted, Official, OFFICIAL } from '../parts/official.js'
import { CommentPager } from '../parts/pager.js'
import { isMoved, PlaceConflict } from '../parts/placeconflict.js'
import { PostFacts, PostPlaces } from '../parts/postfacts.js'
import { Quote } from '../parts/quote.js'
import { AskToDelete, ReportForm } from '../parts/report.js'
import { textOf as commentText, Thread } from '../parts/thread.js'
import { Vote } from '../parts/vote.js'
import { bodyOf, COMMENTS, lossOf } from '../parts/wholepost.js'
import { cardOfPost } from './postcards.js'
import { PostTools } from './posttools.js'
import { MERGED, MergedPosts, textOf as mergedText } from '../parts/mergedposts.js'

/** The post of the address. Former slugs, numbers and ids lead to its present address. */
export async function postAt(view: View): Promise<DashboardPost> {
  const { slug = '' } = view.params
  const { post } = await view.call(service.show, { id: slug })
  if (post.slug !== slug && !view.form.error)
    throw new Redirect(
      view.url.replace(/^\/posts\/[^/?]+/i, () => links.post(post.slug)),
      301,
    )
  return post
}

export const post = page({
  cache: 'actor',
  forms: [comments.create],
  async load(view) {
    const shown = await postAt(view)
    const {
      activity,
      total_count: count,
      total_pages: pages,
    } = await view.call(comments.list, {
      post_id: shown.postId,
      page: pageNumber(view),
      limit: COMMENTS,
    })
    if (count > 0 && pageNumber(view) > pages)
      throw new Redirect(withQuery(view.path, { page: pages > 1 ? pages : undefined }, 'comments'))
    const { history: moves } = await view.call(history, { post_id: shown.postId })
    const merged = await view.call(merges.list, { post_id: shown.postId, limit: MERGED })
    const stages = view.can('post:update') ? (await roadmapsWith(view, shown.roadmap?.url)).rows : []
    const official =
      shown.commentsCount > 0
        ? (await view.call(comments.list, { post_id: shown.postId, official: true, visibility: ['public'], limit: OFFICIAL })).activity // prettier-ignore
        : []
    const reports = view.viewer ? (await view.call(reported, { post_id: shown.postId })).reported : []
    const isFollowed = view.viewer !== null && (await view.call(follows.followed, { post_id: shown.postId })).following
    return { post: shown, isFollowed, moves, merged, stages, official, activity, count, pages, reports }
  },
  texts: (_view, { post: shown, merged, official, activity }) => [
    bodyOf(shown),
    ...merged.merged.map(mergedText),
    ...[...highlighted(official), ...activity].map(commentText),
  ],
  title: (_view, { post: { title } }) => title,
  head: (view, { post: shown, count }) => (
    <>
      <Head
        view={view}
        path={links.post(shown.slug)}
        title={shown.title}
        text={shown.contentMarkdown}
        type="article"
        feed={links.feed(links.post(shown.slug))}
        card={cardOfPost(view, shown) && links.card(shown.slug)}
      />
      <JsonLd
        view={view}
        data={{
          '@type': 'DiscussionForumPosting',
          headline: shown.title,
          text: shown.contentMarkdown ?? shown.title,
          url: view.absolute(links.post(shown.slug)),
          datePublished: shown.createdAt,
          dateModified: shown.updatedAt,
          author: { '@type': 'Person', name: nameOf(view, shown.author) },
          interactionStatistic: [
            ...(shown.voters.votes_hidden ? [] : [['LikeAction', shown.voters.votesCount] as const]),
            ['CommentAction', count] as const,
          ].map(([type, total]) => ({
            '@type': 'InteractionCounter',
            interactionType: `https://schema.org/${type}`,
            userInteractionCount: total,
          })),
        }}
      />
    </>
  ),
  show(view, { post: shown, isFollowed, moves, merged, stages, official, activity, count, pages, reports }) {
    const { t, href } = view
    const path = links.post(shown.slug)
    const apart = repliedTo(view, activity)
    return (
      <div class="post-page">
        <article class="whole">
          <div class="text">
            <nav class="crumbs facts" aria-label={t('layout.crumbs')} data-live="crumbs">
              {shown.board ? <BoardChip view={view} board={shown.board} /> : <a href={href('/')}>{t('nav.posts')}</a>}
              <span>#{shown.number}</span>
            </nav>
            <div class="title">
              <Vote view={view} post={shown} />
              <div>
                <h1>
                  <bdi>{shown.title}</bdi>
                </h1>
                <PostFacts view={view} post={shown} stages={stages} />
              </div>
            </div>
            <PlaceConflict
              view={view}
              to={`${path}/status`}
              fresh={path}
              roadmap={shown.roadmap}
              board={undefined}
              choices={stages}
            />
            {shown.is_held && !shown.may.includes('spam') ? <p class="soft">{t('held.note')}</p> : null}
            {shown.contentMarkdown ? (
              <div class="prose" dir="auto" dangerouslySetInnerHTML={{ __html: view.html(bodyOf(shown)) }} />
            ) : null}
          </div>
          <div class="side">
            <PostPlaces view={view} post={shown} stages={stages} />
            <div id="voters" data-live="voters">
              <Voters view={view} post={shown} />
            </div>
            <PostTools view={view} post={shown} isFollowed={isFollowed} reported={reports} />
            <div data-live="history">
              <MergedPosts view={view} slug={shown.slug} merged={merged.merged} count={merged.total_count} />
              <History view={view} slug={shown.slug} moves={moves} />
            </div>
          </div>
        </article>
        <div class="talk">
          <Official view={view} slug={shown.slug} official={official} />
          <section aria-labelledby="comments">
            <div data-live="comments">
              <h2 id="comments">{count === 0 ? t('comment.title') : t('comment.count', { count })}</h2>
              <CommentPager view={view} pages={pages} to="older" />
              {activity.length > 0 ? (
                <Thread
                  view={view}
                  slug={shown.slug}
                  post={shown}
                  comments={activity}
                  reported={reports}
                  poster={shown.author.userId}
                />
              ) : (
                <p class="soft">{t('comment.none')}</p>
              )}
              <CommentPager view={view} pages={pages} to="newer" />
            </div>
            {isMoved(view) ? null : <Summary view={view} />}
            <CommentForm
              view={view}
              path={`${path}/comments`}
              slug={shown.slug}
              post={shown}
              {...(apart && { to: apart })}
            />
          </section>
        </div>
      </div>
    )
  },
})

/** Who voted, where the board shows it. */
function Voters({ view, post: { slug, voters } }: { view: View; post: DashboardPost }) {
  const { importedVotes } = voters
  const imported =
    importedVotes === undefined ? null : <span class="soft">{view.t('voters.imported', { count: importedVotes })}</span>
  if (voters.votes.length === 0) return imported && <p class="voters">{imported}</p>
  return (
    <p class="voters">
      {voters.votes.map((voter) => (
        <Avatar person={voter} size={28} />
      ))}
      <a href={view.href(`${links.post(slug)}/voters`)}>{view.t('voters.count', { count: voters.votesCount })}</a>
      {imported}
    </p>
  )
}

export const deletePost = page({
  cache: 'actor',
  signedIn: true,
  forms: [moderation.reportPost],
  async load(view) {
    const shown = await postAt(view)
    const { total_count: count } = await view.call(comments.list, { post_id: shown.postId, limit: 1 })
    const { total_count: merged } = await view.call(merges.list, { post_id: shown.postId, limit: 1 })
    return { post: shown, count, merged, isTaken: !shown.may.includes('delete') }
  },
  title: ({ t }, { post: { title } }) => t('post.delete', { title }),
  show(view, { post: { title, slug, voters, board, author, contentMarkdown }, count, merged, isTaken }) {
    const question = view.t('post.delete', { title })
    const quote = <Quote view={view} person={author} text={contentMarkdown} />
    const [path, back] = [links.post(slug), links.post(slug)]
    if (isTaken)
      return (
        <AskToDelete
          view={view}
          of={moderation.reportPost}
          title={question}
          to={`${path}/report`}
          back={back}
          quote={quote}
        />
      )
    return (
      <Confirm
        view={view}
        to={`${path}/delete`}
        back={back}
        title={question}
        action={view.t('action.delete')}
        quote={quote}
        next={board ? links.board(board.url) : '/'}
      >
        {lossOf(view, voters, count)}
        {merged > 0 ? ` ${view.t('post.deleteMerged', { count: merged })}` : null}
      </Confirm>
    )
  },
})

export const remove = action({
  operation: service.remove,
  page: async () => deletePost,
  input: ({ params }) => ({ id: params.slug }),
  done: (_view, _output, { to }) => ({ to: within(to) ?? '/', flash: 'deleted' }),
})

export const reportPost = page({
  cache: 'actor',
  signedIn: true,
  forms: [moderation.reportPost],
  load: postAt,
  title: ({ t }, { title }) => t('report.post', { title }),
  show: (view, { title, slug }) => (
    <ReportForm
      view={view}
      of={moderation.reportPost}
      title={view.t('report.post', { title })}
      to={`${links.post(slug)}/report`}
      back={links.post(slug)}
    />
  ),
})

export const report = action({
  operation: moderation.reportPost,
  page: async () => reportPost,
  input: ({ params }, { reason }) => ({ post_id: params.slug, reason: reason || null }),
  done: ({ params: { slug = '' } }) => ({ to: links.post(slug), flash: 'reported' }),
})

const decision = (word: 'keep' | 'spam') =>
  action({
    operation: moderation.decide,
    input: ({ params }, { if_updated_at }) => ({
      id: params.slug,
      decision: word,
      ...(if_updated_at && { if_updated_at }),
    }),
    done: ({ params: { slug = '' } }) => ({ to: links.post(slug), flash: word === 'spam' ? 'markedSpam' : 'kept' }),
    treatAsDone: {
      CONTENT_CHANGED: ({ params: { slug = '' } }) => ({ to: links.post(slug), flash: 'changedMeanwhile' }),
    },
  })

export const spam = decision('spam')
export const keep = decision('keep')

const following = (operation: typeof follows.follow, flash: 'followed' | 'unfollowed') =>
  action({
    operation,
    input: ({ params }) => ({ post_id: params.slug }),
    done: ({ params: { slug = '' } }) => ({ to: links.post(slug), flash }),
  })

export const follow = following(follows.follow, 'followed')
export const unfollow = following(follows.unfollow, 'unfollowed')
