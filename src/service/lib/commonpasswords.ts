import { dictionary } from '@zxcvbn-ts/language-common'

/** Some 49,000, in lower case. Load this module only to check a password: the list takes a tenth of a second. */
export const commonPasswords: readonly string[] = dictionary['passwords-common']
