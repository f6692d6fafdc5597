import { links } from '../../core/pagelinks.js'
import type { DashboardPost } from '../../service/lib/postshapes.js'
import type { View } from '../kit/page.js'
import { BoardChip, PostMarks, RoadmapChip, Tags } from './chip.js'
import { PersonLink, TeamMark } from './person.js'
import { StatusMenu } from './statusmenu.js'
import { Time } from './time.js'

interface Props {
  view: View
  post: DashboardPost
  /** The statuses to choose from; empty for people who may not change it. */
  stages: Parameters<typeof StatusMenu>[0]['stages']
}

/** The facts below the title of a post. On wide screens, CSS hides status and author here and shows `PostPlaces`. */
export const PostFacts = ({ view, post, stages }: Props) => (
  <div class="facts" data-live="facts">
    {post.is_spam ? <span class="mark spam">{view.t('mark.spam')}</span> : null}
    {post.is_held ? <span class="mark">{view.t('mark.held')}</span> : null}
    <PostMarks view={view} post={post} />
    <div class="places">
      <Status view={view} post={post} stages={stages} />
    </div>
    {post.tags ? <Tags view={view} tags={post.tags} /> : null}
    <Author view={view} post={post} />
  </div>
)

/** Status, board and author as labelled rows in the side column. CSS shows them on wide screens only. */
export const PostPlaces = ({ view, post, stages }: Props) => (
  <dl class="about" data-live="about">
    {stages.length > 0 || post.roadmap ? (
      <>
        <dt>{view.t('filter.roadmap')}</dt>
        <dd class="facts">
          <Status view={view} post={post} stages={stages} />
        </dd>
      </>
    ) : null}
    {post.board ? (
      <>
        <dt>{view.t('filter.board')}</dt>
        <dd class="facts">
          <BoardChip view={view} board={post.board} />
        </dd>
      </>
    ) : null}
    <dt>{view.t('posts.author')}</dt>
    <dd class="facts">
      <Author view={view} post={post} />
    </dd>
  </dl>
)

const Status = ({ view, post: { slug, roadmap }, stages }: Props) =>
  stages.length > 0 ? (
    <StatusMenu view={view} to={`${links.post(slug)}/status`} stages={stages} chosen={roadmap ?? null} />
  ) : roadmap ? (
    <RoadmapChip view={view} roadmap={roadmap} />
  ) : null

const Author = ({ view, post: { author, createdAt } }: Omit<Props, 'stages'>) => (
  <>
    <PersonLink view={view} person={author} />
    <TeamMark view={view} person={author} />
    <Time view={view} at={createdAt} />
  </>
)
