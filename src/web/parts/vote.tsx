import { links } from '../../core/pagelinks.js'
import type { View } from '../kit/page.js'
import { Count, labelWith } from './count.js'
import { Form, Hidden } from './form.js'
import { Icon } from './icon.js'
import { takesVotes, type Closable } from './taking.js'

interface Voted extends Closable {
  slug: string
  number: number
  title: string
  voters: { votesCount: number; votes_hidden?: boolean; viewerVote?: unknown }
}

/** Where the board shows votes to those who voted alone. */
const UNKNOWN = '–'

const labelOf = (view: View, { title, voters }: Voted): string =>
  view.t('vote.label', {
    title,
    votes: voters.votes_hidden ? view.t('vote.hidden') : labelWith(view, 'voters.count', voters.votesCount),
  })

/** The same inside the form of a new post, where no other form can be: the button itself says where it leads. */
export function VoteInForm({ view, post }: { view: View; post: Voted }) {
  const { votesCount: count, viewerVote, votes_hidden: isHidden = false } = post.voters
  if (viewerVote !== undefined)
    return (
      <span class="voted" title={view.t('vote.given')}>
        <Icon name="up" />
        <span>
          <Count view={view} of={count} />
        </span>
      </span>
    )
  if (!takesVotes(view, post)) return <Closed view={view} post={post} />
  return (
    <span class="vote">
      <button
        type="submit"
        formaction={view.href(`${links.post(post.slug)}/vote`)}
        formenctype="application/x-www-form-urlencoded" // the form of a new post is multipart, as it can send files
        formnovalidate
        aria-label={labelOf(view, post)}
      >
        <Icon name="up" />
        <span>{isHidden ? UNKNOWN : view.words.compact(count)}</span>
      </button>
    </span>
  )
}

/** The number, in words for those who do not see the arrow. */
const Votes = ({ view, count }: { view: View; count: number }) => (
  <>
    <span aria-hidden="true">{view.words.compact(count)}</span>
    <span class="hidden">{view.t('voters.count', { count })}</span>
  </>
)

/** The votes of a post that takes none: the viewer's own among them is a button that stays pressed. */
function Closed({ view, post }: { view: View; post: Voted }) {
  const { votesCount, votes_hidden: isHidden, viewerVote } = post.voters
  const title = view.t('vote.closed')
  if (viewerVote !== undefined)
    return (
      <span class="vote">
        <button type="button" disabled aria-pressed="true" aria-label={labelOf(view, post)} title={title}>
          <Icon name="up" />
          <span>{view.words.compact(votesCount)}</span>
        </button>
      </span>
    )
  return (
    <span class="voted" title={title}>
      <Icon name="up" />
      {isHidden ? <span>{UNKNOWN}</span> : <Votes view={view} count={votesCount} />}
    </span>
  )
}

/** A vote for a post: a form of one button, which a script sends without leaving the page. */
export function Vote({ view, post }: { view: View; post: Voted }) {
  const { votesCount: count, viewerVote, votes_hidden: isHidden = false } = post.voters
  if (!takesVotes(view, post) && view.copiedAt === undefined) return <Closed view={view} post={post} />
  const isVoted = viewerVote !== undefined
  const path = links.post(post.slug)
  if (view.copiedAt !== undefined)
    return (
      <span class="voted">
        <Icon name="up" />
        {isHidden ? <span>{UNKNOWN}</span> : <Votes view={view} count={count} />}
      </span>
    )
  return (
    <Form
      view={view}
      to={`${path}/${isVoted ? 'unvote' : 'vote'}`}
      class="vote"
      data-vote={view.viewer ? view.href(path) : undefined}
      data-label={view.viewer ? view.t('vote.label', { title: post.title, votes: '{votes}' }) : undefined}
    >
      <Hidden name="to" value={view.path.startsWith('/posts/') ? undefined : `${view.url}#post-${post.number}`} />
      <button type="submit" aria-pressed={isVoted ? 'true' : 'false'} aria-label={labelOf(view, post)}>
        <Icon name="up" />
        <span data-count="">{isHidden ? UNKNOWN : view.words.compact(count)}</span>
      </button>
    </Form>
  )
}
