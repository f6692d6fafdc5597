import { fieldsOf } from '../../core/fields.js'
import type { AnyOperation } from '../../service/lib/operation.js'
import type { AnyAction, Fields } from './page.js'
import { PENDING } from './pending.js'

/** A failed submission, shown again for a retry. */
export interface Repeat {
  /** Without the base path. */
  to: string
  fields: Fields
  /** What a person wrote, to be seen and copied. */
  texts: string[]
  /** Whether passwords, codes or tokens were left out: no page holds them. */
  isPartial: boolean
}

/** The field of a repeated form that lacks its secrets: its page asks for them, with the rest filled in. */
export const ASK_AGAIN = 'ask-again'

/** Fields of our own, which no operation declares. None is a secret. */
const OWN = ['to', 'imageAlt', 'redirect', 'checked', 'preview', 'language', 'find', 'boardQuery', 'boardAsked', 'chosen', 'one', 'verb', 'typed', 'keep', 'rows', 'confirmed', 'about', 'all', 'rest', 'total', 'made', 'failed', 'undos', 'more', 'stop', 'date', 'searched', 'tell', ...Object.values<string>(PENDING)] // prettier-ignore

/** What each row of a form says. */
const OF_ROW = /^(as|status)-\d+$/

/** Only fields that are known to be no secret are repeated. */
export function repeatOf(act: AnyAction, to: string, form: Fields): Repeat {
  const [secret, open] = [true, false].map((is) => declared(act).flatMap((each) => ((each.secret ?? false) === is ? [each.name] : []))) // prettier-ignore
  const kept = new Set([...OWN, ...(open ?? [])])
  return {
    to,
    fields: Object.fromEntries(Object.entries(form).filter(([name]) => kept.has(name) || OF_ROW.test(name))),
    texts: textsOf(act, form),
    isPartial: secret?.some((name) => form[name]) ?? false,
  }
}

/** The texts of a form, not what it names or chooses. */
export const textsOf = (act: AnyAction, form: Fields): string[] =>
  declared(act).flatMap(({ name, type, secret, names, choices }) => {
    const text = form[name] ?? ''
    return type === 'string' && !secret && !names && !choices && text.trim() !== '' ? [text] : []
  })

const declared = ({ operation }: AnyAction) =>
  operation === null ? [] : fieldsOf((operation as unknown as AnyOperation).input)
