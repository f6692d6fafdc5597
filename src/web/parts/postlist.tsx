import { NIL } from 'uuid'
import type { Post } from '../../service/lib/postshapes.js'
import type { SimilarReason } from '../../service/lib/similarreasons.js'
import { isolated } from '../kit/bidi.js'
import type { Mark } from '../../core/search/marks.js'
import { excerptCached } from '../../core/markdown/excerpt.js'
import { links } from '../../core/pagelinks.js'
import { withQuery } from '../kit/addresses.js'
import type { View } from '../kit/page.js'
import { BoardChip, PostMarks, RoadmapChip, Tags } from './chip.js'
import { labelWith } from './count.js'
import { Icon } from './icon.js'
import { Marked, MarkedAt } from './marked.js'
import { nameOf, TeamMark } from './person.js'
import { Time } from './time.js'
import { Vote, VoteInForm } from './vote.js'

/** Where a search has found a post. */
export interface Found {
  titleMarks: readonly Mark[]
  excerpt: string
  excerptMarks: readonly Mark[]
  /** The comment that has the words. */
  comment?: { href: string; author: Parameters<typeof nameOf>[1] }
}

interface ListProps {
  view: View
  posts: readonly Post[]
  /** Words of a search, to mark. */
  words?: readonly string[]
  /** What a search has found, for each post. */
  found?: readonly Found[]
  /** Why each post is like a title. */
  reasons?: readonly SimilarReason[] | undefined
  /** Left out where the whole page is about one board, one roadmap or one person. */
  without?: 'board' | 'roadmap' | 'author'
  /** In a narrow column: without the text. */
  isShort?: boolean
  /** Inside a form. */
  isInForm?: boolean
  /** The page that a move returns to. Absent: posts have no link "Move". */
  movedFrom?: string | undefined
}

/** Posts with their votes. */
export const PostList = ({ view, posts, found, reasons, ...how }: ListProps) => (
  <ol class="posts">
    {posts.map((post, index) => (
      <PostRow view={view} post={post} found={found?.[index]} reason={reasons?.[index]} {...how} />
    ))}
  </ol>
)

/** Who wrote a post, with a link to the profile. */
function By({ view, author }: { view: View; author: Post['author'] }) {
  const name = (
    <>
      <bdi>{nameOf(view, author)}</bdi> <TeamMark view={view} person={author} />
    </>
  )
  return author.userId === NIL ? (
    <span class="by">{name}</span>
  ) : (
    <a class="by" href={view.href(links.profile(author.username))}>
      {name}
    </a>
  )
}

interface RowProps extends Omit<ListProps, 'posts' | 'found' | 'reasons'> {
  post: Post
  found: Found | undefined
  reason: SimilarReason | undefined
}

function PostRow({
  view,
  post,
  found,
  reason,
  words = reason?.words ?? [],
  without,
  isShort,
  isInForm,
  movedFrom,
}: RowProps) {
  const href = view.href(links.post(post.slug))
  const text = isShort || !post.contentMarkdown ? '' : excerptCached(post.contentMarkdown)
  return (
    <li class="post" id={`post-${post.number}`}>
      {isInForm ? <VoteInForm view={view} post={post} /> : <Vote view={view} post={post} />}
      <div class="body">
        <h2>
          <a href={href}>
            <bdi>
              {found ? (
                <MarkedAt text={post.title} marks={found.titleMarks} />
              ) : (
                <Marked text={post.title} words={words} />
              )}
            </bdi>
          </a>
        </h2>
        {reason?.merged ? (
          <p class="soft">
            {view.t('similar.merged', {
              count: reason.merged.posts,
              words: isolated(view.words.list(reason.merged.words)),
            })}
          </p>
        ) : null}
        {found?.excerpt ? (
          <p class="excerpt">
            {found.comment ? (
              <a href={view.href(found.comment.href)}>
                {view.t('search.inComment', { name: nameOf(view, found.comment.author) })}
              </a>
            ) : null}{' '}
            <bdi>
              <MarkedAt text={found.excerpt} marks={found.excerptMarks} />
            </bdi>
          </p>
        ) : null}
        {text ? (
          <p class="excerpt">
            <bdi>
              <Marked text={text} words={words} />
            </bdi>
          </p>
        ) : null}
        <div class="facts" data-live={`facts-${post.number}`}>
          {post.is_spam ? <span class="mark spam">{view.t('mark.spam')}</span> : null}
          {post.is_held ? <span class="mark">{view.t('mark.held')}</span> : null}
          <PostMarks view={view} post={post} />
          <div class="places">
            {post.roadmap && without !== 'roadmap' ? <RoadmapChip view={view} roadmap={post.roadmap} /> : null}
            {post.board && without !== 'board' ? <BoardChip view={view} board={post.board} /> : null}
          </div>
          {post.tags && !isShort ? <Tags view={view} tags={post.tags} most={3} /> : null}
          {without === 'author' ? null : <By view={view} author={post.author} />}
          {post.commentsCount > 0 ? (
            <a class="chip" href={`${href}#comments`} aria-label={labelWith(view, 'comment.count', post.commentsCount)}>
              <Icon name="comment" /> {view.words.compact(post.commentsCount)}
            </a>
          ) : null}
          <Time view={view} at={post.createdAt} />
          {post.is_followed ? (
            <span class="soft" title={view.t('follow.mark')}>
              <Icon name="bell" />
              <span class="hidden">{view.t('follow.mark')}</span>
            </span>
          ) : null}
          {movedFrom === undefined ? null : <MoveLink view={view} post={post} from={movedFrom} />}
        </div>
      </div>
    </li>
  )
}

/** Links to the form that moves a card, see movePost. */
const MoveLink = ({ view, post: { slug, title, number }, from }: { view: View; post: Post; from: string }) => (
  <a
    class="move"
    href={view.href(withQuery(`${links.post(slug)}/status`, { to: `${from}#post-${number}` }))}
    rel="nofollow"
    aria-label={view.t('roadmap.moveTitle', { title })}
  >
    {view.t('roadmap.move')}
  </a>
)
