import { cameFrom, within } from './addresses.js'
import { pathAndQuery } from './fields.js'
import type { View } from './page.js'
import { SECTIONS, type Section } from './sections.js'

const NAMES = Object.keys(SECTIONS) as Section[]

/**
 * The section of the dashboard that led here, as a form of a public page then stays in the team's frame. Undefined where
 * none did, or where whoever reads the page may not use it.
 */
export function teamFrame(view: View): Section | undefined {
  const from = within(cameFrom(view))
  if (from === undefined || !view.can('dashboard:read')) return undefined
  const [path] = pathAndQuery(from)
  const leading = NAMES.filter((name) => path === SECTIONS[name].path || path.startsWith(`${SECTIONS[name].path}/`))
  const [nearest] = leading.toSorted((one, other) => SECTIONS[other].path.length - SECTIONS[one].path.length)
  return nearest && SECTIONS[nearest].operations.some((each) => view.may(each)) ? nearest : undefined
}
