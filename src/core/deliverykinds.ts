/** What a site sends. `delivery/kinds.ts` says how each kind is sent. */
export const DELIVERY_KINDS = ['mail'] as const
export type DeliveryKind = (typeof DELIVERY_KINDS)[number]
