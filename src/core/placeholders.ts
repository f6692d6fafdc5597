import { AppError } from './errors.js'

/** Domain of the addresses of people whose own an import does not know. Nobody has an address there (RFC 2606). */
export const NO_ADDRESS = 'imported.invalid'

interface Account {
  email?: string
  password?: string | null
}

/** Whether nobody signs in to it by an address or a password. */
export const lacksAddress = ({ email, password }: Account): boolean =>
  email?.endsWith(`@${NO_ADDRESS}`) === true && password === null

/**
 * Whether it stands for a person whose address nobody knows, so that nobody can have signed in to it. Where nobody has
 * looked for an identity, there may be one.
 */
export const isPlaceholder = ({ hasIdentity = true, ...account }: Account & { hasIdentity?: boolean }): boolean =>
  lacksAddress(account) && !hasIdentity

/** Refuses an address that would make somebody look like one of them. */
export function assertNoPlaceholder(email: string): void {
  if (email.endsWith(`@${NO_ADDRESS}`))
    throw new AppError('INVALID_EMAIL_DOMAIN', `${NO_ADDRESS} is for people without an address. Use another address.`)
}
