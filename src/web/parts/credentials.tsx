import type { ComponentChildren } from 'preact'
import type { TObject } from 'typebox'
import type { View } from '../kit/page.js'
import { Field } from './form.js'

interface Props {
  view: View
  /** The operation that the form leads to. */
  of: { input: TObject }
}

/** The address to sign in with. Password managers recognise it by `autocomplete="username"`. */
export const EmailField = ({ view, of }: Props) => (
  <Field view={view} of={of} name="email" type="email" label={view.t('field.email')} required autocomplete="username" />
)

/** The address of an account, for password managers only. */
export const KnownEmail = ({ email }: { email: string | undefined }) => (
  <input type="email" name="email" value={email} autocomplete="username" hidden readOnly />
)

/** The current password of an account. */
export const PasswordField = ({ view, of, name = 'password', label }: Props & { name?: string; label: string }) => (
  <Field view={view} of={of} name={name} type="password" label={label} required autocomplete="current-password" />
)

/** A new password. */
export const NewPasswordField = ({
  view,
  of,
  label,
  hint = view.t('field.passwordHint'),
}: Props & { label: string; hint?: ComponentChildren }) => (
  <Field
    view={view}
    of={of}
    name="password"
    type="password"
    label={label}
    hint={hint}
    required
    autocomplete="new-password"
  />
)
