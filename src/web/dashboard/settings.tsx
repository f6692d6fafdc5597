import { valuesIn } from '../../core/values.js'
import { BETWEEN_LINKS } from '../../core/links.js'
import * as labs from '../../service/labs.js'
import * as service from '../../service/settings.js'
import type { Settings } from '../../service/settings.js'
import { action, page, type View } from '../kit/page.js'
import { Check, Field, Form, Hidden, Submit, Summary } from '../parts/form.js'
import { Logo } from '../parts/logo.js'
import { LogoFields, logosIn } from '../parts/logofields.js'
import { FormsScript } from '../parts/formsscript.js'
import { NoMail } from '../parts/nomail.js'
import { Top } from '../parts/top.js'
import { Version } from '../parts/version.js'

const HINTS = {
  announcement: 'general.announcementHint',
  announcementUntil: 'general.announcementUntilHint',
  headerLinks: 'general.linksHint',
  footerLinks: 'general.linksHint',
  signupNote: 'general.signupNoteHint',
  customCss: 'general.customCssHint',
} as const

/** A text that the site adds to its pages. */
const OwnText = ({ view, name, ...rest }: { view: View; name: keyof typeof HINTS; value: string; rows?: number }) => (
  <Field
    view={view}
    of={service.update}
    name={name}
    label={view.t(`general.${name}`)}
    hint={view.t(HINTS[name])}
    {...rest}
  />
)

const linesIn = (text: string): string[] => valuesIn(text, BETWEEN_LINKS)

/** A date alone where it is its midnight. */
const shownTime = (time: string | null): string => time?.replace('T00:00:00.000Z', '') ?? ''

const GENERAL = '/dashboard/settings/general'
const DOMAINS = '/dashboard/settings/domains'

/** What the site is called and looks like, and who may join. */
export const general = page({
  cache: 'never', // the configuration of the server is no row
  section: 'general',
  load: async (view) => ({
    settings: view.settings,
    version: (await view.call(service.site, {})).version,
    labs: await view.call(labs.show, {}),
    limits: view.may(service.limits) ? (await view.call(service.limits, {})).limits : [],
  }),
  title: ({ t }) => t('general.title'),
  show(view, { settings, version, labs: { labs: features, version: labsVersion }, limits }) {
    const { t } = view
    const isSent = view.form.values.title !== undefined
    const unsent = { ...view, form: { values: {}, error: undefined } }
    // Of the two forms, the other one stays as it is
    const [form, labsForm] = isSent ? [view, unsent] : [unsent, view]
    return (
      <>
        <Top view={view} title={t('general.title')} />
        <FormsScript view={view} />
        <Summary view={view} labels={labelsOf(view)} />
        <div class="beside">
          <Form view={view} to={GENERAL} class="settings-form" data-unsaved="" takesFiles>
            <Version view={form} version={version} fresh={GENERAL} />
            <Field view={form} of={service.update} name="title" label={t('general.siteTitle')} value={settings.title} />
            <Field
              view={form}
              of={service.update}
              name="description"
              label={t('general.description')}
              hint={t('general.descriptionHint')}
              rows={2}
              value={settings.description ?? ''}
            />
            <LogoFields view={form} settings={settings} isSent={isSent} />
            <Field
              view={form}
              of={service.update}
              name="accentColor"
              label={t('general.accent')}
              hint={t('general.accentHint')}
              value={settings.accentColor ?? ''}
              data={{ accent: view.href('/assets/accent/') }}
            />
            <h2>{t('general.newAccounts')}</h2>
            <NoMail view={view} />
            <Check
              view={form}
              name="allowSignup"
              label={t('general.allowSignup')}
              checked={settings.allowSignup}
              isSent={isSent}
            />
            <Check
              view={form}
              name="holdFirstPosts"
              label={t('general.holdFirstPosts')}
              checked={settings.holdFirstPosts}
              isSent={isSent}
            />
            <p>{t('general.limitsExplained')}</p>
            {LIMITS.map((name) => (
              <Limit view={form} name={name} configured={limits.find((limit) => limit.name === name)?.configured} />
            ))}
            <h2>{t('general.pages')}</h2>
            <OwnText view={form} name="announcement" rows={2} value={settings.announcement ?? ''} />
            <OwnText view={form} name="announcementUntil" value={shownTime(settings.announcementUntil)} />
            <OwnText view={form} name="headerLinks" rows={2} value={settings.headerLinks.join('\n')} />
            <OwnText view={form} name="footerLinks" rows={2} value={settings.footerLinks.join('\n')} />
            <OwnText view={form} name="signupNote" rows={2} value={settings.signupNote ?? ''} />
            <OwnText view={form} name="customCss" rows={6} value={settings.customCss ?? ''} />
            <Submit>{t('form.save')}</Submit>
          </Form>
          <Preview view={view} />
        </div>
        <section>
          <h2>{t('labs.title')}</h2>
          <Form view={view} to="/dashboard/settings/labs" class="settings-form">
            <Version view={labsForm} version={labsVersion} fresh={GENERAL} />
            <Check
              view={labsForm}
              name="voteOnBehalf"
              label={t('labs.voteOnBehalf')}
              checked={features.voteOnBehalf ?? false}
              isSent={labsForm.form.error !== undefined}
            />
            <Submit>{t('form.save')}</Submit>
          </Form>
        </section>
      </>
    )
  },
})

