import { DEFAULT_ACCENT, isColor } from '../../core/colors.js'
import { LANGUAGES, languageName } from '../../core/language.js'
import { linkIn } from '../../core/links.js'
import { links } from '../../core/pagelinks.js'
import {
  customStyle,
  dashboardScript,
  dashboardStyle,
  icon,
  publicStyle,
  script,
  settingsStyle,
  style,
} from '../kit/assets.js'
import type { Said, View } from '../kit/page.js'
import { signInFrom, withParameters } from '../kit/addresses.js'
import { PENDING } from '../kit/pending.js'
import type { Frame, FrameProps } from '../kit/routes.js'
import { SECTIONS } from '../kit/sections.js'
import { Empty } from './empty.js'
import { Form, Hidden } from './form.js'
import { Icon } from './icon.js'
import { Sections } from './sections.js'
import { Logo } from './logo.js'
import { siteIcon } from './siteicon.js'
import { Unread, Waits } from './waits.js'

export const frame: Frame = { Layout, Notice: ({ title }) => <Empty title={title} isPage /> }

function Layout({ view, title, head, isUnlisted, section, isFramed, isSetup, children }: FrameProps) {
  const { t, settings, words, href, mailPagesOnly, copiedAt } = view
  const { customCss } = settings // not on the dashboard, where a broken one is taken back
  const content = (
    <main id="main" tabIndex={-1} data-unreachable={t('layout.unreachable')}>
      <Flash view={view} />
      {copiedAt === undefined ? null : (
        <p class="note">
          <time datetime={copiedAt}>{t('layout.copy', { date: words.date(copiedAt) })}</time>
        </p>
      )}
      {view.isMailStopped && view.path !== '/settings/notifications' ? (
        <p class="note">
          {t('ways.stoppedNote')} <a href={href('/settings/notifications')}>{t('ways.stoppedMore')}</a>
        </p>
      ) : null}
      {children}
    </main>
  )
  const accent = isColor(settings.accentColor) ? settings.accentColor.toLowerCase() : undefined
  const whole = title === settings.title ? title : `${title} · ${settings.title}`
  return (
    <html lang={words.language} dir={words.direction}>
      <head>
        <meta charset="utf-8" />
        <title>{isRefused(view) ? t('layout.refused', { title: whole }) : whole}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        {isUnlisted ? <meta name="robots" content="noindex" /> : null}
        <link rel="icon" href={settings.logo ?? href(icon.path)} />
        {section ? null : <link rel="apple-touch-icon" href={siteIcon(view).src} />}
        {mailPagesOnly || section || copiedAt !== undefined ? null : (
          <link rel="manifest" href={href('/manifest.webmanifest')} />
        )}
        {accent ? <meta name="theme-color" content={`#${accent}`} /> : null}
        <link rel="stylesheet" href={href(style.path)} />
        {section && isFramed ? <link rel="stylesheet" href={href(publicStyle.path)} /> : null}
        <link rel="stylesheet" href={href((section ? dashboardStyle : publicStyle).path)} />
        {section && SECTIONS[section].group !== 'work' ? (
          <link rel="stylesheet" href={href(settingsStyle.path)} />
        ) : null}
        {accent && accent !== DEFAULT_ACCENT ? (
          <link rel="stylesheet" href={href(`/assets/accent/${accent}.css`)} />
        ) : null}
        {customCss === null || section || isSetup ? null : (
          <link rel="stylesheet" href={href(customStyle(customCss).path)} />
        )}
        {copiedAt === undefined ? <script src={href(script.path)} type="module" /> : null}
        {section ? <script src={href(dashboardScript.path)} type="module" /> : null}
        {head}
      </head>
      <body class={section ? 'team' : undefined} data-viewer={view.viewer?.userId}>
        <a class="skip" href="#main">
          {t('layout.skip')}
        </a>
        {isSetup || mailPagesOnly ? (
          <header>
            <span class="site">
              <bdi>{settings.title}</bdi>
            </span>
          </header>
        ) : (
          <Header view={view} />
        )}
        {view.announcement === undefined || section || isSetup || mailPagesOnly ? null : (
          <aside class="announcement" aria-label={t('layout.announcement')}>
            <div class="prose" dir="auto" dangerouslySetInnerHTML={{ __html: view.announcement }} />
          </aside>
        )}
        {section ? (
          <div class="dashboard">
            <Sections view={view} current={section} />
            {content}
          </div>
        ) : (
          content
        )}
        <footer>
          <bdi>{settings.title}</bdi>
          {isSetup || mailPagesOnly ? null : (
            <a href={href('/feed.atom')}>
              <Icon name="feed" /> {t('layout.feed')}
            </a>
          )}
          {copiedAt === undefined ? <a href={href('/api/v1/docs/')}>{t('layout.api')}</a> : null}
          <OwnLinks lines={settings.footerLinks} />
          {view.legal.map((name) => (
            <a href={href(links.legal(name))} aria-current={view.path === links.legal(name) ? 'page' : undefined}>
              {t(`legal.${name}`)}
            </a>
          ))}
          {copiedAt === undefined ? <noscript>{t('layout.utc')}</noscript> : <span>{t('layout.utc')}</span>}
          {(view.viewer && !isSetup) || mailPagesOnly ? null : <Languages view={view} />}
        </footer>
      </body>
    </html>
  )
}

