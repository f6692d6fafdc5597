import { links } from '../../core/pagelinks.js'
import * as service from '../../service/mails.js'
import { pageNumber, withQuery } from '../kit/addresses.js'
import { action, page, type View } from '../kit/page.js'
import { AnswerTitle } from '../parts/answertitle.js'
import { Empty } from '../parts/empty.js'
import { NoMail } from '../parts/nomail.js'
import { Form, Submit, Summary } from '../parts/form.js'
import { Pager } from '../parts/pager.js'
import { Refused } from '../parts/refused.js'
import { Table } from '../parts/table.js'
import { Time } from '../parts/time.js'
import { Top } from '../parts/top.js'

const HOME = '/dashboard/settings/mail'

type Mail = Awaited<ReturnType<typeof service.list.run>>['mails'][number]

/** Mails that wait or failed, with the words of the mail server; or all of them. */
export const mails = page({
  cache: 'never',
  section: 'mail',
  forms: [service.test],
  async load(view) {
    const list = await view.call(service.list, { limit: 50, page: pageNumber(view), sent: view.query.sent === 'true' })
    const { suppressed, total_count: refused } = await view.call(service.suppressed, { limit: MOST_REFUSED })
    return { ...list, suppressed, refused }
  },
  title: ({ t }) => t('mails.title'),
  show(view, { mails: rows, total, total_pages: pages, suppressed, refused }) {
    const { t, query } = view
    const isAll = query.sent === 'true'
    return (
      <>
        <Top view={view} title={t('mails.title')} count={t(isAll ? 'mails.countAll' : 'mails.count', { count: total })}>
          {view.sendsMail ? (
            <Form view={view} to={`${HOME}/test`}>
              <Submit kind="plain">{t('mails.test')}</Submit>
            </Form>
          ) : null}
        </Top>
        <Summary view={view} />
        <NoMail view={view} />
        {view.sendsMail ? <Refused view={view} of={service.test} /> : null}
        <nav class="tabs" aria-label={t('mails.which')}>
          <a href={view.href(HOME)} aria-current={isAll ? undefined : 'true'}>
            {t('mails.unsent')}
          </a>
          <a href={view.href(withQuery(HOME, { sent: 'true' }))} aria-current={isAll ? 'true' : undefined}>
            {t('mails.all')}
          </a>
        </nav>
        {rows.length === 0 ? (
          <Empty title={t(isAll ? 'mails.none' : 'mails.noneWait')} />
        ) : (
          <Table
            view={view}
            label={t('mails.title')}
            rows={rows}
            columns={[
              { label: t('mails.to'), kind: 'title', cell: (mail) => <bdi>{mail.recipient}</bdi> },
              { label: t('mails.subject'), cell: (mail) => <bdi>{mail.subject}</bdi> },
              { label: t('mails.state'), cell: (mail) => <State view={view} mail={mail} /> },
              { label: t('mails.queued'), cell: (mail) => <Time view={view} at={mail.createdAt} /> },
              { label: t('mails.next'), cell: (mail) => <Next view={view} mail={mail} /> },
            ]}
          />
        )}
        <Pager view={view} page={pageNumber(view)} pages={pages} />
        {refused > 0 ? <Suppressed view={view} rows={suppressed} count={refused} /> : null}
      </>
    )
  },
})

/** Addresses on the page, the latest. `mail suppressed list` has all. */
const MOST_REFUSED = 50

/** To whom no notification is mailed. */
const Suppressed = ({
  view,
  rows,
  count,
}: {
  view: View
  rows: Awaited<ReturnType<typeof service.suppressed.run>>['suppressed']
  count: number
}) => (
  <section>
    <h2>{view.t('mails.refused', { count })}</h2>
    <p class="soft">{view.t('mails.refusedHint')}</p>
    <Table
      view={view}
      label={view.t('mails.refused', { count })}
      rows={rows}
      columns={[
        { label: view.t('mails.to'), kind: 'title', cell: ({ email }) => <bdi>{email}</bdi> },
        { label: view.t('mails.reason'), cell: ({ reason }) => <q dir="auto">{reason}</q> },
        { label: view.t('mails.since'), cell: ({ suppressedAt }) => <Time view={view} at={suppressedAt} /> },
        {
          label: view.t('mails.next'),
          cell: ({ userId, email }) => (
            <Form view={view} to={links.allowMail(userId)}>
              <button type="submit" class="link" aria-label={view.t('mails.againOne', { recipient: email })}>
                {view.t('mails.again')}
              </button>
            </Form>
          ),
        },
      ]}
    />
  </section>
)

const State = ({ view: { t }, mail }: { view: View; mail: Mail }) => (
  <>
    <span class={mail.state === 'failed' ? 'mark spam' : undefined}>{t(`mails.${mail.state}`)}</span>
    {mail.lastError === null ? null : (
      <p class="soft">
        <q dir="auto">{mail.lastError}</q>
      </p>
    )}
  </>
)

const Next = ({ view, mail }: { view: View; mail: Mail }) =>
  mail.state === 'waiting' || mail.state === 'failed' ? (
    <Form view={view} to={links.mail(mail.mailId, 'retry')} class="buttons">
      <button type="submit" class="link" aria-label={view.t('mails.retryOne', { recipient: mail.recipient })}>
        {view.t('mails.retry')}
      </button>
      <button
        type="submit"
        class="link danger"
        formaction={view.href(links.mail(mail.mailId, 'cancel'))}
        aria-label={view.t('mails.cancelOne', { recipient: mail.recipient })}
      >
        {view.t('mails.cancel')}
      </button>
    </Form>
  ) : null

const again = async () => mails

export const retry = action({
  operation: service.retry,
  page: again,
  input: ({ params }) => ({ mailId: params.mail }),
  done: () => ({ to: HOME, flash: 'mailRetried' }),
})

export const cancel = action({
  operation: service.cancel,
  page: again,
  input: ({ params }) => ({ mailId: params.mail }),
  before: async (view, form) =>
    form.checked
      ? undefined
      : {
          title: view.t('mails.cancelTitle'),
          show: (
            <div class="narrow">
              <AnswerTitle view={view}>{view.t('mails.cancelTitle')}</AnswerTitle>
              <p>{view.t('mails.cancelLoss')}</p>
              <Form view={view} to={view.path} class="buttons">
                <input type="hidden" name="checked" value="yes" />
                <Submit kind="danger">{view.t('mails.cancelIt')}</Submit>
                <a class="button plain" href={view.href(HOME)}>
                  {view.t('form.cancel')}
                </a>
              </Form>
            </div>
          ),
        },
  done: () => ({ to: HOME, flash: 'mailCancelled' }),
})

export const unsuppress = action({
  operation: service.unsuppress,
  page: again,
  input: ({ params }) => ({ user: params.user }),
  done: () => ({ to: HOME, flash: 'mailAgain' }),
})

export const test = action({
  operation: service.test,
  page: again,
  input: () => ({}),
  done: () => ({ to: withQuery(HOME, { sent: 'true' }), flash: 'mailTested' }),
})
