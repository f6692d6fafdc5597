import { isId } from '../../core/ids.js'
import { withParameters } from '../kit/addresses.js'
import { listed } from '../kit/fields.js'
import type { Fields, View } from '../kit/page.js'

/** The choices of one row of a form. */
interface RowChoice {
  /** The decision that Apply makes. */
  word: string
  /** The url of the chosen status. */
  status: string
  /** Whether its checkbox is ticked. */
  isChosen: boolean
}

/** The ids of the rows of a form in order. The names of a row's fields end with its position. */
const rowIds = ({ rows = '' }: Fields): string[] =>
  rows.split(',').flatMap((row) => (row === '' ? [] : [row.split(' ', 1)[0] ?? '']))

/** The row after one, or before the last. It is in no button, so that the page is lighter. */
export function nextOf(form: Fields, id: string): string {
  const ids = rowIds(form)
  const at = ids.indexOf(id)
  return at < 0 ? '' : (ids[at + 1] ?? ids[at - 1] ?? '')
}

/**
 * The choices of the rows that a button did not decide. They go into the address of the next page, which selects them
 * again.
 */
export function choicesIn(form: Fields, done: ReadonlySet<string> = new Set()): string[] {
  const chosen = new Set(listed(form.chosen).map((each) => each.split(' ', 1)[0]))
  return rowIds(form).flatMap((id, index) => {
    const said = [id, form[`as-${index}`] ?? '', form[`status-${index}`] ?? '', chosen.has(id) ? 'x' : '']
    return done.has(id) || said.slice(1).every((each) => each === '') ? [] : [said.join('.')]
  })
}

/** The choices in the form or in the address, by row id. */
export const choicesOf = (view: View): ReadonlyMap<string, RowChoice> =>
  new Map(
    [...choicesIn(view.form.values), ...view.queried('choices')].toReversed().flatMap((each) => {
      const [id = '', word = '', status = '', chosen] = each.split('.')
      return isId(id) ? [[id, { word, status, isChosen: chosen === 'x' }] as const] : []
    }),
  )

/** Adds the choices of the rows to an address, for actions outside the form that lead back to it. */
export function withChoices(to: string, form: Fields): string {
  const [address = '', fragment] = to.split('#', 2)
  const choices = choicesIn(form)
  return choices.length === 0 ? to : withParameters(address, { choices }) + (fragment ? `#${fragment}` : '')
}
