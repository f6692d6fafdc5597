import { AppError } from '../../core/errors.js'
import { links } from '../../core/pagelinks.js'
import * as service from '../../service/invitations.js'
import { errorIn } from '../../service/lib/bulk.js'
import * as roles from '../../service/roles.js'
import * as users from '../../service/users.js'
import type { Invitation } from '../../service/invitations.js'
import { pageNumber, withParameters } from '../kit/addresses.js'
import { action, page, Redirect, type LiveView, type View } from '../kit/page.js'
import { NewPasswordField } from '../parts/credentials.js'
import { Confirm } from '../parts/confirm.js'
import { Empty } from '../parts/empty.js'
import { Choice, errorText, Field, Form, Submit, Summary } from '../parts/form.js'
import { assertTidy, rolesOffered } from '../parts/lists.js'
import { Foreign } from '../parts/foreign.js'
import { NoMail } from '../parts/nomail.js'
import { Outcomes } from '../parts/outcomes.js'
import { Pager } from '../parts/pager.js'
import { nameOf, Person } from '../parts/person.js'
import { Refused } from '../parts/refused.js'
import { Table } from '../parts/table.js'
import { Time } from '../parts/time.js'
import { Top } from '../parts/top.js'

const HOME = '/dashboard/invitations'
const CREATE = '/dashboard/invitations/create'
const STATES = ['waiting', 'expired', 'accepted'] as const

/** A form for many addresses, and the invitations that were sent. */
export const invitations = page({
  cache: 'never',
  section: 'invitations',
  forms: [service.create],
  async load(view) {
    assertTidy(view)
    const state = STATES.find((each) => each === view.query.state)
    const found = await view.call(service.list, { ...(state && { state: [state] }), page: pageNumber(view), limit: 50 })
    return { ...found, roles: await rolesToGive(view), mayCreate: users.refusalToAdd(view.actor) === undefined }
  },
  title: ({ t }) => t('nav.invitations'),
  show(view, { invitations: rows, roles: given, page_info: { has_next_page: hasNext }, mayCreate }) {
    const { t, query } = view
    return (
      <>
        <Top view={view} title={t('nav.invitations')} />
        <Summary view={view} />
        <NoMail view={view} />
        {view.sendsMail ? <Refused view={view} of={service.create} /> : null}
        {view.sendsMail || view.form.values.emails !== undefined ? <Invite view={view} given={given} /> : null}
        {mayCreate ? <Create view={view} /> : null}
        <nav class="tabs" aria-label={t('user.state')}>
          {[undefined, ...STATES].map((state) => (
            <a
              href={view.href(withParameters(view.url, { state, page: undefined }))}
              aria-current={query.state === state ? 'true' : undefined}
            >
              {t(state === undefined ? 'invite.all' : `invite.state.${state}`)}
            </a>
          ))}
        </nav>
        {rows.length > 0 ? (
          <Invited view={view} rows={rows} />
        ) : query.state === undefined ? (
          <Empty title={t('invite.none')}>
            <p>{t('invite.noneNext')}</p>
          </Empty>
        ) : (
          <Empty title={t('invite.noneSo')} />
        )}
        <Pager view={view} page={pageNumber(view)} pages={0} hasNext={hasNext} />
      </>
    )
  },
})

/** An invitation is a mailed link. Without mail there is no form, except for one that was sent before that and is shown again. */
const Invite = ({ view, given }: { view: View; given: Awaited<ReturnType<typeof rolesToGive>> }) => (
  <Form view={view} to={HOME} class="settings-form">
    <Field
      view={view}
      of={service.create}
      name="emails"
      label={view.t('invite.emails')}
      hint={view.t('invite.emailsHint')}
      rows={5}
      required
      autocomplete="off"
    />
    {given.length > 0 ? (
      <Choice
        view={view}
        name="role"
        label={view.t('invite.role')}
        options={[
          { value: '', text: view.t('user.noRole') },
          ...given.map(({ id, name }) => ({ value: id, text: name })),
        ]}
      />
    ) : null}
    <Submit>{view.t('invite.send')}</Submit>
  </Form>
)

/** The roles that the reader may give. */
async function rolesToGive(view: LiveView): Promise<roles.Role[]> {
  if (!view.may(roles.assign)) return []
  return (await rolesOffered(view)).filter(({ may }) => may.includes('assign'))
}

/** For people who get no mail, and for sites that send none. */
function Create({ view }: { view: View }) {
  const { t, form } = view
  return (
    <details class="history" open={form.values.email !== undefined}>
      <summary>{t('invite.create')}</summary>
      <p class="soft">{t('invite.createHint')}</p>
      <Form view={view} to={CREATE} class="settings-form">
        <Field
          view={view}
          of={users.create}
          name="email"
          type="email"
          label={t('field.email')}
          required
          autocomplete="off"
        />
        <Field view={view} of={users.create} name="name" label={t('field.name')} autocomplete="off" />
        <NewPasswordField view={view} of={users.create} label={t('field.password')} />
        <Submit>{t('setup.createAccount')}</Submit>
      </Form>
    </details>
  )
}

export const createAccount = action({
  operation: users.create,
  page: async () => invitations,
  input: (_view, { email, name, password }) => ({ email, password, ...(name && { name }) }),
  done: (_view, { user }) => ({ to: links.person(user.username), flash: 'accountCreated' }),
})

