import * as Type from 'typebox'
import { AppError } from '../../core/errors.js'
import { LANGUAGES } from '../../core/language.js'
import { newId, randomWord } from '../../core/ids.js'
import { LENGTHS } from '../../core/lengths.js'
import { NIL } from 'uuid'
import type { Db, SessionRow, Tables, UserRow } from '../../db/tables.js'
import { permissionsOfRoles } from '../../db/roles.js'
import { lacksTotp } from '../../db/totp.js'
import { lastSeen, stateOf, USER_STATES } from '../../db/userlists.js'
import { assignEveryone, findOwner, findUser, findUserByEmail, formerUsernames, insertUser, insertUsers, isFormerUsername, rolesOf } from '../../db/users.js' // prettier-ignore
import { userTagsOf } from '../../db/usertags.js'
import { avatarOf } from './avatars.js'
import { can, type Actor } from './access.js'
import type { CachedContext, Context } from './context.js'
import { nullable, oneLine, oneOf } from './schemas.js'
import { personOf } from './sessions.js'
import { sessionToken } from './tokens.js'
import { recognised, userPolicy } from './userpolicy.js'

/** The signed-in person, with a session token: the response of setup, signup and login. */
export const AuthUser = Type.Object({
  authToken: Type.String({ description: 'Send it as "Authorization: Bearer <authToken>"; valid for two days' }),
  userId: Type.String({ format: 'uuid' }),
  name: Type.String(),
  username: Type.String(),
  email: Type.String(),
  avatar: Type.String(),
  totpNeeded: Type.Optional(
    Type.Boolean({ description: 'true if a role counts only after you enable a second factor; otherwise absent' }),
  ),
})

/** What everybody sees of a person. */
export const PublicUser = Type.Object({
  userId: Type.String({ format: 'uuid' }),
  name: Type.String(),
  username: Type.String(),
  avatar: Type.String(),
  isTeam: Type.Optional(
    Type.Boolean({
      description: 'true of the owner and of who holds dashboard:read by a role; absent of others',
    }),
  ),
})

/** The language of an account, where it has one. */
export const languageShown = Type.String({
  description: "Language of the user's pages and mails; absent if pages use the browser's language",
})

export const languageOf = ({ language }: Pick<UserRow, 'language'>) => (language === null ? {} : { language })

/** What the team sees of a person. */
export const User = Type.Object({
  userId: Type.String({ format: 'uuid' }),
  name: Type.String(),
  email: Type.String({ description: 'Empty if the caller lacks user:read, except for their own account' }),
  username: Type.String(),
  avatar: Type.String(),
  isVerified: Type.Boolean(),
  isBlocked: Type.Boolean(),
  isOwner: Type.Boolean(),
  state: oneOf(USER_STATES, {
    description: 'The first of these that holds; the invited have no password, and have not confirmed their address',
  }),
  lastSeenAt: nullable('string', {
    description: 'Hour of the last request, or time of a later sign-in; null if there was none, and as email is empty',
  }),
  notes: nullable('string', { description: "The owner's notes about the user; null for other callers" }),
  tags: Type.Array(Type.String(), {
    description: 'What the team calls the user, by name; empty if the caller lacks user:read and user:block',
  }),
  createdAt: Type.String({ format: 'date-time' }),
  votes: Type.String({ description: 'Number of votes, as a decimal integer' }),
  posts: Type.String({ description: 'Number of posts, as a decimal integer' }),
  roles: Type.Array(
    Type.Object({
      id: Type.String({ format: 'uuid' }),
      name: Type.String(),
      isSystem: Type.Boolean(),
      user_role_id: Type.String({ description: 'Same as id' }),
    }),
  ),
  may: userPolicy.field,
  language: Type.Optional(languageShown),
})

type Author = Type.Static<typeof PublicUser>

/** Shown as the author of posts and comments whose account is deleted. */
export const DELETED_USER: Author = { userId: NIL, name: 'deleted user', username: 'deleted', avatar: '' }

