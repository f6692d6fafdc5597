import { deleteOldNotifications, isNotificationOld, type Bounds } from '../db/notifications.js'
import type { Job } from './runner.js'

const DAY_MS = 24 * 60 * 60 * 1000
/** How long notifications are kept that were read, and that were not. */
const KEPT_READ_DAYS = 180
const KEPT_UNREAD_DAYS = 365
/** Rows that are deleted in one transaction: other writers wait meanwhile. */
const TOGETHER = 500

const boundsAt = (now: Date): Bounds => ({
  read: new Date(now.getTime() - KEPT_READ_DAYS * DAY_MS).toISOString(),
  unread: new Date(now.getTime() - KEPT_UNREAD_DAYS * DAY_MS).toISOString(),
})

/** Deletes old notifications. */
export const oldNotifications: Job = {
  name: 'old notifications',
  every: 600_000,
  exclusive: true,
  isDue: ({ db, now }) => isNotificationOld(db, boundsAt(now())),
  run: async ({ db, now }) =>
    (await deleteOldNotifications(db, boundsAt(now()), TOGETHER)) === TOGETHER ? 'more' : undefined,
}