/** What a row is called: the address where the reader may see it. */
const labelOf = (view: View, invitation: Invitation): string => invitation.email || nameOf(view, invitation)

const Invited = ({ view, rows }: { view: View; rows: readonly Invitation[] }) => {
  const { t } = view
  return (
    <Table
      view={view}
      label={t('nav.invitations')}
      rows={rows}
      columns={[
        { label: t('invite.person'), kind: 'title', cell: (row) => <Foreign text={labelOf(view, row)} /> },
        {
          label: t('user.state'),
          cell: ({ state }) => <span class={state === 'waiting' ? 'mark' : 'soft'}>{t(`invite.state.${state}`)}</span>,
        },
        {
          label: t('invite.by'),
          cell: ({ invitedBy }) => (invitedBy ? <Person view={view} person={invitedBy} /> : t('invite.byNobody')),
        },
        { label: t('invite.sent'), cell: ({ sentAt }) => <Time view={view} at={sentAt} /> },
        {
          label: t('invite.expires'),
          cell: ({ state, expiresAt }) => (state === 'waiting' ? view.words.date(expiresAt) : ''),
        },
        { label: t('invite.actions'), cell: (row) => <Actions view={view} row={row} /> },
      ]}
    />
  )
}

const Actions = ({ view, row }: { view: View; row: Invitation }) => {
  const whose = (
    <span class="hidden">
      {' '}
      <Foreign text={labelOf(view, row)} />
    </span>
  )
  return row.may.length === 0 ? null : (
    <div class="row-actions">
      {row.may.includes('resend') ? (
        <Form view={view} to={links.invitation(row.username, 'resend')}>
          <button type="submit" class="link">
            {view.t('invite.resend')}
            {whose}
          </button>
        </Form>
      ) : null}
      {row.may.includes('revoke') ? (
        <a href={view.href(links.invitation(row.username, 'revoke'))}>
          {view.t('invite.revoke')}
          {whose}
        </a>
      ) : null}
    </div>
  )
}

/** Lines, or what stands between commas and semicolons. */
const addressesIn = (text = ''): string[] => text.split(/[\n,;]+/).map((each) => each.trim()).filter((each) => each !== '') // prettier-ignore

/** Invites everybody, and names those who could not be invited with the reasons. */
export const invite = action({
  operation: service.create,
  page: async () => invitations,
  input: (_view, { emails, role }) => ({ emails: addressesIn(emails), ...(role && { role }) }),
  done(view, { outcomes, invited, failed }) {
    const { t } = view
    if (failed === 0) return { to: HOME, flash: { flash: 'invited', count: invited } }
    const title = t('invite.outcome', { done: invited, count: failed })
    const done = outcomes.filter(({ outcome }) => outcome === 'invited')
    return {
      to: HOME,
      title,
      section: 'invitations',
      show: (
        <Outcomes
          view={view}
          title={title}
          back={HOME}
          failed={outcomes.flatMap(({ given, error }) => (error ? [{ name: given, error }] : []))}
          textOf={(error, name) => reasonOf(view, error, name)}
        >
          {done.length > 0 ? (
            <section>
              <h2>{t('invite.invited')}</h2>
              <ul class="outcomes">
                {done.map(({ given }) => (
                  <li>
                    <bdi>{given}</bdi>
                  </li>
                ))}
              </ul>
            </section>
          ) : null}
        </Outcomes>
      ),
    }
  },
})

function reasonOf({ words }: View, { code, message }: { code: string; message: string }, address: string): string {
  const key = `error.${code}.invite`
  const domain = address.slice(address.lastIndexOf('@') + 1)
  return words.has(key) ? words.t(key, { domain }) : errorText({ words }, errorIn({ code, message }))
}

export const resend = action({
  operation: service.resend,
  page: async () => invitations,
  input: ({ params }) => ({ user: params.username }),
  done: () => ({ to: HOME, flash: 'invitedAgain' }),
})

/** The invitation, for those who may revoke it. Others are led to the list. */
async function revocableAt({ call, form, params }: LiveView): Promise<Invitation> {
  const { invitations: [invitation] } = await call(service.list, { user: params.username ?? '', limit: 1 }) // prettier-ignore
  if (!invitation) throw new AppError('NOT_FOUND', 'There is no such page.')
  if (!invitation.may.includes('revoke') && !form.error) throw new Redirect(HOME)
  return invitation
}

export const revokePage = page({
  cache: 'never',
  section: 'invitations',
  load: revocableAt,
  title: ({ t }) => t('invite.revokeTitle'),
  show: (view, invitation) => (
    <Confirm
      view={view}
      to={links.invitation(invitation.username, 'revoke')}
      back={HOME}
      title={view.t('invite.revokeTitle')}
      action={view.t('invite.revoke')}
      quote={
        <p>
          <Foreign text={labelOf(view, invitation)} />
        </p>
      }
    >
      {view.t('invite.revokeLoss')}
    </Confirm>
  ),
})

export const revoke = action({
  operation: service.revoke,
  page: async () => revokePage,
  input: ({ params }) => ({ user: params.username }),
  done: () => ({ to: HOME, flash: 'invitationRevoked' }),
})
