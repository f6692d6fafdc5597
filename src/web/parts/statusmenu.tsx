import type { ComponentChildren } from 'preact'
import type { StatusKind } from '../../core/statuskinds.js'
import type { View } from '../kit/page.js'
import { StatusSwatch } from './chip.js'
import { TellNobody } from './audience.js'
import { Form, Hidden } from './form.js'
import { NOWHERE } from './placeconflict.js'

interface FormProps {
  view: View
  to: string
  stages: readonly Stage[]
  chosen: (Stage & { id: string }) | null
  /** Whether its first button gets the focus when the page loads. */
  hasFocus?: boolean
  /** Shown above the buttons, such as who will be told. */
  children?: ComponentChildren
}

interface Stage {
  name: string
  url: string
  color: string
  kind: StatusKind
}

/** Where a post stands, for those who may change it: a menu of buttons, so that no other button has to send it. */
export function StatusMenu({
  view,
  to,
  stages,
  chosen,
  shortcut,
  isOpen = false,
  children,
}: Omit<FormProps, 'hasFocus'> & {
  /** The key of the dashboard that opens it. */
  shortcut?: string
  /** Open from the start, with the focus in it. */
  isOpen?: boolean
}) {
  const { t } = view
  return (
    <details class="menu" open={isOpen}>
      <summary class="chip status" data-key={shortcut}>
        {chosen ? <StatusSwatch {...chosen} /> : null}
        <bdi>{chosen ? chosen.name : t('post.noRoadmap')}</bdi>
        <span class="hidden">{t('post.changeStatus')}</span>
      </summary>
      <StatusForm view={view} to={to} stages={stages} chosen={chosen} hasFocus={isOpen}>
        {children}
      </StatusForm>
    </details>
  )
}

/** A form with a submit button for each status. */
export const StatusForm = ({ view, to, stages, chosen, hasFocus = false, children }: FormProps) => (
  <Form view={view} to={to}>
    <Hidden name="ifRoadmapId" value={chosen?.id ?? NOWHERE} />
    {children}
    <TellNobody view={view} />
    {stages.map(({ name, url, color, kind }, index) => (
      <button
        type="submit"
        name="roadmapId"
        value={url}
        autofocus={hasFocus && index === 0}
        aria-current={url === chosen?.url ? 'true' : undefined}
      >
        <StatusSwatch color={color} kind={kind} />
        <bdi>{name}</bdi>
      </button>
    ))}
    <button
      type="submit"
      name="roadmapId"
      value=""
      autofocus={hasFocus && stages.length === 0}
      aria-current={chosen ? undefined : 'true'}
    >
      {view.t('post.noRoadmap')}
    </button>
  </Form>
)
