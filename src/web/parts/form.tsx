import type { ComponentChildren } from 'preact'
import type { TObject } from 'typebox'
import type { AppError } from '../../core/errors.js'
import type { View } from '../kit/page.js'
import { PENDING } from '../kit/pending.js'
import { isOlder, Now, NowTicked } from './stored.js'

/** What an operation says of a field. */
interface Rule {
  type?: string | string[]
  minLength?: number
  maxLength?: number
  pattern?: string
  secret?: boolean
}

interface FieldProps {
  view: View
  /** The operation that the form leads to: its schema has the rules of the field. */
  of: { input: TObject }
  name: string
  label: string
  hint?: ComponentChildren
  type?: 'text' | 'email' | 'password' | 'search'
  /** For `textarea`. */
  rows?: number
  value?: string | undefined
  required?: boolean
  autocomplete?: string
  inputMode?: 'numeric'
  autofocus?: boolean
  data?: Record<string, string>
  /** The id of a list of values to choose from. */
  list?: string
  /** Where a page has the field more than once. */
  id?: string
}

/** A form that sends what it has to one of our paths. A copy has none. */
export function Form({
  view,
  to,
  children,
  takesFiles,
  ...rest
}: {
  view: View
  to: string
  children: ComponentChildren
  class?: string
  id?: string
  'data-vote'?: string | undefined
  'data-label'?: string | undefined
  'data-confirm'?: string
  /** The browser asks before leaving the page with unsaved changes. */
  'data-unsaved'?: ''
  /** A script sends it at once: it is one step of several. */
  'data-steps'?: ''
  /** Images may be sent with it by those who are signed in. */
  takesFiles?: true
}) {
  if (view.copiedAt !== undefined) return null
  const encoding = takesFiles && view.viewer ? 'multipart/form-data' : undefined
  return (
    <form method="post" action={view.href(to)} enctype={encoding} {...rest}>
      {children}
    </form>
  )
}

/** A labelled field with its rules, what was typed before, and what is wrong with it. */
export function Field({
  view,
  of,
  name,
  label,
  hint,
  type = 'text',
  rows,
  value,
  required,
  autocomplete,
  inputMode,
  autofocus,
  data = {},
  list,
  id = `field-${name}`,
}: FieldProps) {
  const rule = (of.input.properties[name] ?? {}) as Rule
  const wrong = problemOf(view, name, rule.maxLength)
  const typed = rule.secret ? undefined : (view.form.values[name] ?? value)
  const isOther = isOlder(view) && !rule.secret && (typed ?? '').trim() !== (value ?? '').trim()
  const notes = [hint && `${id}-hint`, wrong && `${id}-wrong`, isOther && `${id}-now`]
  const common = {
    id,
    name,
    required: required ?? false,
    autocomplete,
    autofocus: autofocus ?? false,
    'aria-invalid': wrong ? ('true' as const) : undefined,
    'aria-describedby': notes.filter(Boolean).join(' ') || undefined,
    ...Object.fromEntries(Object.entries(data).map(([key, text]) => [`data-${key}`, text])),
  }
  return (
    <div class={wrong ? 'field wrong' : 'field'}>
      <label for={id}>
        {label}
        {required ? null : <span class="soft"> {view.t('form.optional')}</span>}
      </label>
      {hint ? (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      ) : null}
      {wrong ? (
        <p class="problem" id={`${id}-wrong`}>
          {wrong}
        </p>
      ) : null}
      {isOther ? <Now view={view} id={`${id}-now`} value={value || view.t('form.empty')} /> : null}
      {rows === undefined ? (
        <input
          type={type as 'text'} // oxlint-disable-line typescript/no-unnecessary-type-assertion -- tsc types each kind of input apart
          value={typed}
          inputMode={inputMode}
          list={list}
          {...common}
        />
      ) : (
        <textarea rows={rows} dir="auto" {...common}>
          {`\n${typed ?? ''}`}
        </textarea>
      )}
    </div>
  )
}

export function Choice({
  view,
  name,
  label,
  hint,
  options,
  value,
  autofocus,
}: {
  view: View
  name: string
  label: string
  hint?: ComponentChildren
  options: readonly { value: string; text: string }[]
  value?: string | undefined
  autofocus?: boolean
}) {
  const chosen = view.form.values[name] ?? value ?? ''
  const wrong = problemOf(view, name)
  const id = `field-${name}`
  return (
    <div class={wrong ? 'field wrong' : 'field'}>
      <label for={id}>
        {label}
        {options.some((option) => option.value === '') ? <span class="soft"> {view.t('form.optional')}</span> : null}
      </label>
      {hint ? (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      ) : null}
      {wrong ? <p class="problem">{wrong}</p> : null}
      <select id={id} name={name} autofocus={autofocus ?? false} aria-describedby={hint ? `${id}-hint` : undefined}>
        {options.map((option) => (
          <option value={option.value} selected={option.value === chosen}>
            {option.text}
          </option>
        ))}
      </select>
    </div>
  )
}

