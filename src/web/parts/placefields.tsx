import type { TObject } from 'typebox'
import type { View } from '../kit/page.js'
import { Check, Field } from './form.js'

/** What boards and roadmaps have in common: a name, an address, a colour, and whether everyone sees them. */
export const PlaceFields = ({
  view,
  of,
  place,
  path,
}: {
  view: View
  of: { input: TObject }
  place: { name: string; url: string; color: string; display: boolean } | undefined
  /** The path of its page, up to the url. */
  path: string
}) => {
  const { t } = view
  return (
    <>
      <Field view={view} of={of} name="name" label={t('field.name')} value={place?.name} required autofocus={!place} />
      <Field
        view={view}
        of={of}
        name="url"
        label={t('place.url')}
        hint={t('place.urlHint', { start: view.absolute(path) })}
        value={place?.url}
        required={place !== undefined}
      />
      <Field
        view={view}
        of={of}
        name="color"
        label={t('place.color')}
        hint={t('place.colorHint')}
        value={place?.color}
        required={place !== undefined}
        data={{ color: '' }}
      />
      <Check
        view={view}
        name="display"
        label={t('place.publicHint')}
        checked={place?.display ?? true}
        isSent={view.form.values.name !== undefined}
      />
    </>
  )
}