/** Links of the owner. */
const OwnLinks = ({ lines }: { lines: readonly string[] }) => (
  <>
    {lines.map((line) => {
      const link = linkIn(line)
      return link ? (
        <a href={link.url} dir="auto">
          {link.label}
        </a>
      ) : null
    })}
  </>
)

/** Messages about something that did not happen, which are red and not green. */
const NOTHING: readonly Said['flash'][] = ['decidedNone', 'chooseFirst', 'undoneNot']

/** What was done, and the way back. */
function Flash({ view }: { view: View }) {
  const { t, said, undo, form } = view
  if (said.length === 0) return null
  return (
    <div
      class={said.every(({ flash }) => NOTHING.includes(flash)) ? 'flash nothing' : 'flash'}
      role="status"
      tabIndex={-1}
      autofocus={!form.error}
    >
      {said.map(({ flash, count = 0, name = `#${count}` }) => t(`flash.${flash}`, { count, name })).join(' ')}
      {said.map(({ more }) => more)}
      {undo === undefined || !view.viewer ? null : (
        <Form view={view} to={links.undo(undo)}>
          <Hidden name="to" value={withParameters(view.url, { choices: view.queried('choices') })} />
          <button type="submit" class="link" data-key="u">
            {t('undo.button')}
          </button>
        </Form>
      )}
    </div>
  )
}

/** Whether a form comes back with what is wrong; a screen reader says the title first. To be asked for a code is no error. */
const isRefused = ({ form }: View): boolean =>
  form.error !== undefined && (form.error.code !== 'TOTP_REQUIRED' || form.values.code !== undefined)

function Header({ view }: { view: View }) {
  const { t, settings, href, path } = view
  const link = (to: string, text: string) => (
    <a href={href(to)} aria-current={path === to || (to !== '/' && path.startsWith(`${to}/`)) ? 'page' : undefined}>
      {text}
    </a>
  )
  return (
    <header>
      <a class="site" href={href('/')}>
        <Logo settings={settings} />
        <bdi>{settings.title}</bdi>
      </a>
      <nav aria-label={t('layout.nav')}>
        {link('/', t('nav.posts'))}
        {link('/boards', t('nav.boards'))}
        {link('/roadmaps', t('nav.roadmaps'))}
        <OwnLinks lines={settings.headerLinks} />
      </nav>
      {view.copiedAt === undefined ? <SearchAndAccount view={view} /> : null}
    </header>
  )
}

/** Pages that need a server and are not in a copy. */
function SearchAndAccount({ view }: { view: View }) {
  const { t, settings, href, viewer, path } = view
  return (
    <>
      {path === '/search' ? null : (
        <form class="search" role="search" action={href('/search')}>
          <label class="hidden" for="search">
            {t('nav.search')}
          </label>
          <input id="search" type="search" name="q" placeholder={t('nav.search')} maxLength={200} />
          <button type="submit" class="button plain icon-only" aria-label={t('nav.search')}>
            <Icon name="search" />
          </button>
        </form>
      )}
      <div class="account">
        {viewer ? (
          <>
            {view.can('dashboard:read') ? (
              <a
                class="to-dashboard"
                data-live="waiting"
                href={href('/dashboard')}
                aria-current={path.startsWith('/dashboard') ? 'page' : undefined}
              >
                <Icon name="dashboard" />
                <span>{t('nav.dashboard')}</span> <Waits view={view} />
              </a>
            ) : null}
            <a
              class="to-notifications"
              data-live="unread"
              href={href('/notifications')}
              aria-current={path === '/notifications' ? 'page' : undefined}
            >
              <Icon name="bell" />
              <span class="hidden">{t('notifications.title')}</span> <Unread view={view} />
            </a>
            <a href={href('/settings')} aria-current={path === '/settings' ? 'page' : undefined}>
              <bdi>{viewer.name || viewer.username}</bdi>
            </a>
            <Form view={view} to="/logout">
              <button type="submit" class="link to-logout">
                <Icon name="leave" />
                <span>{t('nav.logout')}</span>
              </button>
            </Form>
          </>
        ) : view.form.values[PENDING.route] !==
          undefined ? null /* only the links of the page keep what the visitor wanted */ : (
          <>
            <a href={href(signInFrom(view))} aria-current={path === '/login' ? 'page' : undefined}>
              {t('nav.login')}
            </a>
            {settings.allowSignup && view.sendsMail ? (
              <a
                class="button primary"
                href={href(signInFrom(view, '/join'))}
                aria-current={path === '/join' ? 'page' : undefined}
              >
                {t('nav.join')}
              </a>
            ) : null}
          </>
        )}
      </div>
    </>
  )
}

/** The languages of the pages, each by its own name. For a person who is signed in, a choice changes the account. */
function Languages({ view }: { view: View }) {
  return (
    <Form view={view} to={view.viewer ? '/settings/language' : '/language'} class="languages">
      <input type="hidden" name="to" value={view.url} />
      {LANGUAGES.map((code) => (
        <button
          type="submit"
          class="link"
          name="language"
          value={code}
          lang={code}
          aria-current={code === view.words.language ? 'true' : undefined}
        >
          {languageName(code)}
        </button>
      ))}
    </Form>
  )
}
