import { updateProfile } from '../../service/profile.js'
import type { Fields, LiveView, View } from '../kit/page.js'
import { AnswerTitle } from './answertitle.js'
import { Field, Form, Hidden, Submit, Summary } from './form.js'

const isNameless = ({ viewer }: View): boolean => viewer?.name === ''

/** Asks users without a name for one before their text is published with it. */
export const NameField = ({ view, id }: { view: View; id?: string }) =>
  isNameless(view) ? (
    <Field
      view={view}
      of={updateProfile}
      name="name"
      label={view.t('field.name')}
      hint={view.t('field.nameHint')}
      autocomplete="nickname"
      {...(id !== undefined && { id })}
    />
  ) : null

/**
 * Stores the name that a form has for an account without one. Who signed in on the way has not seen the field: they get
 * a page that asks.
 */
export async function named(view: LiveView, form: Fields) {
  if (!isNameless(view)) return undefined
  const { name } = form
  if (name === undefined) return { title: view.t('name.title'), show: <AskName view={view} form={form} /> }
  if (name.trim() !== '') await view.call(updateProfile, { name })
  return undefined
}

const AskName = ({ view, form }: { view: View; form: Fields }) => (
  <div class="narrow">
    <AnswerTitle view={view}>{view.t('name.title')}</AnswerTitle>
    <Summary view={view} />
    <p>{view.t('name.explained', { username: view.viewer?.username ?? '' })}</p>
    <Form view={view} to={view.path}>
      {Object.entries(form).map(([field, value]) => (
        <Hidden name={field} value={value} />
      ))}
      <NameField view={view} />
      <Submit>{view.t('name.send')}</Submit>
    </Form>
  </div>
)
