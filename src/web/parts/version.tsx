import type { View } from '../kit/page.js'
import { Hidden, Submit } from './form.js'
import { isOlder } from './stored.js'

/**
 * What a form has of the row that it changes, so that it is refused once somebody else has changed that. Refused, it
 * can be sent again in place of theirs, or given up: `fresh` leads to the form with what is there now.
 */
export function Version({ view, version, fresh }: { view: View; version: string | undefined; fresh: string }) {
  const isOld = isOlder(view)
  return (
    <>
      <Hidden name="ifVersion" value={isOld ? version : (view.form.values.ifVersion ?? version)} />
      {isOld ? (
        <div class="buttons">
          <Submit>{view.t('form.saveAnyway')}</Submit>
          <a class="button plain" href={view.href(fresh)}>
            {view.t('form.takeTheirs')}
          </a>
        </div>
      ) : null}
    </>
  )
}
