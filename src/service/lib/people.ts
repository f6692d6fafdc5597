import { quoted } from '../../core/text.js'
import { createHash } from 'node:crypto'
import * as Type from 'typebox'
import isEmail from 'validator/lib/isEmail.js'
import { AppError } from '../../core/errors.js'
import { newId, randomWord } from '../../core/ids.js'
import { NIL } from 'uuid'
import type { Db, Tables, UserRow } from '../../db/tables.js'
import { findOwner, findUser, findUserByEmail, insertUser, rolesOf } from '../../db/users.js'
import type { Context } from './context.js'
import { nullable, oneLine } from './schemas.js'
import { sessionToken } from './tokens.js'

/** A person as setup and login answer them, with a token for what follows. */
export const AuthUser = Type.Object({
  authToken: Type.String({ description: 'Send it as "Authorization: Bearer <authToken>"; valid for two days' }),
  userId: Type.String({ format: 'uuid' }),
  name: Type.String(),
  username: Type.String(),
  email: Type.String(),
  avatar: Type.String(),
})

/** A person as everybody sees them. */
export const PublicUser = Type.Object({
  userId: Type.String({ format: 'uuid' }),
  name: Type.String(),
  username: Type.String(),
  avatar: Type.String(),
})

/** A person as the owner sees them. */
export const User = Type.Object({
  userId: Type.String({ format: 'uuid' }),
  name: Type.String(),
  email: Type.String(),
  username: Type.String(),
  avatar: Type.String(),
  isVerified: Type.Boolean(),
  isBlocked: Type.Boolean(),
  isOwner: Type.Boolean(),
  notes: nullable('string'),
  createdAt: Type.String({ format: 'date-time' }),
  votes: Type.String({ description: 'Number of votes, as a decimal integer' }),
  posts: Type.String({ description: 'Number of posts, as a decimal integer' }),
  roles: Type.Array(
    Type.Object({
      id: Type.String({ format: 'uuid' }),
      name: Type.String(),
      isSystem: Type.Boolean(),
      user_role_id: Type.String({ description: 'The id of the role once more' }),
    }),
  ),
})

type Author = Type.Static<typeof PublicUser>

/** Who is shown where an account was deleted and what it wrote was kept. */
export const DELETED_USER: Author = { userId: NIL, name: 'deleted user', username: 'deleted', avatar: '' }

/** Who wrote something, from columns of a join: all null where the account was deleted. */
export const authorOf = (row: { [Key in keyof Author]: string | null }): Author =>
  row.userId === null
    ? DELETED_USER
    : { userId: row.userId, name: row.name ?? '', username: row.username ?? '', avatar: row.avatar ?? '' }

export const emailField = Type.Optional(
  nullable('string', { description: 'E-mail address', documentedFormat: 'email' }),
)
export const passwordField = Type.Optional(
  nullable('string', { description: 'Password of 8 to 256 characters', documentedFormat: 'password', secret: true }),
)
/** A name that people are called by; it may be empty, and then the user name is shown. */
export const displayName = {
  ...oneLine(100),
  minLength: 0,
  rule: 'text of up to 100 characters, none of them a control character',
  description: 'Display name, in any script',
}
export const nameField = Type.Optional(nullable('string', displayName))

export const authUser = async (
  ctx: Context,
  { userId, name, username, email, avatar, sessions }: UserRow,
): Promise<Type.Static<typeof AuthUser>> => ({
  authToken: ctx.dryRun ? '' : await sessionToken(ctx, { userId, sessions }), // of a dry run there is nobody to sign in
  userId,
  name,
  username,
  email,
  avatar,
})

