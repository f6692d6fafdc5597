import * as comments from '../../service/comments.js'
import { links } from '../../core/pagelinks.js'
import type { View } from '../kit/page.js'
import { Check, Form, Hidden, Submit } from './form.js'
import { MarkdownField } from './markdownfield.js'
import { mentionsIn } from './mentions.js'
import { Icon } from './icon.js'
import { ImageField } from './imagefield.js'
import { NameField } from './namefield.js'
import { Preview, PreviewButton, previewOf } from './preview.js'
import { Refused } from './refused.js'
import { SignInNext } from './signinnext.js'
import { takesComments, type Closable } from './taking.js'

interface CommentFormProps {
  view: View
  /** Where it is sent. */
  path: string
  /** The post, of which the people are offered who can be mentioned. */
  slug: string
  /** What it replies to. */
  to?: { id: string; is_internal: boolean }
  /** Only comments for everybody, or only notes for the team. Absent: whoever writes it chooses. */
  kind?: 'public' | 'note'
  /** The key of the dashboard that leads to the field. */
  shortcut?: string
  autofocus?: boolean
  /** The version of what it answers, where that waits for a decision: it is kept with the answer, unless one says otherwise. */
  keep?: string | undefined
  /** The post, which may take no comments any more. */
  post: Closable
}

/** Whether a form that comes back has what was typed here: a reply to this comment, or a note, or else a comment. */
export const isSent = ({ form: { values } }: View, parent: string | undefined, kind?: 'public' | 'note'): boolean =>
  values.body !== undefined &&
  (values.parent_id ?? '') === (parent ?? '') &&
  (kind === undefined || (kind === 'note') === (values.is_internal === 'true'))

/** The comment that a reply which comes back is for, where the page does not have it. */
export function repliedTo({ form: { values } }: View, shown: readonly { id: string }[]): CommentFormProps['to'] {
  const { body, parent_id: id, is_internal: isInternal } = values
  const isShown = body === undefined || !id || shown.some((each) => each.id === id)
  return isShown ? undefined : { id, is_internal: isInternal === 'true' }
}

/** A new comment, or a reply. What was typed stays where the form comes back with an error. */
export function CommentForm({ view, path, slug, to, kind, shortcut, autofocus = false, keep, post }: CommentFormProps) {
  const { t } = view
  const parent = to?.id
  const isMine = isSent(view, parent, kind)
  if (!isMine && !takesComments(view, post)) return <p class="soft">{t('comment.closed')}</p>
  const mine = isMine ? view : { ...view, form: { values: {}, error: undefined } }
  const suffix = parent === undefined ? (kind === 'note' ? '-note' : '') : `-${parent}`
  return (
    <Form view={view} to={path} class="comment-form" takesFiles>
      <Hidden name="parent_id" value={parent} />
      <Refused view={view} of={comments.create} />
      <MarkdownField
        view={mine}
        of={comments.create}
        name="body"
        id={`field-body${suffix}`}
        label={t(kind === 'note' ? 'comment.writeNote' : parent === undefined ? 'comment.write' : 'comment.writeReply')}
        rows={parent === undefined && kind === undefined ? 4 : 3}
        required
        isRepeated={parent !== undefined || kind === 'note'}
        autofocus={autofocus && !view.form.error}
        data={{
          ...mentionsIn(view, links.people(slug)),
          ...(shortcut !== undefined && { key: shortcut }),
        }}
      />
      <ImageField view={mine} suffix={suffix} />
      <Preview view={view} text={previewOf(mine, 'body')[0]} />
      <NameField view={mine} id={`field-name${suffix}`} />
      {/* The server would take a reply to a note that is deleted meanwhile for a comment for everybody. */}
      {kind === 'note' || to?.is_internal ? <Hidden name="is_internal" value="true" /> : null}
      {kind !== undefined ? null : to?.is_internal ? (
        <p class="soft">
          <Icon name="lock" /> {t('comment.internalReply')}
        </p>
      ) : view.can('comment:create_internal') ? (
        <Check view={mine} name="is_internal" label={t('comment.internal')} />
      ) : null}
      {keep === undefined ? null : (
        <label class="check">
          <input type="checkbox" name="keep" value={keep} checked />
          <span>{t('comment.keep')}</span>
        </label>
      )}
      <div class="buttons">
        <Submit kind={kind === 'note' ? 'plain' : 'primary'}>
          {t(kind === 'note' ? 'comment.sendNote' : parent === undefined ? 'comment.send' : 'comment.sendReply')}
        </Submit>
        <PreviewButton view={view} />
        <SignInNext view={view} />
      </div>
    </Form>
  )
}
