import * as backups from '../../service/backups.js'
import * as roadmaps from '../../service/roadmaps.js'
import * as service from '../../service/site.js'
import { page, type View } from '../kit/page.js'
import { NoMail } from '../parts/nomail.js'
import { EVERY } from '../parts/lists.js'
import { Time } from '../parts/time.js'
import { Top } from '../parts/top.js'
import { HOME as BACKUPS } from './backups.js'

/** What a new site still lacks, and how the site is. */
export const overview = page({
  cache: 'never',
  section: 'overview',
  async load(view) {
    const { total_count: stages } = await view.call(roadmaps.list, { limit: 1, visibility: EVERY })
    const kept = await view.call(backups.list, { limit: 1 })
    return { site: await view.call(service.overview, {}), stages, kept }
  },
  title: ({ t }) => t('overview.title'),
  show(view, { site, stages, kept }) {
    const { t, words } = view
    const left = stepsLeft(view, { site, stages, kept })
    const facts: [label: string, value: string][] = [
      [t('nav.posts'), words.number(site.posts)],
      [t('nav.boards'), words.number(site.boards)],
      [t('overview.people'), words.number(site.people)],
      [t('overview.mailWaiting'), words.number(site.mail_waiting)],
      [t('overview.schema'), site.schema],
    ]
    return (
      <>
        <Top view={view} title={t('overview.title')} />
        <NoMail view={view} />
        {left.length === 0 ? null : (
          <section aria-labelledby="left">
            <h2 id="left">{t('overview.left')}</h2>
            <ul class="plain-list">
              {left.map(({ text, to }) => (
                <li>
                  <a href={view.href(to)}>{text}</a>
                </li>
              ))}
            </ul>
          </section>
        )}
        <section aria-labelledby="facts">
          <h2 id="facts">{t('overview.facts')}</h2>
          <dl class="facts-list">
            {facts.map(([label, value]) => (
              <div>
                <dt>{label}</dt>
                <dd>
                  <code>{value}</code>
                </dd>
              </div>
            ))}
            <div>
              <dt>{t('overview.backup')}</dt>
              <dd>
                <Backups view={view} failed={site.backups} kept={kept} />
              </dd>
            </div>
          </dl>
        </section>
        <section aria-labelledby="servers">
          <h2 id="servers">{t('overview.servers')}</h2>
          <ul class="plain-list">
            {site.servers.map(({ url, host, version, startedAt }) => (
              <li>
                <code>{`${host} ${url} ${version}`}</code> {t('overview.started')} <Time view={view} at={startedAt} />
              </li>
            ))}
          </ul>
        </section>
      </>
    )
  },
})

type Overview = Awaited<ReturnType<typeof service.overview.run>>

type Kept = Awaited<ReturnType<typeof backups.list.run>>

/** The age of the newest backup, and why a later one failed. */
function Backups({ view, failed, kept }: { view: View; failed: Overview['backups']; kept: Kept }) {
  const { t } = view
  const [newest] = kept.backups
  return (
    <>
      <a class={kept.is_old ? 'problem' : undefined} href={view.href(BACKUPS)}>
        {newest ? <Time view={view} at={newest.createdAt} /> : t('overview.noBackup')}
      </a>
      {newest && kept.is_old ? <p class="problem">{t('backups.old')}</p> : null}
      {failed?.failedAt ? (
        <p class="problem">
          {t('overview.backupFailed')} <q>{failed.error}</q>
        </p>
      ) : null}
    </>
  )
}

interface Step {
  text: string
  to: string
}

interface Found {
  site: Overview
  stages: number
  kept: Kept
}

function stepsLeft({ t, settings, sendsMail }: View, { site, stages, kept }: Found): Step[] {
  const steps: (Step | false)[] = [
    site.boards === 0 && { text: t('overview.addBoard'), to: '/dashboard/boards/new' },
    stages === 0 && { text: t('overview.addRoadmaps'), to: '/dashboard/roadmaps' },
    settings.logo === null && { text: t('overview.addLogo'), to: '/dashboard/settings/general' },
    sendsMail && !site.mail_tested && { text: t('overview.testMail'), to: '/dashboard/settings/mail' },
    site.people < 2 && { text: t('overview.invite'), to: '/dashboard/invitations' },
    kept.total_count === 0 && { text: t('overview.backUp'), to: BACKUPS },
  ]
  return steps.filter((step) => step !== false)
}
