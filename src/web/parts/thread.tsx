import { NIL } from 'uuid'
import type { Text } from '../../core/markdown/index.js'
import { links } from '../../core/pagelinks.js'
import { unanswer } from '../../service/answers.js'
import type { Activity } from '../../service/lib/commentshapes.js'
import type { Reported } from '../../service/reports.js'
import { withQuery } from '../kit/addresses.js'
import { isolated } from '../kit/bidi.js'
import type { View } from '../kit/page.js'
import { RoadmapChip } from './chip.js'
import { CommentForm, isSent } from './commentform.js'
import { Form, Hidden } from './form.js'
import { Icon } from './icon.js'
import { nameOf, PersonLink, TeamMark } from './person.js'
import { ReportLink } from './report.js'
import { takesComments, type Closable } from './taking.js'
import { Time } from './time.js'

/** Headings in a comment are below that of the comments. */
export const textOf = ({ comment: { body } }: Pick<Activity, 'comment'>): Text => ({ markdown: body, level: 3 })

/** Whether it is hidden as spam, and shown to its author alone. */
export const isHidden = ({ is_spam: isSpam, may }: Activity['comment']): boolean => isSpam && !may.includes('spam')

interface Node extends Activity {
  replies: Node[]
}

/** Comments under what they reply to, oldest first. Where that is not on the page, they stand for themselves. */
function threadsOf(comments: readonly Activity[]): Node[] {
  const nodes = new Map(comments.map((each) => [each.id, { ...each, replies: [] as Node[] }]))
  const roots: Node[] = []
  for (const node of Array.from(nodes.values()).toReversed()) {
    const parent = nodes.get(node.comment.parent_id ?? '')
    if (parent) parent.replies.push(node)
    else roots.push(node)
  }
  return roots
}

/** Further replies are not moved in any more: a phone has no room for them. */
const DEEPEST = 3

export const Thread = ({ view, slug, comments, ...rest }: ThreadProps & { comments: readonly Activity[] }) => (
  <ol class="thread">
    {threadsOf(comments).map((node) => (
      <CommentItem view={view} slug={slug} node={node} depth={0} {...rest} />
    ))}
  </ol>
)

interface ThreadProps {
  view: View
  slug: string
  post: Closable
  /** What the viewer has reported. */
  reported: readonly Reported[]
  /** The id of the author of the post, whose comments are marked. */
  poster?: string
  /** The page of the team that shows it, in place of the page of the post: where its forms lead back to, and send replies. */
  team?: { back: string; replies: string; replyTo: string | undefined }
}

interface ItemProps extends ThreadProps {
  node: Node
  depth: number
  /** The comment that it replies to. */
  to?: Node
}

function CommentItem(props: ItemProps) {
  const { view, node, depth } = props
  const { comment } = node
  const replies = (
    <>
      {node.replies.map((reply) => (
        <CommentItem {...props} node={reply} depth={depth + 1} to={node} />
      ))}
    </>
  )
  return (
    <li id={`comment-${comment.id}`} class={comment.is_internal ? 'comment internal' : 'comment'}>
      <article>
        <CommentFacts {...props} />
        <div class="prose" dir="auto" dangerouslySetInnerHTML={{ __html: view.html(textOf(node)) }} />
        <CommentTools {...props} />
      </article>
      {node.replies.length === 0 || depth + 1 >= DEEPEST ? null : <ol>{replies}</ol>}
      {depth + 1 >= DEEPEST && node.replies.length > 0 ? <ol class="flat">{replies}</ol> : null}
    </li>
  )
}

