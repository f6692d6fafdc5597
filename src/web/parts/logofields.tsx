import { imageAt } from '../../core/images/address.js'
import { IMAGE_TYPES, MAX_IMAGE_BYTES } from '../../core/images/types.js'
import { update, type Settings } from '../../service/settings.js'
import type { View } from '../kit/page.js'
import { Check, Field, Hidden } from './form.js'
import { Logo } from './logo.js'

/** The file field of each logo, its "Remove" checkbox, and the address that the page showed. */
const LOGOS = {
  logo: { file: 'images', remove: 'removeLogo', shown: 'shownLogo' },
  logoDark: { file: 'imagesDark', remove: 'removeLogoDark', shown: 'shownLogoDark' },
} as const
type LogoName = keyof typeof LOGOS
const NAMES = Object.keys(LOGOS) as LogoName[]

interface Props {
  view: View
  settings: Settings
  /** Whether a failed submission is shown again. */
  isSent: boolean
}

/** A file field for each logo. The fields for addresses on other hosts are collapsed, because few sites need them. */
export function LogoFields({ view, settings, isSent }: Props) {
  const { t, form } = view
  const isElsewhere = NAMES.some((name) => {
    const address = form.values[name] ?? settings[name] ?? ''
    return (address !== '' && !imageAt(address)) || (form.error?.fields.includes(name) ?? false)
  })
  return (
    <>
      <LogoFile view={view} settings={settings} isSent={isSent} name="logo" label={t('general.logoFile')} />
      <LogoFile view={view} settings={settings} isSent={isSent} name="logoDark" label={t('general.logoDarkFile')} />
      <details class="history" open={isElsewhere}>
        <summary>{t('general.logoElsewhere')}</summary>
        <Field
          view={view}
          of={update}
          name="logo"
          label={t('general.logo')}
          hint={t('general.logoHint')}
          value={settings.logo ?? ''}
        />
        <Field view={view} of={update} name="logoDark" label={t('general.logoDark')} value={settings.logoDark ?? ''} />
      </details>
    </>
  )
}

/** The logos that the form sets. "Remove" clears a logo unless a new file is sent with it. */
export const logosIn = (form: Readonly<Record<string, string | undefined>>): Partial<Record<LogoName, string>> =>
  Object.fromEntries(
    NAMES.flatMap((name) => {
      const given = form[name]
      const isRemoved = form[LOGOS[name].remove] === 'true' && given === (form[LOGOS[name].shown] ?? '')
      return given === undefined ? [] : [[name, isRemoved ? '' : given]]
    }),
  )

/** The upload of a logo. */
function LogoFile({ view, settings, isSent, name, label }: Props & { name: LogoName; label: string }) {
  const { t, form, words } = view
  const { file, remove, shown } = LOGOS[name]
  const given = form.values[name] ?? ''
  const stored = imageAt(given) ? given : settings[name]
  const isRefused = form.values[file] !== undefined && (form.error?.fields.includes(file) ?? false)
  return (
    <div class="field">
      <label for={`field-${file}`}>
        {label}
        <span class="soft"> {t('form.optional')}</span>
      </label>
      <p class="hint" id={`field-${file}-hint`}>
        {t('general.logoFileHint', { size: words.size(MAX_IMAGE_BYTES) })}
        {name === 'logoDark' ? ` ${t('general.logoDarkHint')}` : null}
      </p>
      {stored ? (
        <div class="stored-logo">
          <span class={name === 'logoDark' ? 'look dark' : 'look light'}>
            <Logo settings={{ logo: stored, logoDark: null }} />
          </span>
          <Hidden name={shown} value={form.values[name] ?? settings[name] ?? ''} />
          <Check view={view} name={remove} label={t('general.logoRemove')} isSent={isSent} />
        </div>
      ) : null}
      <input
        type="file"
        id={`field-${file}`}
        name={file}
        accept={IMAGE_TYPES.join()}
        aria-describedby={`field-${file}-hint`}
        aria-invalid={isRefused ? 'true' : undefined}
      />
    </div>
  )
}
