import { newestEvents } from '../../db/events.js'
import { change } from './change.js'
import type { Context } from './context.js'

/** The subject of a failed sign-in to no account. The address that was typed is not stored: it may be a password. */
const NO_ACCOUNT = 'unknown'
const WINDOW_MS = 60 * 1000
/** Failed sign-ins that are events in each window, so that a flood of them neither fills the disk nor hides the rest. */
const MAX_IN_WINDOW = 100

/**
 * Records a failed sign-in: one a minute for each account and address, and at most a hundred a minute in all. A dry run
 * tells as much about a password as a sign-in, so it is recorded too.
 */
export async function recordFailedSignIn(ctx: Context, userId: string = NO_ACCOUNT): Promise<void> {
  const since = new Date(ctx.now().getTime() - WINDOW_MS).toISOString()
  const recent = (await newestEvents(ctx.db, 'user.sign_in_failed', MAX_IN_WINDOW)).filter((event) => event.created_at > since) // prettier-ignore
  const address = ctx.client?.address ?? null
  const isKnown = recent.some((event) => event.subject_id === userId && event.address === address)
  if (isKnown || recent.length === MAX_IN_WINDOW) return
  await change({ ...ctx, dryRun: false }, async ({ record }) => record('user.sign_in_failed', userId))
}
