import { sql, type Insertable, type SqlBool } from 'kysely'
import { pageOf, within, type Page, type Period, type Sorting } from './paging.js'
import { referringTo } from './references.js'
import type { Db, Tables, UserRow } from './tables.js'

export const INVITATION_STATES = ['waiting', 'expired', 'accepted'] as const
export type InvitationState = (typeof INVITATION_STATES)[number]

type Invitation = Tables['invitations']
type Person = Pick<UserRow, 'name' | 'username' | 'email' | 'avatar' | 'isOwner'>
type Inviter = Pick<UserRow, 'userId' | 'name' | 'username' | 'avatar'>

/** An invitation with its person, and who sent it. Their columns are null for the command line and deleted accounts. */
export type ListedInvitation = Invitation & Person & { [Key in keyof Inviter as `by_${Key}`]: string | null }

export interface InvitationFilter extends Period {
  states?: readonly InvitationState[] | undefined
  /** Whose it is. */
  userId?: string | undefined
  /** The states are those at this time. */
  now: string
}

export function invitationState(
  { acceptedAt, expiresAt }: Pick<Invitation, 'acceptedAt' | 'expiresAt'>,
  now: string,
): InvitationState {
  if (acceptedAt !== null) return 'accepted'
  return expiresAt > now ? 'waiting' : 'expired'
}

const orderOf = ({ created: direction }: Sorting) =>
  ({ by: ['createdAt', 'userId'], direction, table: 'invitations' }) as const

const all = (db: Db) =>
  db
    .selectFrom('invitations')
    .innerJoin('users', 'users.userId', 'invitations.userId')
    .leftJoin('users as by', 'by.userId', 'invitations.invitedBy')
    .selectAll('invitations')
    .select(['users.name', 'users.username', 'users.email', 'users.avatar', 'users.isOwner'])
    .select(['by.userId as by_userId', 'by.name as by_name', 'by.username as by_username', 'by.avatar as by_avatar'])

function filtered(db: Db, { states, userId, now, ...period }: InvitationFilter) {
  const listed = within(all(db), 'invitations.createdAt', period)
  const query = userId === undefined ? listed : listed.where('invitations.userId', '=', userId)
  if (!states) return query
  const accepted = sql.ref('invitations.acceptedAt')
  const condition = {
    waiting: sql<SqlBool>`(${accepted} is null and ${sql.ref('invitations.expiresAt')} > ${now})`,
    expired: sql<SqlBool>`(${accepted} is null and ${sql.ref('invitations.expiresAt')} <= ${now})`,
    accepted: sql<SqlBool>`${accepted} is not null`,
  }
  return query.where(sql<SqlBool>`(${sql.join(states.map((state) => condition[state]), sql` or `)})`) // prettier-ignore
}

export const listInvitations = (
  db: Db,
  filter: InvitationFilter & Sorting,
  page: Page<ListedInvitation>,
): Promise<ListedInvitation[]> => pageOf(filtered(db, filter), orderOf(filter), page).execute()

/** Returns the invitation if it matches the filter. */
export const findListedInvitation = (
  db: Db,
  filter: InvitationFilter,
  userId: string,
): Promise<ListedInvitation | undefined> =>
  filtered(db, filter).where('invitations.userId', '=', userId).executeTakeFirst()

export const findInvitation = (db: Db, userId: string): Promise<ListedInvitation | undefined> =>
  all(db).where('invitations.userId', '=', userId).executeTakeFirst()

export const insertInvitation = (db: Db, invitation: Insertable<Invitation>) =>
  referringTo({ users: invitation.invitedBy }, () => db.insertInto('invitations').values(invitation).execute())

/** Locks the row until the transaction ends. Returns false where the invitation is accepted, or its account is gone. */
export async function renewInvitation(
  db: Db,
  { userId, ...times }: Pick<Invitation, 'userId' | 'sentAt' | 'expiresAt'>,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('invitations')
    .set(times)
    .where('userId', '=', userId)
    .where('acceptedAt', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Whoever gets a way to sign in has accepted the invitation, if there was one. */
export const acceptInvitation = (db: Db, userId: string, acceptedAt: string) =>
  db
    .updateTable('invitations')
    .set({ acceptedAt })
    .where('userId', '=', userId)
    .where('acceptedAt', 'is', null)
    .execute()

/** Whether this account waits for its person to accept an invitation. */
export async function isInvitationOpen(db: Db, userId: string): Promise<boolean> {
  const row = await db
    .selectFrom('invitations')
    .select('userId')
    .where('userId', '=', userId)
    .where('acceptedAt', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}
