import type { ComponentChildren } from 'preact'
import { errorIn } from '../../service/lib/bulk.js'
import type { View } from '../kit/page.js'
import { errorText } from './form.js'
import { Top } from './top.js'

/** One of many things that failed. */
interface Failed {
  name: string
  error: { code: string; message: string }
}

/** The page after a bulk change of which some failed. */
export const Outcomes = ({
  view,
  title,
  back,
  failed,
  textOf = (error) => errorText(view, errorIn(error)),
  children,
}: {
  view: View
  title: string
  back: string
  failed: readonly Failed[]
  /** In place of what the catalogue says of an error. */
  textOf?: (error: Failed['error'], name: string) => string
  children?: ComponentChildren
}) => (
  <>
    <Top view={view} title={title} />
    <section role="alert" tabIndex={-1} autofocus>
      <h2>{view.t('bulk.failed')}</h2>
      <ul class="outcomes">
        {failed.map(({ name, error }) => (
          <li>
            <bdi>{name}</bdi> <span class="problem">{textOf(error, name)}</span>
          </li>
        ))}
      </ul>
    </section>
    {children}
    <p>
      <a class="button plain" href={view.href(back)}>
        {view.t('bulk.back')}
      </a>
    </p>
  </>
)
