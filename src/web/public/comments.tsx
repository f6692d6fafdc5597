import { links } from '../../core/pagelinks.js'
import { unescaped } from '../../core/text.js'
import * as answers from '../../service/answers.js'
import * as service from '../../service/comments.js'
import * as moderation from '../../service/moderation.js'
import { cameFrom, withQuery } from '../kit/addresses.js'
import { action, page, Redirect, type View } from '../kit/page.js'
import { teamFrame } from '../kit/teamframe.js'
import { commentPreview } from '../parts/commentpreview.js'
import { Confirm } from '../parts/confirm.js'
import { Check, Form, Hidden, Submit, Summary } from '../parts/form.js'
import { named } from '../parts/namefield.js'
import { Quote } from '../parts/quote.js'
import { MarkdownField } from '../parts/markdownfield.js'
import { mentionsIn } from '../parts/mentions.js'
import { ImageField } from '../parts/imagefield.js'
import { admitPreview, Preview, PreviewButton, previewOf } from '../parts/preview.js'
import { Refused } from '../parts/refused.js'
import { AskToDelete, ReportForm } from '../parts/report.js'
import { Stored, versionOf } from '../parts/stored.js'
import { isHidden } from '../parts/thread.js'
import { COMMENTS } from '../parts/wholepost.js'
import { post } from './posts.js'

const postOf = ({ params }: Pick<View, 'params'>): string => links.post(params.slug ?? '')
const linkOf = ({ params }: Pick<View, 'params'>, id = params.comment ?? ''): string =>
  links.comment(params.slug ?? '', id)
const given = ({ params }: View) => ({ post_id: params.slug, comment_id: params.comment })

export const create = action({
  operation: service.create,
  images: 'body',
  page: async () => post,
  before: async (view, form) =>
    form.preview === undefined ? named(view, form) : commentPreview(view, form, { path: `${postOf(view)}/comments` }),
  input: ({ params }, { body = '', parent_id, is_internal }) => ({
    post_id: params.slug,
    body,
    ...(parent_id && { parent_id }),
    ...(is_internal === 'true' && { is_internal: true }),
  }),
  done: (view, { activity: { id, comment: written } }) => ({
    to: linkOf(view, id),
    flash: written.is_internal ? 'noted' : written.is_held ? 'commentedHeld' : 'commented',
  }),
})

/** Leads to a comment in its thread: on which page that is changes with every new comment. */
export const comment = page({
  cache: 'actor',
  isUnlisted: true,
  async load(view): Promise<never> {
    const { activity, post: its } = await view.call(service.show, { comment_id: view.params.comment })
    const list = { post_id: its.postId, limit: COMMENTS }
    const { total_count: newer } = await view.call(service.list, { ...list, since: activity.created_at })
    let number = Math.ceil(newer / COMMENTS)
    // Others of the same millisecond may be before it.
    for (let tries = 0; tries < 3 && number > 1; tries++, number--) {
      const { activity: those } = await view.call(service.list, { ...list, page: number })
      if (those.some(({ id }) => id === activity.id)) break
    }
    const query = { page: number > 1 ? number : undefined, done: view.query.done }
    throw new Redirect(withQuery(links.post(its.slug), query, `comment-${activity.id}`))
  },
  title: () => '',
  show: () => <></>,
})

const load = async (view: View) => (await view.call(service.show, { comment_id: view.params.comment })).activity

/** Nothing can be changed about a comment that is hidden as spam; its author still sees it. */
async function loadShown(view: View) {
  const shown = await load(view)
  if (isHidden(shown.comment)) throw new Redirect(linkOf(view))
  return shown
}

export const editComment = page({
  cache: 'actor',
  signedIn: true,
  frame: teamFrame,
  forms: [service.update],
  async load(view) {
    const shown = await loadShown(view)
    if (!shown.comment.may.includes('update') && !view.form.error) throw new Redirect(linkOf(view))
    return shown
  },
  texts: (view) => previewOf(view, 'body'),
  title: ({ t }) => t('comment.edit'),
  show: (view, { comment }) => (
    <div class="narrow">
      <h1>{view.t('comment.edit')}</h1>
      <Summary view={view} />
      <Stored view={view} texts={[unescaped(comment.body)]} />
      <Form view={view} to={`${linkOf(view)}/edit`} takesFiles>
        <Refused view={view} of={service.update} />
        <Hidden name="to" value={cameFrom(view)} />
        <Hidden name="if_updated_at" value={versionOf(view, view.form.values.if_updated_at, comment.updated_at)} />
        <MarkdownField
          view={view}
          of={service.create}
          name="body"
          label={view.t('comment.write')}
          rows={6}
          required
          value={unescaped(comment.body)}
          data={mentionsIn(view, links.people(view.params.slug ?? ''))}
        />
        <ImageField view={view} />
        <Preview view={view} text={previewOf(view, 'body')[0]} />
        {view.can('comment:create_internal') ? (
          <Check view={view} name="is_internal" label={view.t('comment.internal')} checked={comment.is_internal} />
        ) : null}
        <div class="buttons">
          <Submit>{view.t('form.save')}</Submit>
          <PreviewButton view={view} />
          <a class="button plain" href={view.href(cameFrom(view) ?? linkOf(view))}>
            {view.t('form.cancel')}
          </a>
        </div>
      </Form>
    </div>
  ),
})

