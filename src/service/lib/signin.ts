import { changeOf } from '../../core/details.js'
import { AppError } from '../../core/errors.js'
import { deleteSession } from '../../db/sessions.js'
import type { UserRow } from '../../db/tables.js'
import { findTotp } from '../../db/totp.js'
import { holdSessions, lockUser } from '../../db/users.js'
import type { OneTimeToken } from '../../db/tokens.js'
import { change, type Change } from './change.js'
import { countedProof } from './codeguesses.js'
import type { Context } from './context.js'
import { authUser, userNotFound, type SignedIn } from './people.js'
import { passwordToken } from './passwordtoken.js'
import { beginSession, keepInBrowser } from './sessions.js'
import { recordFailedSignIn } from './signins.js'
import { useUp } from './tokens.js'
import { useProof, wrongCode, type Proof } from './totp.js'

/** How a person was recognised. */
type Identity =
  /** Their password was right, or what stands for it. */
  | { way: 'password'; user: UserRow; code: string | null | undefined }
  /** They have a link that works once. It replaces the second factor too. */
  | { way: 'link'; token: OneTimeToken }
  /** They have just created the account. `create` runs in the transaction, and records it. */
  | { way: 'account'; create(this: void, tx: Change): Promise<UserRow> }

/**
 * Signs a person in: every way in ends here. Blocked people are refused, a second factor is asked for where the account
 * has one, and a session begins. A browser leaves the session that it had: an id from before a sign-in is worth nothing
 * after it.
 */
export async function signIn(ctx: Context, identity: Identity): Promise<SignedIn> {
  const enter = await admitted(ctx, identity)
  if (ctx.dryRun && identity.way === 'password') return authUser(ctx, identity.user, undefined)
  const { user, session } = await change(ctx, async (tx) => {
    const person = await enter(tx)
    await leaveFormerSession(tx)
    return { user: person, session: await beginSession(tx, person.userId) }
  })
  if (!ctx.dryRun) await keepInBrowser(ctx, session)
  return authUser(ctx, user, session)
}

/** Checks all that needs no transaction. What it returns does the rest in the one that begins the session. */
async function admitted(ctx: Context, identity: Identity): Promise<(tx: Change) => Promise<UserRow>> {
  if (identity.way === 'account') return identity.create
  if (identity.way === 'link') return (tx) => enterByLink(tx, identity.token)
  const { user, code } = identity
  assertNotBlocked(user)
  const proof = await secondFactor(ctx, user, code)
  return (tx) => enter(tx, user, { way: identity.way, proof })
}

/** Refuses an account whose sessions have ended since it was recognised, as after a new password or a block. */
async function enter(
  tx: Change,
  user: UserRow,
  { way, proof }: { way: Identity['way']; proof: Proof | undefined },
): Promise<UserRow> {
  if (!(await holdSessions(tx.db, user)))
    throw new AppError('INCORRECT_PASSWORD', 'The account has just changed. Sign in again.')
  if (proof) await useProof(tx.db, user.userId, proof)
  recordWay(tx, user, way)
  return user
}

async function enterByLink(tx: Change, token: OneTimeToken): Promise<UserRow> {
  const user = await lockUser(tx.db, token.userId) // first, as whoever ends the sessions does
  if (!user) throw userNotFound()
  assertNotBlocked(user)
  await useUp(tx.db, token)
  tx.record('user.link_used', user.userId)
  recordWay(tx, user, 'link')
  return user
}

const recordWay = ({ record }: Change, { userId }: UserRow, way: Identity['way']): void =>
  record('user.signed_in', userId, undefined, undefined, [changeOf('way', null, way)])

async function leaveFormerSession({ db, record, browser, actor: { sessionId, userId } }: Change): Promise<void> {
  if (!browser || sessionId === undefined || userId === null) return
  if (await deleteSession(db, { sessionId, userId })) record('session.ended', sessionId)
}

/** The proof of a second factor, where the account has one. */
async function secondFactor(ctx: Context, user: UserRow, code: string | null | undefined): Promise<Proof | undefined> {
  const totp = await findTotp(ctx.db, user.userId)
  if (!totp?.enabledAt) return undefined
  if (!code)
    throw new AppError('TOTP_REQUIRED', 'This account has a second factor. Give a code of the authenticator app too.', {
      passwordToken: passwordToken(ctx, user),
    })
  const proof = await countedProof(ctx, user, totp, code)
  if (proof) return proof
  await recordFailedSignIn(ctx, user.userId)
  throw wrongCode()
}

export function assertNotBlocked({ isBlocked }: Pick<UserRow, 'isBlocked'>): void {
  if (isBlocked) throw new AppError('USER_BLOCKED', 'This account is blocked. Ask the owner of the site.')
}
