/** What people are told. */
export const KINDS = ['status', 'update', 'answer', 'reply'] as const
export type NotificationKind = (typeof KINDS)[number]
