import type { View } from '../kit/page.js'
import { errorText } from './form.js'

/** Note above a form that the operation rejects whatever its input. The page lists it in `forms`. */
export function Refused({ view, of }: { view: View; of: { id: string } }) {
  const refusal = view.form.error ? undefined : view.refusals.get(of.id)
  if (!refusal) return null
  return (
    <p class="note" role="note">
      {errorText(view, refusal)}
      {refusal.code === 'EMAIL_NOT_VERIFIED' ? (
        <>
          {' '}
          <a href={view.href('/settings')}>{view.t('settings.sendAgain')}</a>
        </>
      ) : null}
    </p>
  )
}