/** The author, from the columns of a left join; they are null where the account is deleted. */
export const authorOf = (
  ctx: Pick<Context, 'siteUrl'>,
  { userId, name, username, avatar }: { [Key in 'userId' | 'name' | 'username' | 'avatar']: string | null },
  team?: ReadonlySet<string>,
): Author =>
  userId === null
    ? DELETED_USER
    : {
        userId,
        name: name ?? '',
        username: username ?? '',
        avatar: avatarOf(ctx, { userId, avatar: avatar ?? '' }),
        ...(team?.has(userId) && { isTeam: true }),
      }

export const emailField = Type.Optional(
  nullable('string', { description: 'E-mail address', documentedFormat: 'email' }),
)
export const passwordField = Type.Optional(
  nullable('string', { description: 'Password of 8 to 256 characters', documentedFormat: 'password', secret: true }),
)
export const codeField = Type.Optional(
  nullable('string', {
    maxLength: 100,
    description: 'Code from an authenticator app, or a recovery code',
    secret: true,
  }),
)
/** The rules of a display name. It may be empty; the user name is shown then. */
export const displayName = {
  ...oneLine(LENGTHS.name),
  minLength: 0,
  rule: 'text of up to 100 characters',
  description: 'Display name, in any script',
}
export const nameField = Type.Optional(nullable('string', displayName))

/** A test adds a language to the list, so this is the list itself. */
const language = Type.Unsafe<string>({
  type: 'string',
  enum: LANGUAGES,
  description: 'Language of pages and mails',
})
export const languageField = Type.Optional(language)

export type SignedIn = Type.Static<typeof AuthUser>

/** The answer of an operation that has begun this session. A dry run begins none. */
export const authUser = async (
  ctx: Context,
  { userId, name, username, email, avatar }: UserRow,
  session: SessionRow | undefined,
): Promise<SignedIn> => ({
  authToken: ctx.dryRun || !session ? '' : await sessionToken(ctx, session),
  userId,
  name,
  username,
  email,
  avatar: avatarOf(ctx, { userId, avatar }),
  ...((await lacksTotp(ctx.db, userId)) && { totpNeeded: true }),
})

/** The row of a new person. User name and avatar tell nothing of the address. */
export function newUser(
  now: Date,
  {
    email,
    name,
    password,
    language,
  }: { email: string; name: string; password: string | null; language?: string | undefined },
) {
  const createdAt = now.toISOString()
  return {
    userId: newId(),
    name,
    username: usernameFor(name),
    email,
    password,
    avatar: '',
    isVerified: 0,
    isOwner: 0,
    isBlocked: 0,
    ...(language !== undefined && { language }),
    createdAt,
    updatedAt: createdAt,
  } satisfies Partial<Tables['users']>
}

type Shower = Pick<Context, 'db' | 'siteUrl' | 'actor'>

/** People with their roles, in the order given. */
export async function usersShown(ctx: Shower, rows: UserRow[]): Promise<Type.Static<typeof User>[]> {
  const { db, actor } = ctx
  const roles = rows.length === 0 ? [] : await rolesOf(db, rows.map((row) => row.userId)) // prettier-ignore
  const byName = roles.toSorted((one, other) => (one.name < other.name ? -1 : 1))
  const seen = await lastSeen(db, rows.map((row) => row.userId)) // prettier-ignore
  const tags = seesUserTags(actor) ? await userTagsOf(db, rows.map((row) => row.userId)) : [] // prettier-ignore
  const linked = await recognised(db, rows)
  const held = actor.isOwner ? undefined : await permissionsOfRoles(db, assignedIds(roles))
  return rows.map(({ userId, name, email, username, avatar, notes, createdAt, ...row }) => {
    const own = byName.filter((role) => role.user_id === userId)
    const permissions = own.flatMap(({ id }) => held?.get(id) ?? [])
    return {
      userId,
      name,
      email: mayReadAddress(actor, userId) ? email : '',
      username,
      avatar: avatarOf(ctx, { userId, avatar }),
      isVerified: row.isVerified === 1,
      isBlocked: row.isBlocked === 1,
      isOwner: row.isOwner === 1,
      state: stateOf(row),
      lastSeenAt: mayReadAddress(actor, userId) ? (seen.get(userId) ?? null) : null,
      notes: actor.isOwner ? notes : null,
      tags: tags.filter((each) => each.userId === userId).map(({ tag }) => tag),
      createdAt,
      votes: String(row.vote_count),
      posts: String(row.post_count),
      roles: own.map((role) => ({
        id: role.id,
        name: role.name,
        isSystem: role.isSystem === 1,
        user_role_id: role.id,
      })),
      may: userPolicy.may(actor, { ...row, userId, email, permissions, hasIdentity: linked.has(userId) }),
      ...languageOf(row),
    }
  })
}

