import { links } from '../../core/pagelinks.js'
import * as service from '../../service/keys.js'
import { action, page } from '../kit/page.js'
import { AnswerTitle } from '../parts/answertitle.js'
import { Confirm } from '../parts/confirm.js'
import { Choice, Field, Form, Submit, Summary } from '../parts/form.js'
import { Table } from '../parts/table.js'
import { Hour } from '../parts/time.js'
import { Top } from '../parts/top.js'

const HOME = '/dashboard/settings/keys'
const DAYS = ['30', '90', '365'] as const

/** Keys of programs: the owner sees those of everyone. */
export const keys = page({
  cache: 'never',
  section: 'keys',
  load: (view) => view.call(service.list, { all: view.actor.isOwner, created: 'desc', limit: 100 }),
  title: ({ t }) => t('keys.title'),
  show(view, { keys: rows }) {
    const { t } = view
    return (
      <>
        <Top view={view} title={t('keys.title')} />
        <p>{t('keys.explained')}</p>
        <Summary view={view} />
        <Form view={view} to={HOME} class="settings-form">
          <Field view={view} of={service.create} name="name" label={t('keys.name')} required />
          <Choice
            view={view}
            name="days"
            label={t('keys.days')}
            value="90"
            options={DAYS.map((days) => ({ value: days, text: t('keys.daysOf', { count: Number(days) }) }))}
          />
          <Submit>{t('keys.create')}</Submit>
        </Form>
        {rows.length === 0 ? (
          <p class="soft">{t('keys.none')}</p>
        ) : (
          <Table
            view={view}
            label={t('keys.title')}
            rows={rows}
            columns={[
              { label: t('field.name'), kind: 'title', cell: (key) => <bdi>{key.name}</bdi> },
              { label: t('keys.user'), cell: (key) => <bdi>{key.user.username}</bdi> },
              {
                label: t('keys.may'),
                cell: (key) => (key.permissions === null ? t('keys.everything') : key.permissions.join(', ')),
              },
              { label: t('keys.expires'), cell: (key) => view.words.date(key.expiresAt) },
              {
                label: t('keys.used'),
                cell: (key) =>
                  key.lastUsedAt === null ? t('settings.neverUsed') : <Hour view={view} at={key.lastUsedAt} />,
              },
              {
                label: t('keys.revoke'),
                cell: (key) => (
                  <a
                    class="danger"
                    href={view.href(links.revokeKey(key.keyId))}
                    aria-label={t('keys.revokeOne', { name: key.name })}
                  >
                    {t('keys.revoke')}
                  </a>
                ),
              },
            ]}
          />
        )}
      </>
    )
  },
})

/** The key is shown once. */
export const create = action({
  operation: service.create,
  page: async () => keys,
  input: (_view, { name, days }) => ({ name, days: Number(days) }),
  done: (view, { token, key }) => ({
    to: HOME,
    title: view.t('keys.created', { name: key.name }),
    show: (
      <div class="narrow">
        <AnswerTitle view={view}>{view.t('keys.created', { name: key.name })}</AnswerTitle>
        <p>{view.t('keys.once')}</p>
        <p>
          <code>{token}</code>
        </p>
        <a class="button primary" href={view.href(HOME)}>
          {view.t('keys.saved')}
        </a>
      </div>
    ),
  }),
})

export const revokePage = page({
  cache: 'never',
  section: 'keys',
  load: async (view) => (await view.call(service.show, { keyId: view.params.key })).key,
  title: ({ t }, { name }) => t('keys.revokeTitle', { name }),
  show: (view, { name, keyId }) => (
    <Confirm
      view={view}
      to={links.revokeKey(keyId)}
      back={HOME}
      title={view.t('keys.revokeTitle', { name })}
      action={view.t('keys.revoke')}
    >
      {view.t('keys.revokeLoss')}
    </Confirm>
  ),
})

export const revoke = action({
  operation: service.revoke,
  page: async () => revokePage,
  input: ({ params }) => ({ keyId: params.key }),
  done: () => ({ to: HOME, flash: 'deleted' }),
})
