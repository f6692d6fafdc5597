import type { DeliveryKind } from '../core/deliverykinds.js'
import type { MailSettings } from '../mail/transport.js'
import type { Kind } from './kind.js'
import { mail } from './mail.js'

/** What each kind needs to send. Null: nothing of the kind is sent, and it waits. */
export interface DeliverySettings extends Record<DeliveryKind, unknown> {
  mail: MailSettings | null
}

export const KINDS: { readonly [Name in DeliveryKind]: Kind<NonNullable<DeliverySettings[Name]>> } = { mail }