/** Without the system roles, which everybody has. */
const assignedIds = (roles: Awaited<ReturnType<typeof rolesOf>>): string[] => [
  ...new Set(roles.filter(({ isSystem }) => !isSystem).map(({ id }) => id)),
]

/** Who may read people, and who may tag them. People do not see their own. */
const seesUserTags = (actor: Actor): boolean => can(actor, 'user:read') || can(actor, 'user:block')

const mayReadAddress = (actor: Actor, userId: string): boolean => can(actor, 'user:read') || actor.userId === userId

export async function userShown(ctx: Shower, row: UserRow): Promise<{ user: Type.Static<typeof User> }> {
  const [user] = await usersShown(ctx, [row])
  return { user: user as Type.Static<typeof User> } // one row in, one row out
}

/** Finds a person by id or user name, and by e-mail address if the actor may read addresses. */
export const findPerson = async (
  { db, actor }: Pick<Context, 'db' | 'actor'>,
  who: string,
): Promise<UserRow | undefined> => (who.includes('@') && !can(actor, 'user:read') ? undefined : findUser(db, who))

/** By what the actor finds people, for messages. */
export const namingPeople = (actor: Actor): string =>
  can(actor, 'user:read') ? 'Give their e-mail address, user name or id.' : 'Give their user name or id.'

/** A second attempt is rare: a user name ends with eight random characters. */
const MAX_ATTEMPTS = 5

/** Inserts a new person, with another user name while the generated one is taken. */
export async function insertPerson(db: Db, person: ReturnType<typeof newUser>): Promise<UserRow> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const username = attempt === 1 ? person.username : usernameFor(person.name)
    if (await isFormerUsername(db, username)) continue
    const user = await insertUser(db, { ...person, username })
    if (user) return user
    if (person.isOwner && (await findOwner(db))) throw setupCompleted()
    if (await findUserByEmail(db, person.email)) throw userExists(person.email)
  }
  throw new AppError('USERNAME_EXISTS', 'No free user name was found. Try again.')
}

/** Inserts new people, whose ids nobody has. */
export async function insertPeople(db: Db, people: readonly ReturnType<typeof newUser>[]): Promise<void> {
  const former = await formerUsernames(db, people.map(({ username }) => username)) // prettier-ignore
  const inserted = await insertUsers(db, people.filter(({ username }) => !former.has(username))) // prettier-ignore
  for (const person of people) if (!inserted.has(person.userId)) await insertPerson(db, person)
  await assignEveryone(db, ...people.map(({ userId }) => userId))
}

export const setupCompleted = () =>
  new AppError('SETUP_COMPLETED', 'The site has an owner already. Sign in with that account.')

export const userExists = (email: string) =>
  new AppError('USER_EXISTS', `${email} has an account already. Use another address.`)

export const userNotFound = () => new AppError('USER_NOT_FOUND', 'This account does not exist any more.')

/** Made of the display name, never of the address. */
const usernameFor = (name: string): string => {
  const readable = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .slice(0, 21)
    .replaceAll(/^_+|_+$/g, '')
  return `${readable || 'user'}_${randomWord(8)}`
}

/** Whoever asks; the owner for the operator. */
export async function ownUser(ctx: CachedContext): Promise<UserRow> {
  const user = await findUser(ctx.db, await personOf(ctx))
  if (!user) throw userNotFound()
  return user
}
