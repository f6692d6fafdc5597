import { AppError } from '../../core/errors.js'
import { validateToken } from '../../service/auth.js'
import type { LiveView, View } from '../kit/page.js'

type Purpose = 'resetPassword' | 'emailVerification' | 'signIn' | 'deletion'

/** The token of a link that a page is opened with. */
export const tokenOf = (view: View): string =>
  view.form.values.token ?? view.form.values.deletionToken ?? view.query.token ?? ''

/** Looks at the link without using it: programs that scan mails follow links too. */
export async function linkOf(view: LiveView, purpose: Purpose): Promise<{ isBroken: boolean; isInvitation?: boolean }> {
  const token = tokenOf(view)
  if (token === '' || view.form.error) return { isBroken: token === '' || view.form.error?.code === 'INVALID_TOKEN' }
  try {
    const { reset } = await view.call(validateToken, { token, purpose })
    return { isBroken: false, isInvitation: reset.invitation ?? false }
  } catch (error) {
    if (error instanceof AppError && error.code === 'INVALID_TOKEN') return { isBroken: true }
    throw error
  }
}
