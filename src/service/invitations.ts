import * as Type from 'typebox'
import { NIL } from 'uuid'
import { AppError } from '../core/errors.js'
import { asStored, isId } from '../core/ids.js'
import { quoted } from '../core/text.js'
import { lock } from '../db/counters.js'
import {
  findInvitation,
  findListedInvitation,
  INVITATION_STATES,
  invitationState,
  isInvitationOpen,
  listInvitations,
  renewInvitation,
  type ListedInvitation,
} from '../db/invitations.js'
import { permissionsOfRoles } from '../db/roles.js'
import { findUserByEmail, lockUser, rolesOf } from '../db/users.js'
import { can, notAllowed, refusedBy, type Actor, type Gated } from './lib/access.js'
import { eachOnce, outcomeError, refusalIn } from './lib/bulk.js'
import { change, type Change } from './lib/change.js'
import type { Context } from './lib/context.js'
import { createInvited, timesOf } from './lib/inviting.js'
import { deletePerson } from './lib/leaving.js'
import { queueLetter } from './lib/mailings.js'
import { operation } from './lib/operation.js'
import { pageFields, uncountedKeys, uncountedPage, type Listing } from './lib/paging.js'
import { assertEmail } from './lib/emails.js'
import { authorOf, findPerson, languageField, namingPeople, newUser, PublicUser, userExists } from './lib/people.js'
import { policy, runs } from './lib/policies.js'
import { fields, inPath, listOf, nullable, oneOf, someOf } from './lib/schemas.js'
import { MOST_SEARCHED, searched, textField, textMatcher } from './lib/textsearch.js'
import { orderFields, periodFields, periodFrom } from './lib/times.js'
import { tooStrong } from './lib/userpolicy.js'
import { assertAddressAllowed } from './blockeddomains.js'
import { giverOf, roleId } from './roles.js'

/** Addresses that one request may invite. */
const MOST_AT_ONCE = 50

/** An invitation with what the roles of its account permit. */
type Held = ListedInvitation & { permissions: readonly string[] }

/** What may be done with an invitation. To revoke it deletes the account, so others' needs the right to block people. */
const invitationPolicy = policy({
  resend: (actor: Actor, row: Held) => runs((): Gated => resend)(actor, row) ?? closed(row),
  revoke: (actor: Actor, row: Held) =>
    runs((): Gated => revoke)(actor, row) ?? ofOthers(actor, row) ?? tooStrong(actor, row, 'deleted') ?? closed(row),
})

const ofOthers = (actor: Actor, { invitedBy }: Held): AppError | undefined =>
  (actor.userId !== null && invitedBy === actor.userId) || can(actor, 'user:block')
    ? undefined
    : notAllowed(['user:block'])

const closed = ({ acceptedAt }: Held): AppError | undefined => (acceptedAt === null ? undefined : notWaiting())

const notWaiting = () =>
  new AppError('INVITATION_NOT_FOUND', 'This person has accepted the invitation already, or was not invited.')

const Invitation = Type.Object({
  userId: Type.String({ format: 'uuid', description: 'Of the account that the invitation is for' }),
  name: Type.String(),
  username: Type.String(),
  email: Type.String({ description: 'Empty if the caller lacks user:read' }),
  state: oneOf(INVITATION_STATES, {
    description: 'expired: the link has stopped working; accepted: the person has a way to sign in',
  }),
  invitedBy: Type.Union([PublicUser, Type.Null()], {
    description: 'null for an invitation of the command line, and where the account is deleted',
  }),
  createdAt: Type.String({ format: 'date-time' }),
  sentAt: Type.String({ format: 'date-time', description: 'Time of the newest mail' }),
  expiresAt: Type.String({ format: 'date-time', description: 'When the link of that mail stops working' }),
  acceptedAt: nullable('string', { description: 'null until it is accepted' }),
  may: invitationPolicy.field,
})
export type Invitation = Type.Static<typeof Invitation>

const INVITATIONS: Listing<ListedInvitation> = { row: 'invitation', rows: 'Invitations', id: 'userId', size: 50, pages: 1000 } // prettier-ignore

