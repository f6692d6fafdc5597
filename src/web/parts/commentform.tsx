import * as comments from '../../service/comments.js'
import { links } from '../kit/links.js'
import type { View } from '../kit/page.js'
import { Check, Field, Form, Hidden, Submit } from './form.js'
import { Icon } from './icon.js'
import { NameField } from './namefield.js'
import { Refused } from './refused.js'

interface Parent {
  id: string
  is_internal: boolean
}

/** A new comment, or a reply. What was typed stays where the form comes back with an error. */
export function CommentForm({ view, slug, to }: { view: View; slug: string; to?: Parent }) {
  const { t } = view
  const parent = to?.id
  const isSent = view.form.values.body !== undefined && (view.form.values.parent_id ?? '') === (parent ?? '')
  const mine = isSent ? view : { ...view, form: { values: {}, error: undefined } }
  return (
    <Form view={view} to={`${links.post(slug)}/comments`} class="comment-form">
      <Hidden name="parent_id" value={parent} />
      <Refused view={view} of={comments.create} />
      <Field
        view={mine}
        of={comments.create}
        name="body"
        id={parent === undefined ? 'field-body' : `field-body-${parent}`}
        label={t(parent === undefined ? 'comment.write' : 'comment.writeReply')}
        hint={t('form.markdown')}
        rows={parent === undefined ? 4 : 3}
        required
      />
      <NameField view={mine} id={parent === undefined ? 'field-name' : `field-name-${parent}`} />
      {to?.is_internal ? (
        <p class="soft">
          <Icon name="lock" /> {t('comment.internalReply')}
        </p>
      ) : view.can('comment:create_internal') ? (
        <Check view={mine} name="is_internal" label={t('comment.internal')} />
      ) : null}
      <Submit>{t(parent === undefined ? 'comment.send' : 'comment.sendReply')}</Submit>
    </Form>
  )
}
