import { fieldsIn } from './fields.js'
import type { Fields } from './page.js'

/**
 * The action that a visitor wanted before signing in, in fields of the forms to sign in and up: its route, the values in
 * its path, and the fields of its form.
 */
export const PENDING = { route: 'pending-route', params: 'pending-params', fields: 'pending-fields' } as const

export interface Pending {
  route: string
  params: Record<string, string>
  fields: Fields
}

export const pendingFields = ({ route, params, fields }: Pending): Fields => ({
  [PENDING.route]: route,
  [PENDING.params]: JSON.stringify(params),
  // As a form escapes each quotation mark of JSON, a long text would no longer fit into one
  [PENDING.fields]: Buffer.from(JSON.stringify(fields)).toString('base64url'),
})

/** Plain JSON is of a page of an earlier version. */
const jsonIn = (text: string | undefined): string | undefined =>
  text?.startsWith('{') ? text : text && Buffer.from(text, 'base64url').toString()

/** Undefined where the form carries none, or values that do not fill its route. */
export function pendingIn(form: Fields): Pending | undefined {
  const route = form[PENDING.route]
  if (!route) return undefined
  const given = fieldsIn(form[PENDING.params])
  const params = Object.fromEntries(namesIn(route).map((name) => [name, given[name] ?? '']))
  if (Object.values(params).some((value) => /^\.{0,2}$/.test(value) || !value.isWellFormed())) return undefined
  return { route, params, fields: fieldsIn(jsonIn(form[PENDING.fields])) }
}

/** The path of a route with these values. */
export const pathOf = ({ route, params }: Pick<Pending, 'route' | 'params'>): string =>
  route.replaceAll(PARAMETER, (_, name: string) => encodeURIComponent(params[name] ?? ''))

const PARAMETER = /:(\w+)/g
const namesIn = (route: string): string[] => Array.from(route.matchAll(PARAMETER), ([, name = '']) => name)