export const list = operation({
  id: 'invitations.list',
  summary: 'List invitations, newest first',
  http: 'GET /invitations 200',
  access: 'user:invite',
  sensitive: true,
  errors: [],
  input: fields({
    state: Type.Optional(someOf(INVITATION_STATES, { description: 'Only invitations in one of these states' })),
    user: Type.Optional(
      Type.String({
        maxLength: 200,
        description: 'Only that of this person: id, e-mail address or user name',
        names: 'user',
      }),
    ),
    query: textField('invitations', { within: 'name, user name or address', most: MOST_SEARCHED }),
    ...orderFields('desc'),
    ...pageFields(INVITATIONS),
    ...periodFields('invitations'),
  }),
  output: Type.Object({ invitations: Type.Array(Invitation), ...uncountedKeys }),
  async run(ctx, { state, user: given, query, created, since, until, ...page }) {
    // Nobody has the id that stands for a person who is not found
    const userId = given === undefined ? undefined : ((await findPerson(ctx, given.trim()))?.userId ?? NIL)
    const filter = { states: state, userId, created, now: ctx.now().toISOString(), ...periodFrom({ since, until }) }
    const hasText = textMatcher(query)
    const { rows: invitations, keys } = await uncountedPage(INVITATIONS, page, {
      ...searched(
        {
          find: async (after) => (isId(after) ? findListedInvitation(ctx.db, filter, asStored(after)) : undefined),
          read: (slice) => listInvitations(ctx.db, filter, slice),
        },
        // Who may not read addresses does not find them either
        hasText && (({ name, username, email }) => hasText(name, username, can(ctx.actor, 'user:read') ? email : null)),
      ),
      show: (rows) => shown(ctx, rows),
    })
    return { invitations, ...keys }
  },
})

const Outcome = Type.Object({
  given: Type.String({ description: 'What the request said' }),
  outcome: oneOf(['invited', 'failed']),
  userId: nullable('string', { description: 'Of the new account; null if there is none' }),
  username: nullable('string'),
  error: outcomeError,
})
export type Outcome = Type.Static<typeof Outcome>

export const create = operation({
  id: 'invitations.create',
  summary: `Invite up to ${MOST_AT_ONCE} people by mail, with an outcome for each address`,
  http: 'POST /invitations 200',
  access: 'user:invite',
  mails: true,
  limit: 'invitations',
  weight: ({ emails }) => eachAddress(emails as string[]).length,
  sensitive: true,
  errors: ['USER_NOT_FOUND', 'ROLE_NOT_FOUND'],
  input: fields({
    emails: listOf({
      minItems: 1,
      maxItems: MOST_AT_ONCE,
      rule: `a list of 1 to ${MOST_AT_ONCE} e-mail addresses`,
      description: `Up to ${MOST_AT_ONCE} e-mail addresses`,
    }),
    role: Type.Optional({
      ...roleId,
      description: 'Role that each gets: its id, or its name; you need role:assign and all its permissions',
    }),
    language: languageField,
  }),
  output: Type.Object({
    outcomes: Type.Array(Outcome, { description: 'One for each address, in the order of the request' }),
    invited: Type.Integer(),
    failed: Type.Integer(),
  }),
  async run(ctx, { emails, role, language }) {
    const giver = role === undefined ? undefined : await giverOf(ctx, role)
    return change(ctx, async (tx) => {
      const give = await giver?.(tx)
      const outcomes: Outcome[] = []
      for (const given of eachAddress(emails)) {
        const outcome = await outcomeOf(tx, given, language)
        if (outcome.userId !== null) await give?.(outcome.userId)
        outcomes.push(outcome)
      }
      const invited = outcomes.filter(({ outcome }) => outcome === 'invited').length
      return { outcomes, invited, failed: outcomes.length - invited }
    })
  },
})

/** Each address once, in whatever letter case. */
const eachAddress = (given: readonly string[]): string[] => {
  const folded = (address: string) => address.toLowerCase()
  const all = eachOnce(given)
  return all.filter((each, place) => all.findIndex((other) => folded(other) === folded(each)) === place)
}

/** A refusal comes before anything is written, so the others are invited all the same. */
async function outcomeOf(tx: Change, given: string, language: string | undefined): Promise<Outcome> {
  try {
    const email = assertEmail(given)
    await assertAddressAllowed(tx.db, email)
    await assertNew(tx, email)
    const user = await createInvited(tx, newUser(tx.now(), { email, name: '', password: null, language }))
    return { given, outcome: 'invited', userId: user.userId, username: user.username }
  } catch (error) {
    return { given, outcome: 'failed', userId: null, username: null, error: refusalIn(error) }
  }
}

async function assertNew({ db }: Change, email: string): Promise<void> {
  const known = await findUserByEmail(db, email)
  if (!known) return
  throw (await isInvitationOpen(db, known.userId))
    ? new AppError('USER_EXISTS', `${email} was invited already. Send that invitation again instead.`)
    : userExists(email)
}

