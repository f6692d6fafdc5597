import { links } from '../../core/pagelinks.js'
import * as undos from '../../service/undos.js'
import { within } from '../kit/addresses.js'
import { listed } from '../kit/fields.js'
import { action, type Fields, type Outcome, type View } from '../kit/page.js'
import { Form, Hidden, Submit } from '../parts/form.js'
import { FormsScript } from '../parts/formsscript.js'

/** Takes back one change, and then those that were the steps before it, each with a form of its own. */
export const undo = action({
  operation: undos.apply,
  input: ({ params }) => ({ undo_id: params.undo }),
  done(view, { outcomes, changed, failed }, form) {
    const to = within(form.to) ?? '/dashboard'
    const [made, left] = [changed + (Number(form.made) || 0), failed + (Number(form.failed) || 0)]
    const more = listed(form.more)
    if (more.length > 0) return nextOf(view, { to, made, left, more })
    if (left === 0 && outcomes.some(({ author }) => author === 'still-blocked'))
      return { to, flash: 'undoneStillBlocked' }
    return { to, flash: left > 0 ? { flash: 'undoneInPart', count: left } : { flash: 'undone', count: made } }
  },
  treatAsDone: {
    UNDO_NOT_FOUND: (_view, form: Fields) => ({ to: within(form.to) ?? '/dashboard', flash: 'undoneNot' }),
  },
})

function nextOf(
  view: View,
  { to, made, left, more: [next = '', ...more] }: { to: string; made: number; left: number; more: string[] },
): Outcome {
  const title = view.t('flash.undone', { count: made })
  const show = (
    <div class="narrow" data-back={view.href(to)}>
      <FormsScript view={view} />
      <h1>{title}</h1>
      <p class="flash" role="status" tabIndex={-1} autofocus>
        {view.t('steps.left', { count: more.length + 1 })}
      </p>
      <Form view={view} to={links.undo(next)} data-steps="">
        <Hidden name="to" value={to} />
        <Hidden name="made" value={String(made)} />
        <Hidden name="failed" value={String(left)} />
        <Hidden name="more" value={more.join('\n')} />
        <Submit>{view.t('undo.button')}</Submit>
      </Form>
    </div>
  )
  return { to, title, section: 'posts', show }
}
