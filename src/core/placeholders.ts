/** Domain of the addresses of people whose own an import does not know. Nobody has an address there (RFC 2606). */
export const NO_ADDRESS = 'imported.invalid'

/** Whether it stands for a person whose address nobody knows, so that nobody can have signed in to it. */
export const isPlaceholder = ({ email, password }: { email?: string; password?: string | null }): boolean =>
  email?.endsWith(`@${NO_ADDRESS}`) === true && password === null
