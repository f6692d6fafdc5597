import { links } from '../../core/pagelinks.js'
import type { Activity } from '../../service/lib/commentshapes.js'
import type { View } from '../kit/page.js'
import { RoadmapChip } from './chip.js'
import { Icon } from './icon.js'
import { PersonLink, TeamMark } from './person.js'
import { textOf } from './thread.js'
import { Time } from './time.js'

/** Updates and answers that the page of a post looks for: the newest update and the answer are shown. */
export const OFFICIAL = 20

/** What a page shows of them: the newest update, and the answer. */
export const highlighted = (official: readonly Activity[]): Activity[] => [
  ...official.filter(({ comment }) => comment.is_update).slice(0, 1),
  ...official.filter(({ comment }) => comment.is_answer),
]

/** What the team says about a post, above the comments. */
export const Official = ({ view, slug, official }: { view: View; slug: string; official: readonly Activity[] }) => (
  <>
    {highlighted(official).map((activity) => (
      <Statement view={view} slug={slug} activity={activity} />
    ))}
  </>
)

function Statement({ view, slug, activity }: { view: View; slug: string; activity: Activity }) {
  const { comment, author } = activity
  const title = `official-${comment.id}`
  return (
    <section class="official" aria-labelledby={title}>
      <div class="facts">
        <h2 id={title}>
          <Icon name={comment.is_update ? 'megaphone' : 'check'} />{' '}
          {view.t(comment.is_update ? 'update.title' : 'answer.title')}
        </h2>
        {comment.roadmap ? <RoadmapChip view={view} roadmap={comment.roadmap} /> : null}
        <PersonLink view={view} person={author} />
        <TeamMark view={view} person={author} />
        <a href={view.href(links.comment(slug, comment.id))}>
          <Time view={view} at={comment.created_at} />
        </a>
      </div>
      <div class="prose" dir="auto" dangerouslySetInnerHTML={{ __html: view.html(textOf(activity)) }} />
    </section>
  )
}
