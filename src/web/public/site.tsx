import type { VNode } from 'preact'
import type { AppError } from '../../core/errors.js'
import * as boards from '../../service/boards.js'
import * as roadmaps from '../../service/roadmaps.js'
import * as service from '../../service/site.js'
import type { ErrorPage } from '../kit/routes.js'
import { action, page, Redirect, type View } from '../kit/page.js'
import { signInFrom } from '../kit/addresses.js'
import { EmailField, NewPasswordField } from '../parts/credentials.js'
import { Empty } from '../parts/empty.js'
import { ASK_AGAIN, type Repeat } from '../kit/repeat.js'
import { Check, errorText, Field, Form, Hidden, Submit, Summary } from '../parts/form.js'
import { SearchForm } from '../parts/search.js'

/** What went wrong, and where to go on. */
export const error: ErrorPage = {
  title: ({ t }, { status, code }) =>
    code === 'MAIL_KEY_NOT_FOUND' ? t('mailLink.unknown') : status === 404 ? t('error.missing') : t('error.title'),
  show(view, failure, repeat) {
    const { t, href, viewer, mailPagesOnly } = view
    const isLink = failure.code === 'MAIL_KEY_NOT_FOUND'
    const isMissing = failure.status === 404 && !mailPagesOnly && !isLink
    const next = repeat ? <Again view={view} repeat={repeat} /> : isMissing ? <SearchForm view={view} /> : nextOf(view, failure) // prettier-ignore
    return (
      <>
        <Empty title={isMissing ? t('error.missing') : t(isLink ? 'mailLink.unknown' : 'error.title')} isPage>
          <p>{isMissing ? t('error.missingNext') : errorText(view, failure)}</p>
          {next}
          {mailPagesOnly ? null : (
            <a class={`button ${next ? 'plain' : 'primary'}`} href={href('/')}>
              {t('error.home')}
            </a>
          )}
          {isMissing && !viewer ? (
            <a class="button plain" href={href(signInFrom(view))}>
              {t('login.title')}
            </a>
          ) : null}
        </Empty>
        {repeat && repeat.texts.length > 0 ? (
          <section class="narrow typed">
            <h2>{t('error.typed')}</h2>
            {repeat.texts.map((text) => (
              <p dir="auto">{text}</p>
            ))}
          </section>
        ) : null}
      </>
    )
  },
}

function nextOf(view: View, { code, status }: AppError): VNode | undefined {
  const { t, href, viewer } = view
  if (code === 'EMAIL_NOT_VERIFIED')
    return (
      <a class="button primary" href={href('/settings')}>
        {t('settings.sendAgain')}
      </a>
    )
  if (status >= 500 && code !== 'MAIL_CONFIG_MISSING')
    return (
      <a class="button primary" href="">
        {t('error.again')}
      </a>
    )
  return (status === 401 || status === 403) && code !== 'FORM_REFUSED' && !viewer ? (
    <a class="button primary" href={href(signInFrom(view))}>
      {t('login.title')}
    </a>
  ) : undefined
}

/** The same form once more. What a visitor wants meanwhile is in its fields. */
const Again = ({ view, repeat: { to, fields, isPartial } }: { view: View; repeat: Repeat }) => (
  <Form view={view} to={to}>
    {Object.entries(fields).map(([name, value]) => (
      <Hidden name={name} value={value} />
    ))}
    {isPartial ? (
      <>
        <Hidden name={ASK_AGAIN} value="yes" />
        <p>{view.t('error.partial')}</p>
      </>
    ) : null}
    <Submit>{view.t('error.again')}</Submit>
  </Form>
)

async function assertNew(view: View): Promise<object> {
  if ((await view.call(service.status, {})).is_setup && !view.form.error) throw new Redirect('/')
  return {}
}

export const welcome = page({
  cache: 'visitor',
  isUnlisted: true,
  isSetup: true,
  load: assertNew,
  title: ({ t }) => t('setup.welcome'),
  show: ({ t, href }) => (
    <div class="narrow">
      <h1>{t('setup.welcome')}</h1>
      <p>{t('setup.explained')}</p>
      <a class="button primary" href={href('/setup/create-account')}>
        {t('setup.begin')}
      </a>
    </div>
  ),
})

const STATUSES = '/setup/create-roadmaps'
/** What is left to do. */
const DONE = '/dashboard/overview'

/** Few servers have one, and a server that has one says so first of all. */
const wantsToken = ({ form }: View): boolean => form.error?.code === 'INVALID_TOKEN'

