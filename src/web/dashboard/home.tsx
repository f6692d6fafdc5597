import { AppError } from '../../core/errors.js'
import { page, Redirect } from '../kit/page.js'
import { sectionsFor } from '../parts/sections.js'

/** Leads to the first section that a person may use. */
export const home = page({
  cache: 'never',
  signedIn: true,
  load(view) {
    const [first] = view.can('dashboard:read') ? sectionsFor(view) : []
    throw first ? new Redirect(first.path) : new AppError('NOT_FOUND', 'There is no such page.')
  },
  title: () => '',
  show: () => <></>,
})
