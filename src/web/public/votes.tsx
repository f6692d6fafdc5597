import { links } from '../../core/pagelinks.js'
import * as service from '../../service/votes.js'
import { pageNumber, within } from '../kit/addresses.js'
import { isolated } from '../kit/bidi.js'
import { action, page, type Fields, type Flash, type Outcome, type View } from '../kit/page.js'
import * as posts from '../../service/posts.js'
import { labelWith } from '../parts/count.js'
import { Empty } from '../parts/empty.js'
import { Pager } from '../parts/pager.js'
import { PersonLink, TeamMark } from '../parts/person.js'
import { Time } from '../parts/time.js'
import { postAt } from './posts.js'

const postOf = (view: View): string => links.post(view.params.slug ?? '')

/** Back to where the vote was given, at that post. */
const back = (view: View, form: Fields): string => within(form.to) ?? postOf(view)

interface Counted {
  votesCount: number
  votes_hidden?: boolean
}

/** The script gets the new count, as a number and in words. */
const outcome = (
  view: View,
  form: Fields,
  flash: Flash,
  { votesCount: count, votes_hidden: isHidden }: Counted,
): Outcome => ({
  to: back(view, form),
  flash,
  json: {
    isVoted: flash !== 'unvoted',
    votes: isHidden ? '–' : view.words.compact(count),
    count: isHidden ? view.t('vote.hidden') : labelWith(view, 'voters.count', count),
  },
})

/** Where nothing changed: in two windows, or by a vote that was given before signing in. */
const unchanged =
  (flash: Flash) =>
  async (view: View, form: Fields): Promise<Outcome> => {
    const { post } = await view.call(posts.show, { id: view.params.slug })
    return outcome(view, form, flash, post.voters)
  }

export const vote = action({
  operation: service.add,
  input: (view) => ({ postId: view.params.slug }),
  done: (view, { voters: now }, form) => outcome(view, form, 'voted', now),
  treatAsDone: { VOTE_EXISTS: unchanged('votedBefore') },
})

export const unvote = action({
  operation: service.remove,
  input: (view) => ({ postId: view.params.slug }),
  done: (view, { voters: now }, form) => outcome(view, form, 'unvoted', now),
  treatAsDone: { VOTE_NOT_FOUND: unchanged('unvoted') },
})

export const voters = page({
  cache: 'actor',
  isUnlisted: true,
  async load(view) {
    const post = await postAt(view)
    const { votes } = await view.call(service.list, { post_id: post.postId, page: pageNumber(view), limit: 50 })
    return { post, votes }
  },
  title: ({ t }, { post }) => t('voters.title', { title: post.title }),
  show(view, { post, votes }) {
    const { t, href } = view
    return (
      <>
        <h1>{t('voters.title', { title: post.title })}</h1>
        <p>
          <a href={href(links.post(post.slug))}>{t('voters.back')}</a>
        </p>
        {votes.results.length === 0 && votes.total_count === 0 && post.voters.importedVotes !== undefined ? null : votes
            .results.length === 0 ? (
          <Empty title={t(votes.total_count === 0 && !post.voters.votes_hidden ? 'voters.none' : 'voters.hidden')} />
        ) : (
          <ul class="people">
            {votes.results.map(({ user, createdAt, through }) => (
              <li>
                <PersonLink view={view} person={user} /> <TeamMark view={view} person={user} />{' '}
                <span class="soft">
                  {createdAt === undefined ? null : <Time view={view} at={createdAt} />}
                  {through
                    ? ` ${t('voters.through', { number: through.number, title: isolated(through.title) })}`
                    : null}
                </span>
              </li>
            ))}
          </ul>
        )}
        {post.voters.importedVotes === undefined ? null : (
          <p class="soft">{t('voters.imported', { count: post.voters.importedVotes })}</p>
        )}
        <Pager view={view} page={pageNumber(view)} pages={votes.results.length === 0 ? 1 : votes.total_pages} />
      </>
    )
  },
})