export const accountPage = page({
  cache: 'never', // mail may be set up after a restart
  isUnlisted: true,
  isSetup: true,
  load: async (view) => ({
    ...(await assertNew(view)),
    lacksMail: (await view.refusalOf(service.setup))?.code === 'MAIL_CONFIG_MISSING',
  }),
  title: ({ t }) => t('setup.account'),
  show: (view, { lacksMail }) => (
    <div class="narrow">
      <p class="soft">{view.t('setup.step', { step: 1, steps: 3 })}</p>
      <h1>{view.t('setup.account')}</h1>
      <Summary
        view={view}
        text={wantsToken(view) ? <a href="#field-setupToken">{view.t('setup.tokenNeeded')}</a> : undefined}
      />
      <Form view={view} to="/setup/create-account">
        <Field view={view} of={service.setup} name="siteTitle" label={view.t('setup.siteTitle')} required />
        <Field view={view} of={service.setup} name="name" label={view.t('field.name')} autocomplete="nickname" />
        <EmailField view={view} of={service.setup} />
        <NewPasswordField view={view} of={service.setup} label={view.t('field.password')} />
        {wantsToken(view) || view.form.values.setupToken ? (
          <Field
            view={view}
            of={service.setup}
            name="setupToken"
            type="password"
            label={view.t('setup.token')}
            hint={view.t('setup.tokenHint')}
            required
            autocomplete="off"
          />
        ) : null}
        {lacksMail ? (
          <div class="note">
            <p>{view.t('setup.noMailExplained')}</p>
            <Check view={view} name="noMail" label={view.t('setup.noMail')} required />
          </div>
        ) : null}
        <Submit>{view.t('setup.createAccount')}</Submit>
      </Form>
    </div>
  ),
})

export const createAccount = action({
  operation: service.setup,
  page: async () => accountPage,
  input: ({ words }, { siteTitle, name, email, password, noMail, setupToken }) => ({
    siteTitle,
    email,
    password,
    language: words.language,
    ...(name && { name }),
    ...(noMail && { noMail: true }),
    ...(setupToken && { setupToken }),
  }),
  done: () => ({ to: '/setup/create-board' }),
})

export const boardPage = page({
  cache: 'actor',
  signedIn: true,
  isUnlisted: true,
  isSetup: true,
  load: async () => ({}),
  title: ({ t }) => t('setup.board'),
  show: (view) => (
    <div class="narrow">
      <p class="soft">{view.t('setup.step', { step: 2, steps: 3 })}</p>
      <h1>{view.t('setup.board')}</h1>
      <Summary view={view} />
      <p>{view.t('setup.boardExplained')}</p>
      <Form view={view} to="/setup/create-board">
        <Field
          view={view}
          of={boards.create}
          name="name"
          label={view.t('setup.boardName')}
          required
          value={view.t('setup.boardExample')}
        />
        <div class="buttons">
          <Submit>{view.t('setup.createBoard')}</Submit>
          <a class="button plain" href={view.href(STATUSES)}>
            {view.t('setup.skip')}
          </a>
        </div>
      </Form>
    </div>
  ),
})

export const createBoard = action({
  operation: boards.create,
  page: async () => boardPage,
  input: (_view, { name }) => ({ name, display: true }),
  done: () => ({ to: STATUSES, flash: 'boardCreated' }),
})

/** What becomes of posts: the usual four, so that the first post can have one. */
export const roadmapsPage = page({
  cache: 'actor',
  signedIn: true,
  isUnlisted: true,
  isSetup: true,
  load: async () => ({}),
  title: ({ t }) => t('setup.statuses'),
  show: (view) => (
    <div class="narrow">
      <p class="soft">{view.t('setup.step', { step: 3, steps: 3 })}</p>
      <h1>{view.t('setup.statuses')}</h1>
      <Summary view={view} />
      <p>{view.t('setup.statusesExplained')}</p>
      <p>{view.t('roadmap.usualNames')}</p>
      <Form view={view} to={STATUSES}>
        <div class="buttons">
          <Submit>{view.t('roadmap.usual')}</Submit>
          <a class="button plain" href={view.href(DONE)}>
            {view.t('setup.skip')}
          </a>
        </div>
      </Form>
    </div>
  ),
})

export const createRoadmaps = action({
  operation: roadmaps.createUsual,
  page: async () => roadmapsPage,
  input: () => ({}),
  done: () => ({ to: DONE, flash: 'setUp' }),
})
