import * as Type from 'typebox'
import { AppError } from '../../core/errors.js'
import { newId } from '../../core/ids.js'
import { findIdentity, insertIdentity, listIdentities, putIdentityUse } from '../../db/identities.js'
import { acceptInvitation } from '../../db/invitations.js'
import type { IdentityRow, UserRow } from '../../db/tables.js'
import { findUser } from '../../db/users.js'
import type { Actor } from './access.js'
import type { Change } from './change.js'
import type { CachedContext, Context } from './context.js'
import { hasPassword } from './passwords.js'
import { policy } from './policies.js'
import { nullable } from './schemas.js'

/**
 * The ways of the site itself. Their rows only keep the time of the last use. A link is no identity: it goes to the
 * address of the account, or is made by the operator, and an address of its own would have to follow that of the account.
 */
export const [PASSWORD, LINK] = ['password', 'link'] as const
type OwnWay = typeof PASSWORD | typeof LINK

/** What a provider says of a person. */
type Recognised = Pick<IdentityRow, 'provider' | 'subject' | 'email'>

interface Way {
  provider: string
  /** How many ways to sign in the account has: its password and its identities. */
  ways: number
}

/** What people may do with their ways to sign in. */
export const identityPolicy = policy({
  unlink: (_actor: Actor, { provider, ways }: Way) =>
    provider === LINK ? identityNotFound() : ways > 1 ? undefined : lastIdentity(),
})

const known = {
  identityId: Type.String({ description: `Id, or "${PASSWORD}" or "${LINK}", of which an account has one each` }),
  provider: Type.String({
    description: `"${PASSWORD}", "${LINK}" for links made by "feedbackctl owner link", or who else vouches for the user`,
  }),
  subject: nullable('string', { description: 'The id that the provider has for the user; null for a way of the site' }),
  email: nullable('string', { description: 'The address that the provider said when it was linked' }),
  createdAt: nullable('string', { description: 'When it was linked; null for a way of the site' }),
  lastUsedAt: nullable('string', { description: 'The last sign-in with it; null if none is known' }),
}
/** A way to sign in of any person. */
export const KnownIdentity = Type.Object(known)
/** A way to sign in of whoever asks. */
export const Identity = Type.Object({ ...known, may: identityPolicy.field })
export type Identity = Type.Static<typeof Identity>

/** The ways to sign in of a person: the password first, then in the order in which they were linked. */
export async function waysOf({ db, actor }: Pick<CachedContext, 'db' | 'actor'>, user: UserRow): Promise<Identity[]> {
  const rows = await listIdentities(db, user.userId)
  const [password, link, linked] = [of(rows, PASSWORD), of(rows, LINK), rows.filter(isLinked)]
  const own = (provider: OwnWay, use: IdentityRow | undefined): Shown => ({ identityId: provider, provider, subject: null, email: null, createdAt: null, lastUsedAt: use?.usedAt ?? null }) // prettier-ignore
  const ways = countWays(user, linked)
  return [
    ...(hasPassword(user) ? [own(PASSWORD, password)] : []),
    ...linked.map(({ identityId, provider, subject, email, createdAt, usedAt }) => ({ identityId, provider, subject, email, createdAt, lastUsedAt: usedAt })), // prettier-ignore
    ...(link ? [own(LINK, link)] : []),
  ].map((way) => ({ ...way, may: identityPolicy.may(actor, { ...way, ways }) }))
}

type Shown = Type.Static<typeof KnownIdentity>

/** In the order of the schema. */
export const withoutRights = ({ identityId, provider, subject, email, createdAt, lastUsedAt }: Identity): Shown => ({
  identityId,
  provider,
  subject,
  email,
  createdAt,
  lastUsedAt,
})

const of = (rows: readonly IdentityRow[], way: OwnWay) => rows.find(({ provider }) => provider === way)

export const isLinked = ({ provider }: Pick<IdentityRow, 'provider'>): boolean =>
  provider !== PASSWORD && provider !== LINK

export const countWays = (user: UserRow, linked: readonly IdentityRow[]): number =>
  linked.length + (hasPassword(user) ? 1 : 0)

/** The account that a provider vouches for. Throws IDENTITY_NOT_FOUND where it is linked to none. */
export async function personOfIdentity(
  { db }: Pick<Context, 'db'>,
  recognised: Pick<Recognised, 'provider' | 'subject'>,
): Promise<{ user: UserRow; identity: IdentityRow }> {
  const identity = isLinked(recognised) ? await findIdentity(db, recognised) : undefined
  const user = identity && (await findUser(db, identity.userId))
  if (!user) throw new AppError('IDENTITY_NOT_FOUND', 'No account is linked to this sign-in.')
  return { user, identity }
}

/** Links what a provider vouches for to an account, in the transaction that has made the account or locked it. */
export async function linkIdentity(
  { db, now, record }: Change,
  { userId }: Pick<UserRow, 'userId'>,
  { provider, subject, email }: Recognised,
): Promise<void> {
  const identity = { identityId: newId(), userId, provider, subject, email, createdAt: now().toISOString() }
  if (!isLinked(identity) || !(await insertIdentity(db, identity)))
    throw new AppError('IDENTITY_EXISTS', 'This sign-in is linked to an account already.')
  await acceptInvitation(db, userId, identity.createdAt)
  record('identity.linked', identity.identityId, undefined, userId)
}

/** Stores the time of a sign-in with a way of the site itself. */
export async function recordOwnWay({ db, now }: Pick<Change, 'db' | 'now'>, userId: string, provider: OwnWay) {
  const usedAt = now().toISOString()
  await putIdentityUse(db, { identityId: newId(), userId, provider, subject: userId, createdAt: usedAt, usedAt })
}

export const identityNotFound = () => new AppError('IDENTITY_NOT_FOUND', 'You have no such way to sign in.')

const lastIdentity = () =>
  new AppError('LAST_IDENTITY', 'This is the only way to sign in to the account. Set a password or link another first.')
