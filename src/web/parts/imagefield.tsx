import { IMAGE_TYPES, MAX_IMAGE_BYTES } from '../../core/images/types.js'
import { imagesScript } from '../kit/assets.js'
import { MAX_ALT, MAX_IMAGES } from '../kit/multipart.js'
import type { View } from '../kit/page.js'

/**
 * Adds images to the text of a form. A script, which is loaded when somebody begins to write, sends each at once, and takes
 * those that are pasted or dropped.
 */
export function ImageField({ view, suffix = '' }: { view: View; suffix?: string }) {
  if (!view.viewer) return null // a form of a visitor waits for the sign-in, without files
  const { t } = view
  const isRefused = view.form.error?.fields.includes('images') ?? false
  const id = `field-images${suffix}`
  return (
    <details
      class="images"
      data-images={view.href('/images')}
      data-script={view.href(imagesScript.path)}
      data-busy={t('image.busy')}
      open={isRefused}
    >
      <summary>{t('image.add')}</summary>
      <div class="field">
        <label for={id}>{t('image.files')}</label>
        <p class="hint" id={`${id}-hint`}>
          {t('image.hint', { count: MAX_IMAGES, size: view.words.size(MAX_IMAGE_BYTES) })}
        </p>
        <input type="file" id={id} name="images" multiple accept={IMAGE_TYPES.join()} aria-describedby={`${id}-hint`} />
      </div>
      <div class="field">
        <label for={`${id}-alt`}>{t('image.alt')}</label>
        <input
          id={`${id}-alt`}
          name="imageAlt"
          maxLength={MAX_ALT}
          autocomplete="off"
          value={view.form.values.imageAlt}
        />
      </div>
      <p class="problem" role="alert" hidden />
    </details>
  )
}
