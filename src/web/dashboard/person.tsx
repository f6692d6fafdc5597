import { languageName } from '../../core/language.js'
import { links } from '../../core/pagelinks.js'
import * as roles from '../../service/roles.js'
import * as service from '../../service/users.js'
import { tag } from '../../service/usertags.js'
import { withQuery } from '../kit/addresses.js'
import { action, page, Redirect, type LiveView, type View } from '../kit/page.js'
import { SECTIONS } from '../kit/sections.js'
import { Choice, Field, Form, Submit, Summary } from '../parts/form.js'
import { Foreign } from '../parts/foreign.js'
import { rolesOf } from '../parts/lists.js'
import { nameOf } from '../parts/person.js'
import { Hour } from '../parts/time.js'
import { Top } from '../parts/top.js'
import { Version } from '../parts/version.js'
import { MayDo, permissionsOf, Sessions, sessionsOf } from './personrights.js'
import { PersonTags } from './persontags.js'
import { HOME, State } from './users.js'

type Shown = Awaited<ReturnType<typeof personAt>>

/** A former user name leads to the present one. */
export const personAt = async (view: LiveView) => (await shownAt(view)).user

async function shownAt(view: LiveView) {
  const { user, version } = await view.call(service.show, { user: view.params.username })
  if (user.username !== view.params.username && view.form.error === undefined)
    throw new Redirect(links.person(user.username))
  return { user, version }
}

/** One person: what they may do, how they sign in, notes, and what can be done with the account. */
export const person = page({
  cache: 'never',
  section: 'users',
  async load(view) {
    const { user, version } = await shownAt(view)
    const all = await rolesOf(view)
    return { user, version, all, permissions: await permissionsOf(view, user), sessions: await sessionsOf(view, user) }
  },
  title: (view, { user }) => nameOf(view, user),
  show(view, { user, version, all, permissions, sessions }) {
    const { t } = view
    return (
      <>
        <Top view={view} title={nameOf(view, user)} back={{ to: HOME, text: t('nav.users') }} />
        <Summary view={view} />
        <div class="panels">
          <Facts view={view} user={user} />
          <Roles view={view} user={user} all={all} />
          <PersonTags view={view} user={user} to={links.person(user.username, 'tags')} />
          {view.may(service.update) ? (
            <section>
              <Form view={view} to={links.person(user.username, 'notes')}>
                <Version view={view} version={version} fresh={links.person(user.username)} />
                <Field
                  view={view}
                  of={service.update}
                  name="notes"
                  label={t('user.notes')}
                  hint={t('user.notesHint')}
                  rows={4}
                  value={user.notes ?? ''}
                />
                <Submit>{t('form.save')}</Submit>
              </Form>
            </section>
          ) : null}
          {permissions ? <MayDo view={view} permissions={permissions} /> : null}
          <Account view={view} user={user} />
          {sessions ? <Sessions view={view} sessions={sessions} /> : null}
        </div>
      </>
    )
  },
})

/** Whether somebody may do more than everyone with an account. */
const isTeam = ({ isOwner, roles: held }: Shown): boolean => isOwner || held.some(({ isSystem }) => !isSystem)

function Facts({ view, user }: { view: View; user: Shown }) {
  const { t, words } = view
  return (
    <section>
      <h2>{t('user.account')}</h2>
      <dl class="about">
        <dt>{t('user.state')}</dt>
        <dd>
          <State view={view} person={user} />
          {user.hasTotp === false && isTeam(user) ? <span class="mark spam">{t('user.noFactor')}</span> : null}
        </dd>
        <dt>{t('user.email')}</dt>
        <dd>
          <Foreign text={user.email} />
        </dd>
        <dt>{t('user.username')}</dt>
        <dd>
          <Foreign text={user.username} />
        </dd>
        <dt>{t('user.joined')}</dt>
        <dd>{words.date(user.createdAt)}</dd>
        <dt>{t('user.seen')}</dt>
        <dd>{user.lastSeenAt === null ? t('user.never') : <Hour view={view} at={user.lastSeenAt} />}</dd>
        {user.language === undefined ? null : (
          <>
            <dt>{t('user.language')}</dt>
            <dd>
              <Foreign text={languageName(user.language)} />
            </dd>
          </>
        )}
        <dt>{t('user.wrote')}</dt>
        <dd>
          <a href={view.href(withQuery(SECTIONS.posts.path, { author: user.username }))}>
            {t('user.posts', { count: Number(user.posts) })}
          </a>
          , {t('user.voted', { count: Number(user.votes) })}
          {view.may(SECTIONS.comments.operations[0]) ? (
            <>
              {', '}
              <a href={view.href(withQuery(SECTIONS.comments.path, { author: user.username }))}>
                {t(SECTIONS.comments.label)}
              </a>
            </>
          ) : null}
        </dd>
      </dl>
    </section>
  )
}