export const update = action({
  operation: service.update,
  images: 'body',
  page: async () => editComment,
  async before(view, form) {
    if (form.preview === undefined) return undefined
    const data = await editComment.load(view)
    await admitPreview(view, service.update, { ...given(view), body: form.body ?? '' })
    return { title: view.t('comment.edit'), page: editComment, texts: previewOf(view, 'body'), show: editComment.show(view, data) } // prettier-ignore
  },
  input: (view, { body = '', is_internal, if_updated_at }) => ({
    ...given(view),
    body,
    ...(if_updated_at && { if_updated_at }),
    ...(view.can('comment:create_internal') && { is_internal: is_internal === 'true' }),
  }),
  done: (view) => ({ to: cameFrom(view) ?? linkOf(view), flash: 'saved' }),
})

export const deleteComment = page({
  cache: 'actor',
  signedIn: true,
  forms: [moderation.reportComment],
  async load(view) {
    const shown = await load(view)
    return { ...shown, isTaken: !shown.comment.may.includes('delete') }
  },
  title: ({ t }) => t('comment.delete'),
  show(view, { author, comment, isTaken }) {
    const [path, title] = [linkOf(view), view.t('comment.delete')]
    const quote = <Quote view={view} person={author} text={comment.body} />
    if (isTaken)
      return (
        <AskToDelete
          view={view}
          of={moderation.reportComment}
          title={title}
          to={`${path}/report`}
          back={path}
          quote={quote}
        />
      )
    return (
      <Confirm
        view={view}
        to={`${path}/delete`}
        back={cameFrom(view) ?? path}
        next={cameFrom(view)}
        title={title}
        action={view.t('action.delete')}
        quote={quote}
      >
        {view.t('comment.deleteLoss')}
      </Confirm>
    )
  },
})

export const remove = action({
  operation: service.remove,
  page: async () => deleteComment,
  input: given,
  done: (view) => ({ to: cameFrom(view) ?? postOf(view), flash: 'deleted' }),
})

export const reportComment = page({
  cache: 'actor',
  signedIn: true,
  forms: [moderation.reportComment],
  load: loadShown,
  title: ({ t }) => t('report.comment'),
  show: (view, { author, comment }) => (
    <ReportForm
      view={view}
      of={moderation.reportComment}
      title={view.t('report.comment')}
      to={`${linkOf(view)}/report`}
      back={linkOf(view)}
      quote={<Quote view={view} person={author} text={comment.body} />}
    />
  ),
})

export const report = action({
  operation: moderation.reportComment,
  page: async () => reportComment,
  input: (view, { reason }) => ({ ...given(view), reason: reason || null }),
  done: (view) => ({ to: linkOf(view), flash: 'reported' }),
})

const decision = (word: 'keep' | 'spam') =>
  action({
    operation: moderation.decide,
    input: ({ params }, { if_updated_at }) => ({
      id: params.comment,
      decision: word,
      ...(if_updated_at && { if_updated_at }),
    }),
    done: (view) => ({ to: cameFrom(view) ?? linkOf(view), flash: word === 'spam' ? 'markedSpam' : 'kept' }),
    treatAsDone: { CONTENT_CHANGED: (view) => ({ to: cameFrom(view) ?? linkOf(view), flash: 'changedMeanwhile' }) },
  })

export const spam = decision('spam')
export const keep = decision('keep')

const answering = (operation: typeof answers.answer, flash: 'answered' | 'unanswered') =>
  action({ operation, input: given, done: (view) => ({ to: cameFrom(view) ?? postOf(view), flash }) })

export const answer = answering(answers.answer, 'answered')
export const unanswer = answering(answers.unanswer, 'unanswered')
