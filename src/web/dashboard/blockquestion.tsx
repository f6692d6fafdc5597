import * as service from '../../service/users.js'
import { blockMany } from '../../service/usersmany.js'
import { within, withParameters } from '../kit/addresses.js'
import { listed } from '../kit/fields.js'
import type { Fields, LiveView } from '../kit/page.js'
import { AnswerTitle } from '../parts/answertitle.js'
import { Foreign } from '../parts/foreign.js'
import { Form, Hidden, Submit } from '../parts/form.js'
import { FormsScript } from '../parts/formsscript.js'
import { Person } from '../parts/person.js'

/** Who would be blocked, and what they lose. Undefined where nobody would be: the action says why. */
export async function blockQuestion(view: LiveView, form: Fields) {
  const given = listed(form.users)
  if (form.block === 'false' || form.confirmed || !view.may(service.show) || given.length === 0) return undefined
  const { outcomes } = await view.dryRun(blockMany, { users: given, block: true })
  const ids = outcomes.flatMap(({ outcome, userId }) => (outcome === 'changed' && userId !== null ? [userId] : []))
  if (ids.length === 0) return undefined
  const { t, href } = view
  const back = within(form.to) ?? withParameters(view.url, {})
  const title = t('user.blockManyTitle', { count: ids.length })
  const show = (
    <div class="narrow" data-back={href(back)}>
      <FormsScript view={view} />
      <AnswerTitle view={view}>{title}</AnswerTitle>
      <ul class="plain-list">
        {(await Promise.all(ids.map(async (user) => view.call(service.show, { user })))).map(({ user }) => (
          <li>
            <Person view={view} person={user} />{' '}
            <span class="soft">
              <Foreign text={user.username} />
            </span>
          </li>
        ))}
      </ul>
      <p>{t('user.blockManyLoss')}</p>
      <Form view={view} to={withParameters(view.url, {})} class="buttons">
        <Hidden name="users" value={given.join('\n')} />
        <Hidden name="block" value="true" />
        <Hidden name="to" value={form.to} />
        <Hidden name="confirmed" value="yes" />
        <Submit kind="danger">{t('user.block')}</Submit>
        <a class="button plain" href={href(back)}>
          {t('form.cancel')}
        </a>
      </Form>
    </div>
  )
  return { title, section: 'users' as const, show }
}
