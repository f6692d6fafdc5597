import type { Words } from '../core/catalogue.js'

/**
 * At most three words of letters. A dot ends a word or an initial, so that no mail program makes a link of it. Nobody is
 * named whose name could be a message: anyone can sign up with another person's address.
 */
const NAME = /^(?=.{1,40}$)(?:\p{L}[\p{L}\p{M}'’\p{Join_Control}-]*\.?(?: |$)){1,3}$/u

/** How a mail begins. */
export const greetingOf = ({ t }: Words, name: string): string =>
  NAME.test(name) ? t('mail.hello', { name }) : t('mail.helloNobody')
