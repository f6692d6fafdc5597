import { Waits } from './waits.js'
import type { View } from '../kit/page.js'
import { SECTIONS, type Section } from '../kit/sections.js'

const GROUPS = ['work', 'site', 'settings'] as const

/** The sections of the dashboard that a person may use, by path. */
export const sectionsFor = (view: Pick<View, 'may'>) =>
  Object.entries(SECTIONS)
    .map(([id, section]) => ({ id, ...section }))
    .filter(({ operations }) => operations.some((each) => view.may(each)))

/** The menu of the dashboard: a column, or on a narrow screen behind a button. */
export function Sections({ view, current }: { view: View; current: Section }) {
  const { t, href } = view
  const offered = sectionsFor(view)
  return (
    <nav class="sections" aria-label={t('dashboard.menu')}>
      <details>
        <summary class="button plain">{t('dashboard.at', { section: t(SECTIONS[current].label) })}</summary>
        {GROUPS.map((group) => {
          const those = offered.filter((section) => section.group === group)
          return those.length === 0 ? null : (
            <ul>
              {group === 'settings' ? <li class="soft">{t('dashboard.settings')}</li> : null}
              {those.map(({ id, path, label }) => (
                <li>
                  <a
                    href={href(path)}
                    aria-current={id === current ? 'page' : undefined}
                    data-live={id === 'inbox' ? id : undefined}
                  >
                    {t(label)}
                    {id === 'inbox' ? <Waits view={view} /> : null}
                  </a>
                </li>
              ))}
            </ul>
          )
        })}
      </details>
    </nav>
  )
}
