import { AppError } from '../../core/errors.js'
import type { Noun } from '../../core/fields.js'
import { isId, isIdStart } from '../../core/ids.js'
import { PERMISSIONS, type Permission } from '../../core/permissions.js'
import { printable, quoted, searchKey } from '../../core/text.js'
import { listKeys } from '../../db/keys.js'
import {
  commentsStarting,
  postsStarting,
  titledNamed,
  titledStarting,
  usersStarting,
  type Candidate,
  type Seen,
} from '../../db/names.js'
import { findBoard } from '../../db/boards.js'
import { findPost } from '../../db/posts/row.js'
import { findRoadmap } from '../../db/roadmaps.js'
import { findRoles, listRoles } from '../../db/roles.js'
import { findUser } from '../../db/users.js'
import { listSessions } from '../../db/sessions.js'
import { can, type Actor } from './access.js'
import type { Context as Whole } from './context.js'
import { personOf, viewerOf } from './sessions.js'

type Context = Pick<Whole, 'db' | 'actor' | 'now'>

/** Candidates that an error names. */
const MOST = 5
/** Roles and keys that are compared by name. */
const MOST_COMPARED = 1000

/**
 * The id that a name or the start of an id stands for, among what the actor may see: undefined where there is none.
 * Throws AMBIGUOUS_NAME where there are several.
 */
export async function idOf(ctx: Context, noun: Noun, given: string): Promise<string | undefined> {
  const name = given.trim()
  if (name === '' || isId(name)) return undefined
  const byName = await namedSo(ctx, noun, name)
  if (byName.length > 1) throw ambiguous(`Several ${noun}s have the name ${quoted(name)}. Give the id of one.`, byName)
  const [only] = byName
  if (only) return only.id
  const start = name.toLowerCase()
  const starting = isIdStart(start) ? await startingSo(ctx, noun, start) : []
  if (starting.length > 1)
    throw ambiguous(`${quoted(name)} is the start of several ids. Give more characters of one.`, starting)
  return starting[0]?.id
}

/** The error lists the candidates as the rules of its issues. */
const ambiguous = (message: string, candidates: readonly Candidate[]): AppError =>
  new AppError('AMBIGUOUS_NAME', message, {
    errors: [
      ...candidates.slice(0, MOST).map((each) => candidate(each.id, `${each.id}   ${shown(each)}`)),
      ...(candidates.length > MOST ? [candidate('', '… and more')] : []),
    ],
  })

const candidate = (id: string, rule: string) => ({ code: 'CANDIDATE', message: rule, field: 'name', rule, value: id })

function shown({ name, handle }: Candidate): string {
  const short = printable(name.length > 40 ? `${name.slice(0, 39).toWellFormed()}…` : name)
  if (handle === null) return short
  return typeof handle === 'number' ? `#${handle} ${short}` : `${short} (${handle})`
}

/** What may be named by its name: where it is unique, in any letter case. */
async function namedSo(ctx: Context, noun: Noun, name: string): Promise<Candidate[]> {
  const folded = searchKey(name)
  const hasName = (row: Candidate) => searchKey(row.name) === folded
  switch (noun) {
    case 'board':
      return titledNamed(ctx.db, 'boards', folded, can(ctx.actor, 'board:read'), MOST + 1)
    case 'roadmap':
      return titledNamed(ctx.db, 'roadmaps', folded, can(ctx.actor, 'roadmap:read'), MOST + 1)
    case 'role':
      return (await rolesSeen(ctx)).filter(hasName)
    case 'key':
      return (await keysSeen(ctx)).filter(hasName)
    case 'subject':
      return ctx.actor.isOwner ? subjectsNamed(ctx, name) : []
    default:
      return []
  }
}

async function startingSo(ctx: Context, noun: Noun, start: string): Promise<Candidate[]> {
  const { db, actor } = ctx
  const begins = ({ id }: Candidate) => id.startsWith(start)
  switch (noun) {
    case 'post':
      return postsStarting(db, start, await seenBy(ctx), MOST + 1)
    case 'comment':
      return commentsStarting(db, start, await seenBy(ctx), MOST + 1)
    case 'item':
      return [...(await startingSo(ctx, 'post', start)), ...(await startingSo(ctx, 'comment', start))]
    case 'subject':
      if (!actor.isOwner) return []
      return (await Promise.all(SUBJECTS.map((each) => startingSo(ctx, each, start)))).flat()
    case 'board':
      return titledStarting(db, 'boards', start, can(actor, 'board:read'), MOST + 1)
    case 'roadmap':
      return titledStarting(db, 'roadmaps', start, can(actor, 'roadmap:read'), MOST + 1)
    case 'user':
      return actor.isOwner ? usersStarting(db, start, MOST + 1) : []
    case 'role':
      return (await rolesSeen(ctx)).filter(begins)
    case 'key':
      return (await keysSeen(ctx)).filter(begins)
    case 'session':
      return (await sessionsSeen(ctx)).filter(begins)
  }
}

const SUBJECTS = ['post', 'comment', 'board', 'roadmap', 'user', 'role', 'key'] as const

/** Every row that operations find by this name. */
async function subjectsNamed({ db }: Context, name: string): Promise<Candidate[]> {
  const [post, user, board, roadmap, roles] = [await findPost(db, name), await findUser(db, name), await findBoard(db, name), await findRoadmap(db, name), await findRoles(db, name)] // prettier-ignore
  return [
    ...(post ? [{ id: post.postId, name: post.title, handle: post.number }] : []),
    ...(user ? [{ id: user.userId, name: user.username, handle: user.email }] : []),
    ...(board ? [{ id: board.boardId, name: board.name, handle: board.url }] : []),
    ...(roadmap ? [{ id: roadmap.id, name: roadmap.name, handle: roadmap.url }] : []),
    ...roles.map((role) => ({ id: role.id, name: role.name, handle: null })),
  ]
}

const seenBy = async (ctx: Context): Promise<Seen> => ({
  privatePosts: can(ctx.actor, 'board:read'),
  internalComments: can(ctx.actor, 'comment:view_internal'),
  spam: can(ctx.actor, 'comment:update:any'),
  viewer: await viewerOf(ctx),
})

/** Whoever has a permission about roles learns which there are. */
export const hasRolePermission = (actor: Actor): boolean =>
  PERMISSIONS.some((permission: Permission) => permission.startsWith('role:') && can(actor, permission))

async function rolesSeen({ db, actor }: Context): Promise<Candidate[]> {
  if (!hasRolePermission(actor)) return []
  const rows = await listRoles(db, { created: 'asc' }, { limit: MOST_COMPARED })
  return rows.map(({ id, name }) => ({ id, name, handle: null }))
}

/** Of their own, or for the owner those of everybody. API keys see neither keys nor sessions. */
async function keysSeen(ctx: Context): Promise<Candidate[]> {
  if (ctx.actor.refusal || ctx.actor.key) return []
  const rows = await listKeys(
    ctx.db,
    { userId: ctx.actor.isOwner ? undefined : await personOf(ctx), created: 'asc' },
    { limit: MOST_COMPARED },
  )
  return rows.map(({ keyId, name, username }) => ({ id: keyId, name, handle: username }))
}

async function sessionsSeen(ctx: Context): Promise<Candidate[]> {
  if (ctx.actor.refusal || ctx.actor.key) return []
  const rows = await listSessions(
    ctx.db,
    { userId: await personOf(ctx), now: ctx.now().toISOString(), created: 'desc' },
    { limit: MOST_COMPARED },
  )
  return rows.map(({ sessionId, userAgent, address }) => ({ id: sessionId, name: userAgent, handle: address }))
}