/** The author, the time and the labels of a comment. */
function CommentFacts({ view, slug, node, depth, to, poster, team }: ItemProps) {
  const { t } = view
  const { comment, author } = node
  const at = links.comment(slug, comment.id)
  const isCopy = view.copiedAt !== undefined
  return (
    <p class="facts">
      <PersonLink view={view} person={author} />
      <a href={team || isCopy ? `#comment-${comment.id}` : view.href(at)}>
        <Time view={view} at={comment.created_at} />
      </a>
      {comment.is_edited ? <span>{t('comment.edited')}</span> : null}
      <TeamMark view={view} person={author} />
      {author.userId === poster && poster !== NIL ? <span class="mark">{t('mark.author')}</span> : null}
      {to && depth >= DEEPEST ? (
        <a href={`#comment-${to.id}`}>{t('comment.to', { name: isolated(nameOf(view, to.author)) })}</a>
      ) : null}
      {comment.is_internal ? (
        <span class="mark">
          <Icon name="lock" /> {t('mark.internal')}
        </span>
      ) : null}
      {comment.is_update ? <span class="mark">{t('mark.update')}</span> : null}
      {comment.roadmap ? <RoadmapChip view={view} roadmap={comment.roadmap} /> : null}
      {comment.is_answer ? <span class="mark">{t('mark.answer')}</span> : null}
      {comment.is_spam ? <span class="mark spam">{t('mark.spam')}</span> : null}
      {comment.is_held ? <span class="mark">{t('mark.held')}</span> : null}
      {comment.from_post ? (
        <span>{t('comment.from', { ...comment.from_post, title: isolated(comment.from_post.title) })}</span>
      ) : null}
    </p>
  )
}

/** The reply form, and the other actions of the viewer. */
function CommentTools({ view, slug, node, post, reported, team }: ItemProps) {
  const { t, viewer } = view
  const { comment, author } = node
  const at = links.comment(slug, comment.id)
  const isOwn = viewer?.userId === author.userId
  const isCopy = view.copiedAt !== undefined
  const { may } = comment
  const isRefused = isSent(view, comment.id)
  return (
    <div class="tools">
      {isCopy || !(isRefused || (takesComments(view, post) && !isHidden(comment))) ? null : (
        <details data-reply="" open={team?.replyTo === comment.id || isRefused}>
          <summary class="link">{t('comment.reply')}</summary>
          <CommentForm
            view={view}
            path={team?.replies ?? `${links.post(slug)}/comments`}
            slug={slug}
            post={post}
            to={comment}
            autofocus={team?.replyTo === comment.id}
            keep={team?.replyTo === comment.id && may.includes('spam') ? comment.updated_at : undefined}
          />
        </details>
      )}
      {may.includes('update') ? (
        <a href={view.href(withQuery(`${at}/edit`, { to: team?.back }))}>{t('action.edit')}</a>
      ) : null}
      {may.includes('delete') || comment.others_took_part ? (
        <a href={view.href(withQuery(`${at}/delete`, { to: team?.back }))}>{t('action.delete')}</a>
      ) : null}
      {(comment.is_answer ? view.may(unanswer) : may.includes('answer')) ? (
        <Form view={view} to={`${at}/${comment.is_answer ? 'unanswer' : 'answer'}`}>
          <Hidden name="to" value={team?.back} />
          <button type="submit" class="link">
            {t(comment.is_answer ? 'answer.unmark' : 'answer.mark')}
          </button>
        </Form>
      ) : null}
      {may.includes('spam') && comment.is_held ? (
        <Form view={view} to={`${at}/keep`}>
          <Hidden name="if_updated_at" value={comment.updated_at} />
          <Hidden name="to" value={team && `${team.back}#comment-${comment.id}`} />
          <button type="submit" class="link">
            {t('action.publish')}
          </button>
        </Form>
      ) : null}
      {may.includes('spam') ? (
        <Form view={view} to={`${at}/${comment.is_spam ? 'keep' : 'spam'}`}>
          <Hidden name="if_updated_at" value={comment.updated_at} />
          <Hidden name="to" value={team && `${team.back}#comment-${comment.id}`} />
          <button type="submit" class="link">
            {t(comment.is_spam ? 'action.notSpam' : 'decision.spam')}
          </button>
        </Form>
      ) : null}
      {viewer && !isOwn && !may.includes('spam') ? (
        <ReportLink view={view} to={`${at}/report`} id={comment.id} reported={reported} />
      ) : null}
    </div>
  )
}