/** The address in the form it is stored and compared: lower case. Throws EMAIL_INVALID, or INVALID_EMAIL_DOMAIN if only the domain is wrong. */
export function assertEmail(email: string | null | undefined): string {
  const address = (email ?? '').trim().toLowerCase()
  if (address === '') throw new AppError('EMAIL_INVALID', 'An e-mail address is needed.')
  if (isEmail(address)) return address
  const domain = domainOf(address)
  if (domain.includes('.') && isEmail(`${localPart(address)}@example.org`))
    throw new AppError(
      'INVALID_EMAIL_DOMAIN',
      `${quoted(domain)} is not the name of a domain. Check what stands after the @.`,
    )
  throw new AppError('EMAIL_INVALID', `${quoted(address)} is not an e-mail address.`)
}

/** The row of a new person, with the contract's rules for user name and avatar. */
export function newUser(now: Date, { email, name, password }: { email: string; name: string; password: string }) {
  const createdAt = now.toISOString()
  return {
    userId: newId(),
    name,
    username: usernameFor(email),
    email,
    password,
    avatar: avatarOf(email),
    isVerified: 0,
    isOwner: 0,
    isBlocked: 0,
    createdAt,
    updatedAt: createdAt,
  } satisfies Partial<Tables['users']>
}

export const avatarOf = (email: string): string =>
  `https://www.gravatar.com/avatar/${createHash('md5').update(email).digest('hex')}`

/** People with their roles, in the order given. */
export async function usersShown(db: Db, rows: UserRow[]): Promise<Type.Static<typeof User>[]> {
  const roles = rows.length === 0 ? [] : await rolesOf(db, rows.map((row) => row.userId)) // prettier-ignore
  const byName = roles.toSorted((one, other) => (one.name < other.name ? -1 : 1))
  return rows.map(({ userId, name, email, username, avatar, notes, createdAt, ...row }) => ({
    userId,
    name,
    email,
    username,
    avatar,
    isVerified: row.isVerified === 1,
    isBlocked: row.isBlocked === 1,
    isOwner: row.isOwner === 1,
    notes,
    createdAt,
    votes: String(row.vote_count),
    posts: String(row.post_count),
    roles: byName
      .filter((role) => role.user_id === userId)
      .map((role) => ({ id: role.id, name: role.name, isSystem: role.isSystem === 1, user_role_id: role.id })),
  }))
}

export async function userShown(db: Db, row: UserRow): Promise<{ user: Type.Static<typeof User> }> {
  const [user] = await usersShown(db, [row])
  return { user: user as Type.Static<typeof User> } // one row in, one out
}

/** A person by id or user name; by e-mail address for the owner alone, as addresses are nobody else's business. */
export const findPerson = async (
  { db, actor }: Pick<Context, 'db' | 'actor'>,
  who: string,
): Promise<UserRow | undefined> => (who.includes('@') && !actor.isOwner ? undefined : findUser(db, who))

/** How many user names are tried: each has eight random characters, so that even the second is hardly ever needed. */
const NAMES = 5

/** Inserts a new person, under another user name while the one made is taken. */
export async function insertPerson(db: Db, person: ReturnType<typeof newUser>): Promise<UserRow> {
  for (let attempt = 1; attempt <= NAMES; attempt++) {
    const user = await insertUser(db, attempt === 1 ? person : { ...person, username: usernameFor(person.email) })
    if (user) return user
    if (person.isOwner && (await findOwner(db))) throw setupCompleted()
    if (await findUserByEmail(db, person.email)) throw userExists(person.email)
  }
  throw new AppError('USERNAME_EXISTS', 'No free user name was found. Try again.')
}

export const setupCompleted = () =>
  new AppError('SETUP_COMPLETED', 'The site has an owner already. Sign in with that account.')

export const userExists = (email: string) =>
  new AppError('USER_EXISTS', `${email} has an account already. Use another address.`)

export const userNotFound = () => new AppError('USER_NOT_FOUND', 'This account does not exist any more.')

export const localPart = (email: string): string => email.slice(0, email.lastIndexOf('@'))

export const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1)

const usernameFor = (email: string): string => {
  const readable = localPart(email)
    .slice(0, 30)
    .replaceAll(/[^A-Za-z0-9._-]/g, '')
    .replace(/^_+/, '')
    .slice(0, 21)
  return `${readable || 'user'}_${randomWord(8)}`
}
