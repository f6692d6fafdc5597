import isEmail from 'validator/lib/isEmail.js'
import { AppError } from '../../core/errors.js'
import { quoted } from '../../core/text.js'

/**
 * Returns the address in lower case, as it is stored and compared. Throws EMAIL_INVALID, or INVALID_EMAIL_DOMAIN where
 * only the domain is wrong.
 */
export function assertEmail(email: string | null | undefined): string {
  const address = (email ?? '').trim().toLowerCase()
  if (address === '') throw new AppError('EMAIL_INVALID', 'An e-mail address is needed.')
  // Invisible characters would make two addresses look the same
  if (isEmail(address) && !/[\p{C}\p{Zl}\p{Zp}]/u.test(address)) return address
  const domain = domainOf(address)
  if (domain.includes('.') && isEmail(`${localPart(address)}@example.org`))
    throw new AppError('INVALID_EMAIL_DOMAIN', `${quoted(domain)} is not a domain name. Check the part after the @.`)
  throw new AppError('EMAIL_INVALID', `${quoted(address)} is not an e-mail address.`)
}

const localPart = (email: string): string => email.slice(0, email.lastIndexOf('@'))

export const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1)