const about = fields({ user: inPath('Id, e-mail address or user name of the person', 'user') })

export const resend = operation({
  id: 'invitations.resend',
  summary: 'Send an invitation again, with a new link; the link of the mail before stops working',
  http: 'POST /invitations/:user/resend 200',
  access: 'user:invite',
  mails: true,
  limit: 'invitations',
  sensitive: true,
  errors: ['INVITATION_NOT_FOUND', 'EMAIL_DOMAIN_BLACKLISTED'],
  input: about,
  output: Type.Object({ invitation: Invitation }),
  subject: invitationOf,
  async run(ctx, _input, { userId, email }) {
    await assertAddressAllowed(ctx.db, email)
    return change(ctx, async (tx) => {
      const user = await lockUser(tx.db, userId)
      if (!user || !(await renewInvitation(tx.db, { userId, ...timesOf(tx) }))) throw notWaiting()
      await queueLetter(tx, 'invitation', user)
      tx.record('user.invitation_resent', userId)
      return { invitation: await one(tx, userId) }
    })
  },
})

export const revoke = operation({
  id: 'invitations.revoke',
  summary: 'Revoke an invitation: its link stops working, and the account that nobody has used is deleted',
  http: 'DELETE /invitations/:user 204',
  access: 'user:invite',
  errors: ['INVITATION_NOT_FOUND', 'CANNOT_CHANGE_OWNER'],
  input: about,
  output: Type.Undefined(),
  subject: invitationOf,
  run: (ctx, _input, { userId }) =>
    change(ctx, async (tx) => {
      await lock(tx.db, 'post_counts')
      const user = await lockUser(tx.db, userId) // whoever accepts it changes the account first
      const invitation = user && (await findInvitation(tx.db, userId))
      if (!invitation) throw notWaiting()
      const [row] = await held(tx, [invitation])
      if (row) invitationPolicy.assert('revoke', tx.actor, row)
      tx.record('user.invitation_revoked', userId)
      await deletePerson(tx, user, 'keep')
      return undefined
    }),
})

/** The invitation of a person. Who may not invite does not learn whether the account exists. */
async function invitationOf(ctx: Context, { user: given }: Record<string, unknown>): Promise<ListedInvitation> {
  const refusal = refusedBy('user:invite', ctx.actor)
  if (refusal) throw refusal
  const who = typeof given === 'string' ? given : ''
  const user = who === '' ? undefined : await findPerson(ctx, who)
  const invitation = user && (await findInvitation(ctx.db, user.userId))
  if (invitation) return invitation
  throw new AppError('INVITATION_NOT_FOUND', `No invitation of ${quoted(who)} was found. ${namingPeople(ctx.actor)}`)
}

type Shower = Pick<Context, 'db' | 'actor' | 'now' | 'siteUrl'>

async function one(ctx: Shower, userId: string): Promise<Invitation> {
  const row = await findInvitation(ctx.db, userId)
  const [invitation] = row ? await shown(ctx, [row]) : []
  if (!invitation) throw notWaiting()
  return invitation
}

/** Adds the permissions of each account's roles. System roles do not count, because everybody has them. */
async function held({ db }: Pick<Context, 'db'>, rows: readonly ListedInvitation[]): Promise<Held[]> {
  if (rows.length === 0) return []
  const roles = (await rolesOf(db, rows.map(({ userId }) => userId))).filter(({ isSystem }) => !isSystem) // prettier-ignore
  const permissions = await permissionsOfRoles(db, [...new Set(roles.map(({ id }) => id))])
  return rows.map((row) => ({
    ...row,
    permissions: roles.filter((role) => role.user_id === row.userId).flatMap(({ id }) => permissions.get(id) ?? []),
  }))
}

async function shown(ctx: Shower, rows: readonly ListedInvitation[]): Promise<Invitation[]> {
  const now = ctx.now().toISOString()
  return (await held(ctx, rows)).map((row) => ({
    userId: row.userId,
    name: row.name,
    username: row.username,
    email: can(ctx.actor, 'user:read') ? row.email : '',
    state: invitationState(row, now),
    invitedBy:
      row.by_userId === null
        ? null
        : authorOf(ctx, { userId: row.by_userId, name: row.by_name, username: row.by_username, avatar: row.by_avatar }),
    createdAt: row.createdAt,
    sentAt: row.sentAt,
    expiresAt: row.expiresAt,
    acceptedAt: row.acceptedAt,
    may: invitationPolicy.may(ctx.actor, row),
  }))
}
