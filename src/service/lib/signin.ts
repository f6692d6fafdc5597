import { changeOf } from '../../core/details.js'
import { AppError } from '../../core/errors.js'
import { useIdentity } from '../../db/identities.js'
import { deleteSession } from '../../db/sessions.js'
import type { IdentityRow, UserRow } from '../../db/tables.js'
import { findTotp } from '../../db/totp.js'
import { holdSessions, lockUser, renewPassword } from '../../db/users.js'
import type { OneTimeToken } from '../../db/tokens.js'
import { change, type Change } from './change.js'
import { countedProof } from './codeguesses.js'
import type { Context } from './context.js'
import { LINK, PASSWORD, recordOwnWay } from './identities.js'
import { authUser, userNotFound, type SignedIn } from './people.js'
import { renewedHash } from './passwords.js'
import { passwordToken } from './passwordtoken.js'
import { beginSession, keepInBrowser } from './sessions.js'
import { recordFailedSignIn } from './signins.js'
import { useUp } from './tokens.js'
import { useProof, wrongCode, type Proof } from './totp.js'

/** How a person was recognised. */
type Recognition =
  /** Their password was right, or what stands for it. */
  | { way: 'password'; user: UserRow; code: string | null | undefined; password?: string }
  /** A provider vouches for them, or what stands for it: see `personOfIdentity`. */
  | { way: 'identity'; user: UserRow; identity: KnownIdentity; code: string | null | undefined }
  /** They have a link that works once. It replaces the second factor too. */
  | { way: 'link'; token: OneTimeToken }
  /** They have just created the account. `create` runs in the transaction, and records it. */
  | { way: 'account'; create(this: void, tx: Change): Promise<UserRow> }

type KnownIdentity = Pick<IdentityRow, 'identityId'>

/**
 * Signs a person in: every way in ends here. Blocked people are refused, a second factor is asked for where the account
 * has one, and a session begins. A browser leaves the session that it had: an id from before a sign-in is worth nothing
 * after it.
 */
export async function signIn(ctx: Context, recognition: Recognition): Promise<SignedIn> {
  const enter = await admitted(ctx, recognition)
  if (ctx.dryRun && 'user' in recognition) return authUser(ctx, recognition.user, undefined)
  const { user, session } = await change(ctx, async (tx) => {
    const person = await enter(tx)
    await leaveFormerSession(tx)
    return { user: person, session: await beginSession(tx, person.userId) }
  })
  if (!ctx.dryRun) await keepInBrowser(ctx, session)
  return authUser(ctx, user, session)
}

/** Checks all that needs no transaction. What it returns does the rest in the one that begins the session. */
async function admitted(ctx: Context, recognition: Recognition): Promise<(tx: Change) => Promise<UserRow>> {
  if (recognition.way === 'account') return recognition.create
  if (recognition.way === 'link') return (tx) => enterByLink(tx, recognition.token)
  const { user, code } = recognition
  const identity = recognition.way === 'identity' ? recognition.identity : undefined
  assertNotBlocked(user)
  const proof = await secondFactor(ctx, { user, identity }, code)
  // After the second factor, as only a sign-in proves that the password is theirs
  const renewed =
    recognition.way === 'password' && recognition.password !== undefined && !ctx.dryRun
      ? await renewedHash(user, recognition.password, { client: ctx.client, account: user.email })
      : undefined
  return async (tx) => {
    if (renewed !== undefined) await renewPassword(tx.db, user, renewed)
    return enter(tx, { user, identity }, proof)
  }
}

interface Known {
  user: UserRow
  /** Undefined for the password. */
  identity: KnownIdentity | undefined
}

/** Refuses an account whose sessions have ended since it was recognised, as after a new password or a block. */
async function enter(tx: Change, { user, identity }: Known, proof: Proof | undefined): Promise<UserRow> {
  if (!(await holdSessions(tx.db, user))) throw justChanged()
  if (proof) await useProof(tx.db, user.userId, proof)
  if (!identity) {
    await recordOwnWay(tx, user.userId, PASSWORD)
    recordWay(tx, user, PASSWORD)
    return user
  }
  const used = await useIdentity(tx.db, { ...identity, userId: user.userId }, tx.now().toISOString())
  if (!used) throw justChanged()
  recordWay(tx, user, used.provider)
  return user
}

const justChanged = () => new AppError('INCORRECT_PASSWORD', 'The account has just changed. Sign in again.')

async function enterByLink(tx: Change, token: OneTimeToken): Promise<UserRow> {
  const user = await lockUser(tx.db, token.userId) // first, as whoever ends the sessions does
  if (!user) throw userNotFound()
  assertNotBlocked(user)
  await useUp(tx.db, token)
  await recordOwnWay(tx, user.userId, LINK)
  tx.record('user.link_used', user.userId)
  recordWay(tx, user, LINK)
  return user
}

const recordWay = ({ record }: Change, { userId }: UserRow, way: string): void =>
  record('user.signed_in', userId, undefined, undefined, [changeOf('way', null, way)])

async function leaveFormerSession({ db, record, browser, actor: { sessionId, userId } }: Change): Promise<void> {
  if (!browser || sessionId === undefined || userId === null) return
  if (await deleteSession(db, { sessionId, userId })) record('session.ended', sessionId)
}

/** The proof of a second factor, where the account has one. */
async function secondFactor(
  ctx: Context,
  { user, identity }: Known,
  code: string | null | undefined,
): Promise<Proof | undefined> {
  const totp = await findTotp(ctx.db, user.userId)
  if (!totp?.enabledAt) return undefined
  if (!code)
    throw new AppError('TOTP_REQUIRED', 'This account has a second factor. Give a code of the authenticator app too.', {
      passwordToken: passwordToken(ctx, user, identity?.identityId),
    })
  const proof = await countedProof(ctx, user, totp, code)
  if (proof) return proof
  await recordFailedSignIn(ctx, user.userId)
  throw wrongCode()
}

export function assertNotBlocked({ isBlocked }: Pick<UserRow, 'isBlocked'>): void {
  if (isBlocked) throw new AppError('USER_BLOCKED', 'This account is blocked. Ask the owner of the site.')
}