/** Whether the reader may take a role away. */
export const isTaken = (all: readonly roles.Role[], id: string | undefined): boolean =>
  all.some((role) => role.id === id && role.may.includes('unassign'))

/** The roles that the person has, and those that the reader may give. */
function Roles({ view, user, all }: { view: View; user: Shown; all: readonly roles.Role[] }) {
  const { t } = view
  const own = user.roles.filter(({ isSystem }) => !isSystem)
  const mayTake = (id: string) => isTaken(all, id)
  const offered = all.filter(
    (role) => !role.isSystem && role.may.includes('assign') && !own.some(({ id }) => id === role.id),
  )
  return (
    <section>
      <h2>{t('user.roles')}</h2>
      {own.length === 0 ? <p class="soft">{t('user.noRoles')}</p> : null}
      <ul class="outcomes">
        {own.map(({ id, name }) => (
          <li>
            {view.may(roles.show) ? <a href={view.href(links.role(id))}>{name}</a> : <bdi>{name}</bdi>}
            {mayTake(id) ? (
              <a href={view.href(links.removeRole(user.username, id))} aria-label={t('user.removeRole', { name })}>
                {t('user.remove')}
              </a>
            ) : null}
          </li>
        ))}
      </ul>
      {offered.length > 0 ? (
        <Form view={view} to={links.person(user.username, 'roles')}>
          <Choice
            view={view}
            name="role_id"
            label={t('user.role')}
            options={offered.map(({ id, name }) => ({ value: id, text: name }))}
          />
          <Submit kind="plain">{t('user.addRole')}</Submit>
        </Form>
      ) : null}
    </section>
  )
}

/** What may be done with the account. Nothing is offered that would be refused. */
function Account({ view, user }: { view: View; user: Shown }) {
  const { t, href } = view
  const mayReset = user.hasTotp && view.may(service.resetTotp)
  const link = (verb: string, text: string) => (
    <a class="button plain" href={href(links.person(user.username, verb))}>
      {text}
    </a>
  )
  if (user.may.length === 0 && user.hasTotp === undefined) return null
  return (
    <section>
      <h2>{t('user.access')}</h2>
      {user.hasTotp === undefined ? null : <p>{t(user.hasTotp ? 'user.totpOn' : 'user.totpOff')}</p>}
      <div class="buttons">
        {user.may.includes('signOut') ? link('sign-out', t('user.signOut')) : null}
        {mayReset ? link('reset-totp', t('user.resetTotp')) : null}
        {user.isBlocked && user.may.includes('unblock') ? (
          <Form view={view} to={links.person(user.username, 'unblock')}>
            <Submit kind="plain">{t('user.unblock')}</Submit>
          </Form>
        ) : null}
        {!user.isBlocked && user.may.includes('block') ? link('block', t('user.block')) : null}
        {user.may.includes('merge') ? link('merge', t('user.merge')) : null}
        {user.may.includes('delete') ? (
          <a class="danger" href={href(links.person(user.username, 'delete'))}>
            {t('user.delete')}
          </a>
        ) : null}
      </div>
    </section>
  )
}

export const named = ({ params }: Pick<View, 'params'>) => ({ user: params.username })
export const back = ({ params }: Pick<View, 'params'>): string => links.person(params.username ?? '')

export const saveNotes = action({
  operation: service.update,
  page: async () => person,
  input: (view, form) => ({ ...named(view), notes: form.notes ?? '' }),
  done: (view) => ({ to: back(view), flash: 'saved' }),
})

export const retag = action({
  operation: tag,
  page: async () => person,
  input: (view, { add = '', remove }) => ({
    ...named(view),
    add: add.split(/[,\u060C\u3001\uFF0C]/).filter((each) => each.trim() !== ''),
    ...(remove && { remove: [remove] }),
  }),
  done: (view) => ({ to: back(view), flash: 'tagsChanged' }),
})

export const giveRole = action({
  operation: roles.assign,
  page: async () => person,
  input: ({ params }, form) => ({ role_id: form.role_id, user_id: params.username }),
  done: (view) => ({ to: back(view), flash: 'roleGiven' }),
})

export const takeRole = action({
  operation: roles.unassign,
  page: async () => person,
  input: ({ params }) => ({ role_id: params.role, user_id: params.username }),
  done: (view) => ({ to: back(view), flash: 'roleTaken' }),
})
