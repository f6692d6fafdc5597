import { invalidField } from '../../core/fields.js'
import { links } from '../../core/pagelinks.js'
import { merge as mergeInto } from '../../service/usermerges.js'
import * as service from '../../service/users.js'
import { within } from '../kit/addresses.js'
import { action, page, Redirect, type LiveView, type View } from '../kit/page.js'
import { Confirm } from '../parts/confirm.js'
import { Choice, Field, Form, Submit, Summary } from '../parts/form.js'
import { Foreign } from '../parts/foreign.js'
import { rolesOf } from '../parts/lists.js'
import { nameOf } from '../parts/person.js'
import { Top } from '../parts/top.js'
import { back, isTaken, named, person, personAt } from './person.js'
import { HOME } from './users.js'

/** The account, where the reader may do this with it. Otherwise their page is shown. */
const changeable = (verb: 'block' | 'signOut' | 'resetTotp' | 'merge' | 'delete') => async (view: LiveView) => {
  const shown = await personAt(view)
  const isOffered = verb === 'resetTotp' ? shown.hasTotp && view.may(service.resetTotp) : shown.may.includes(verb)
  if (!isOffered && !view.form.error) throw new Redirect(links.person(shown.username))
  return shown
}

/** A question before something that ends the person's sessions, or weakens the account. */
const question = (verb: 'block' | 'signOut' | 'resetTotp', path: string) =>
  page({
    cache: 'never',
    section: 'users',
    load: changeable(verb),
    title: (view, user) => view.t(`user.${verb}Title`, { name: nameOf(view, user) }),
    show: (view, user) => (
      <Confirm
        view={view}
        to={links.person(user.username, path)}
        back={links.person(user.username)}
        title={view.t(`user.${verb}Title`, { name: nameOf(view, user) })}
        action={view.t(`user.${verb}`)}
      >
        {view.t(`user.${verb}Loss`)}
      </Confirm>
    ),
  })

export const blockPage = question('block', 'block')
export const signOutPage = question('signOut', 'sign-out')
export const resetPage = question('resetTotp', 'reset-totp')

/** Before a role is taken away. It can be given again. */
export const takeRolePage = page({
  cache: 'never',
  section: 'users',
  async load(view) {
    const user = await personAt(view)
    const role = user.roles.find(({ id }) => id === view.params.role)
    if (!role || !isTaken(await rolesOf(view), role.id)) throw new Redirect(links.person(user.username))
    return { user, role }
  },
  title: (view, { role }) => view.t('user.removeRoleTitle', { name: role.name }),
  show: (view, { user, role }) => (
    <Confirm
      view={view}
      to={links.removeRole(user.username, role.id)}
      back={links.person(user.username)}
      title={view.t('user.removeRoleTitle', { name: role.name })}
      action={view.t('user.removeRole', { name: role.name })}
    >
      {view.t('user.removeRoleLoss', { name: nameOf(view, user) })}
    </Confirm>
  ),
})

/** Whose account it is that an import brought without an address. */
export const mergePage = page({
  cache: 'never',
  section: 'users',
  load: changeable('merge'),
  title: (view, user) => view.t('user.mergeTitle', { name: nameOf(view, user) }),
  show(view, user) {
    const { t } = view
    return (
      <>
        <Top
          view={view}
          title={t('user.mergeTitle', { name: nameOf(view, user) })}
          back={{ to: links.person(user.username), text: nameOf(view, user) }}
        />
        <Summary view={view} text={view.form.error?.code === 'MERGE_REFUSED' ? t('user.mergeRefused') : undefined} />
        <p>{t('user.mergeLoss', { name: nameOf(view, user) })}</p>
        <Form view={view} to={links.person(user.username, 'merge')} class="settings-form">
          <Field
            view={view}
            of={mergeInto}
            name="into"
            label={t('user.mergeInto')}
            hint={t('user.mergeHint')}
            required
            autocomplete="off"
          />
          <div class="buttons">
            <Submit kind="danger">{t('user.merge')}</Submit>
            <a class="button plain" href={view.href(links.person(user.username))}>
              {t('form.cancel')}
            </a>
          </div>
        </Form>
      </>
    )
  },
})

/** What is lost, and the user name to type. */
export const deletePage = page({
  cache: 'never',
  section: 'users',
  load: changeable('delete'),
  title: (view, user) => view.t('user.deleteTitle', { name: nameOf(view, user) }),
  show(view, user) {
    const { t } = view
    return (
      <>
        <Top
          view={view}
          title={t('user.deleteTitle', { name: nameOf(view, user) })}
          back={{ to: links.person(user.username), text: nameOf(view, user) }}
        />
        <Summary view={view} />
        <p>{t('user.deleteLoss', { votes: t('user.voted', { count: Number(user.votes) }) })}</p>
        <Form view={view} to={links.person(user.username, 'delete')} class="settings-form">
          <Choice
            view={view}
            name="posts"
            label={t('user.deletePosts', { posts: t('user.posts', { count: Number(user.posts) }) })}
            options={[
              { value: 'keep', text: t('user.keepPosts') },
              { value: 'delete', text: t('user.deleteThem') },
            ]}
          />
          <Field
            view={view}
            of={service.remove}
            name="typed"
            label={t('user.typeName')}
            hint={<Foreign text={user.username} />}
            required
            autocomplete="off"
          />
          <div class="buttons">
            <Submit kind="danger">{t('user.delete')}</Submit>
            <a class="button plain" href={view.href(links.person(user.username))}>
              {t('form.cancel')}
            </a>
          </div>
        </Form>
      </>
    )
  },
})

export const block = action({
  operation: service.block,
  page: async () => blockPage,
  input: named,
  done: (view) => ({ to: back(view), flash: 'blocked' }),
})

export const unblock = action({
  operation: service.unblock,
  page: async () => person,
  input: named,
  done: (view, _answer, form) => ({ to: within(form.to) ?? back(view), flash: 'unblocked' }),
})

export const signOut = action({
  operation: service.signOut,
  page: async () => signOutPage,
  input: named,
  done: (view) => ({ to: back(view), flash: 'signedOut' }),
})

export const resetTotp = action({
  operation: service.resetTotp,
  page: async () => resetPage,
  input: named,
  done: (view) => ({ to: back(view), flash: 'totpReset' }),
})

export const merge = action({
  operation: mergeInto,
  page: async () => mergePage,
  input: (view, { into }) => ({ ...named(view), into }),
  done: (_view, { user }) => ({ to: links.person(user.username), flash: 'personMerged' }),
})

export const remove = action({
  operation: service.remove,
  page: async () => deletePage,
  input(view, form) {
    assertTyped(view, form.typed)
    return { ...named(view), posts: form.posts }
  },
  done: () => ({ to: HOME, flash: 'personDeleted' }),
})

/** The page leads to the present user name, so that is the one in its address. */
function assertTyped({ t, params }: View, typed = ''): void {
  if (typed.trim() === params.username) return
  const message = t('error.NAME_NOT_TYPED')
  throw invalidField({ code: 'NAME_NOT_TYPED', message, field: 'typed', rule: message, value: typed.slice(0, 100) })
}