/** The labels of the fields, for the summary of errors. */
const labelsOf = ({ t }: View) => ({
  title: t('general.siteTitle'),
  description: t('general.description'),
  logo: t('general.logoFile'),
  logoDark: t('general.logoDarkFile'),
  accentColor: t('general.accent'),
  ...Object.fromEntries([...Object.keys(HINTS), ...LIMITS].map((name) => [name, t(`general.${name as LabelName}`)])),
})

type LabelName = keyof typeof HINTS | (typeof LIMITS)[number]

const LIMITS = ['newFor', 'limitPosts', 'limitComments', 'limitEdits', 'limitReports'] as const

/** What holds for new accounts. An empty field leaves it to the server. */
function Limit({
  view,
  name,
  configured,
}: {
  view: View
  name: (typeof LIMITS)[number]
  configured: string | undefined
}) {
  const { t, settings } = view
  return (
    <Field
      view={view}
      of={service.update}
      name={name}
      label={t(`general.${name}`)}
      hint={configured === undefined ? undefined : t('general.limitHint', { value: configured })}
      value={settings[name] ?? ''}
    />
  )
}

/** Each is shown in its scheme, whichever the browser has. */
const inScheme = ({ logo, logoDark }: Settings, scheme: 'light' | 'dark') => ({
  logo: scheme === 'dark' && logo !== null ? (logoDark ?? logo) : logo,
  logoDark: null,
})

/** A few elements in both colour schemes. A script shows a colour while it is typed; without one, it is that of the site. */
const Preview = ({ view: { t, settings } }: { view: View }) => (
  <section aria-labelledby="look">
    <h2 id="look">{t('general.preview')}</h2>
    {(['light', 'dark'] as const).map((scheme) => (
      <div class={`look ${scheme}`} aria-hidden="true">
        <strong>
          <Logo settings={inScheme(settings, scheme)} /> {settings.title}
        </strong>
        <span class="button primary">{t('post.new')}</span> <span class="as-link">{t('nav.boards')}</span>
      </div>
    ))}
  </section>
)

export const saveGeneral = action({
  operation: service.update,
  page: async () => general,
  images: { images: 'logo', imagesDark: 'logoDark' },
  input: (_view, { title, description, accentColor, allowSignup, holdFirstPosts, ...form }) => ({
    ...logosIn(form),
    ...(form.announcement !== undefined && { announcement: form.announcement }),
    ...(form.announcementUntil !== undefined && { announcementUntil: form.announcementUntil }),
    ...(form.signupNote !== undefined && { signupNote: form.signupNote }),
    ...(form.customCss !== undefined && { customCss: form.customCss }),
    ...Object.fromEntries(LIMITS.flatMap((name) => (form[name] === undefined ? [] : [[name, form[name]]]))),
    ...(form.headerLinks !== undefined && { headerLinks: linesIn(form.headerLinks) }),
    ...(form.footerLinks !== undefined && { footerLinks: linesIn(form.footerLinks) }),
    title,
    description,
    accentColor,
    allowSignup: allowSignup === 'true',
    holdFirstPosts: holdFirstPosts === 'true',
  }),
  done: () => ({ to: GENERAL, flash: 'saved' }),
})

export const saveLabs = action({
  operation: labs.update,
  page: async () => general,
  input: (_view, { voteOnBehalf }) => ({ voteOnBehalf: voteOnBehalf === 'true' }),
  done: () => ({ to: GENERAL, flash: 'saved' }),
})

/** Mail domains whose addresses no account may have. */
export const domains = page({
  cache: 'never',
  section: 'domains',
  load: (view) => view.call(service.blockedDomains, {}),
  title: ({ t }) => t('domains.title'),
  show(view, { domains: blocked }) {
    const { t } = view
    const isEditor = view.may(service.blockDomains)
    return (
      <>
        <Top view={view} title={t('domains.title')} count={t('domains.count', { count: blocked.length })} />
        <p>{t('domains.explained')}</p>
        <Summary view={view} />
        {isEditor ? (
          <Form view={view} to={`${DOMAINS}/add`} class="settings-form">
            <Field
              view={view}
              of={service.blockDomains}
              name="domains"
              label={t('domains.add')}
              hint={t('domains.addHint')}
              rows={3}
              required
            />
            <Submit>{t('domains.block')}</Submit>
          </Form>
        ) : null}
        <ul class="plain-list">
          {blocked.map((domain) => (
            <li>
              <bdi>{domain}</bdi>
              {isEditor ? (
                <Form view={view} to={`${DOMAINS}/remove`}>
                  <Hidden name="domains" value={domain} />
                  <button type="submit" class="link" aria-label={t('domains.unblockOne', { domain })}>
                    {t('domains.unblock')}
                  </button>
                </Form>
              ) : null}
            </li>
          ))}
        </ul>
      </>
    )
  },
})

const domainsIn = (text = ''): string[] => text.split(/[\s,;]+/).filter((each) => each !== '')

export const block = action({
  operation: service.blockDomains,
  page: async () => domains,
  input: (_view, form) => ({ domains: domainsIn(form.domains) }),
  done: () => ({ to: DOMAINS, flash: 'saved' }),
})

export const unblock = action({
  operation: service.unblockDomains,
  page: async () => domains,
  input: (_view, form) => ({ domains: domainsIn(form.domains) }),
  done: () => ({ to: DOMAINS, flash: 'saved' }),
})