export function Check({
  view,
  name,
  label,
  checked = false,
  isSent = false,
  required = false,
}: {
  view: View
  name: string
  label: string
  checked?: boolean
  /** Whether a failed submission is shown again: a box that was cleared is not among its values. */
  isSent?: boolean
  /** Whether the form is not sent without it. */
  required?: boolean
}) {
  const isTicked = view.form.values[name] === 'true'
  return (
    <label class="check">
      <input type="checkbox" name={name} value="true" checked={isTicked || (checked && !isSent)} required={required} />
      <span>
        {label}
        <NowTicked view={view} isTicked={isTicked} isStored={checked} />
      </span>
    </label>
  )
}

export const Hidden = ({ name, value }: { name: string; value: string | undefined }) =>
  value === undefined || value === '' ? null : <input type="hidden" name={name} value={value} />

/** Carries what a visitor wanted to do through the forms to sign in and up. */
export const Pending = ({ view }: { view: View }) => (
  <>
    {Object.values(PENDING).map((name) => (
      <Hidden name={name} value={view.form.values[name]} />
    ))}
  </>
)

export const Submit = ({
  children,
  kind = 'primary',
  shortcut,
}: {
  children: ComponentChildren
  kind?: 'primary' | 'plain' | 'danger'
  /** The key of the dashboard that presses it. */
  shortcut?: string
}) => (
  <button type="submit" class={`button ${kind}`} data-key={shortcut}>
    {children}
  </button>
)

/** What is wrong with a form, with a link to each field. It comes first, and has the focus. */
export function Summary({
  view,
  fields = {},
  labels = {},
  text,
}: {
  view: View
  fields?: Record<string, string>
  /** Labels of fields, which the summary puts before their errors. */
  labels?: Partial<Record<string, string>>
  /** In place of what the catalogue says of the error. */
  text?: ComponentChildren
}) {
  const { error } = view.form
  if (!error) return null
  const issues = error.errors ?? []
  const field = fieldOf(view)
  const words = text ?? errorText(view, error)
  const named = (name: string, problem: string) => {
    const label = labels[name]
    return label === undefined ? problem : view.words.labelled(label, problem)
  }
  return (
    <div class="summary" role="alert" tabIndex={-1} autofocus>
      <h2>{view.t('form.problem')}</h2>
      {issues.length === 0 ? (
        <p>{text === undefined && field !== undefined ? <a href={`#field-${field}`}>{words}</a> : words}</p>
      ) : (
        <ul>
          {issues.map(({ field, code, message }) => (
            <li>
              <a href={`#field-${fields[field] ?? field}`}>{named(field, messageOf(view, code, message, field))}</a>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** The text of an error in the language of the reader: that of the catalogue, or what the operation says. */
export function errorText(
  view: Pick<View, 'words'>,
  { code, message, retryAfter, reason }: Pick<AppError, 'code' | 'message'> & Partial<AppError>,
): string {
  const [minutes, hours] = [Math.ceil((retryAfter ?? 0) / 60), Math.ceil((retryAfter ?? 0) / 3600)]
  if (retryAfter !== undefined && code === 'TOTP_LIMITED')
    return hours > 2
      ? view.words.t('error.waitCodeHours', { count: hours })
      : view.words.t('error.waitCode', { count: minutes })
  return code === 'RATE_LIMITED' && retryAfter !== undefined
    ? view.words.t(reason === 'new-account' ? 'error.waitNew' : 'error.wait', { count: minutes })
    : messageOf(view, code, message, reason)
}

export function messageOf({ words }: Pick<View, 'words'>, code: string, message: string, detail = ''): string {
  const [exact, key] = [`error.${code}.${detail}`, `error.${code}`]
  if (words.has(exact)) return words.t(exact)
  return words.has(key) ? words.t(key) : message
}

/** Browsers silently cut pasted text at `maxlength`, so fields have none. The error gives the limit instead. */
function problemOf(view: View, name: string, most?: number): string | undefined {
  const { error, values } = view.form
  const { t, number } = view.words
  const issue = error?.errors?.find(({ field }) => field === name)
  const { length } = (values[name] ?? '').replaceAll('\r\n', '\n')
  if (issue?.code === 'TOO_LONG' && most !== undefined && length > most)
    return t('error.tooLong', { most: number(most), length: number(length) })
  if (issue) return messageOf(view, issue.code, issue.message, name)
  return error && fieldOf(view) === name ? errorText(view, error) : undefined
}

/** The field of the form that an error is about, though it names none. */
const fieldOf = ({ form: { error, values } }: Pick<View, 'form'>): string | undefined =>
  error?.fields.find((name) => values[name] !== undefined)
