import { AppError } from '../../core/errors.js'
import { isId, isIdStart } from '../../core/ids.js'
import {
  hasName,
  membersOf,
  NOUNS,
  type Noun,
  type NounOfSubjects,
  type NounWithName,
  type NounWithRows,
} from '../../core/nouns.js'
import { PERMISSIONS, type Permission } from '../../core/permissions.js'
import { printable, quoted, searchKey } from '../../core/text.js'
import { listIdentities } from '../../db/identities.js'
import { listKeys } from '../../db/keys.js'
import {
  commentsStarting,
  imagesStarting,
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
import { findTag } from '../../db/tags.js'
import { listSessions } from '../../db/sessions.js'
import { listViews } from '../../db/views.js'
import type { PartlyPrivate } from '../../db/eventsubjects.js'
import { can, type Actor } from './access.js'
import { readableRows } from './eventnames.js'
import { isLinked } from './identities.js'
import type { Context as Whole } from './context.js'
import { findPerson } from './people.js'
import { personOf, viewerOf } from './sessions.js'
import { VIEWERS } from './views.js'

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

type Find = (ctx: Context, given: string) => Promise<readonly Candidate[]>

const titled = (noun: 'board' | 'roadmap' | 'tag'): { byName: Find; byStart: Find } => {
  const { table, read } = NOUNS[noun]
  return {
    byName: async ({ db, actor }, name) => titledNamed(db, table, searchKey(name), can(actor, read), MOST + 1),
    byStart: ({ db, actor }, start) => titledStarting(db, table, start, can(actor, read), MOST + 1),
  }
}

const among = (seen: (ctx: Context) => Promise<Candidate[]>): { byName: Find; byStart: Find } => ({
  byName: async (ctx, name) => (await seen(ctx)).filter((row) => searchKey(row.name) === searchKey(name)),
  byStart: async (ctx, start) => (await seen(ctx)).filter(({ id }) => id.startsWith(start)),
})

/** Who names people to do something with them, or to read what they did. */
const SEEING_PEOPLE = ['user:read', 'user:block', 'event:read'] as const

/** Without the addresses that the actor may not read. */
const shownTo = (actor: Actor, people: readonly Candidate[]): readonly Candidate[] =>
  can(actor, 'user:read') ? people : people.map((each) => ({ ...each, handle: null }))

/** Rows by the start of their id, among those that the actor may see. */
const BY_START: Readonly<Record<NounWithRows, Find>> = {
  post: async (ctx, start) => postsStarting(ctx.db, start, await seenBy(ctx), MOST + 1),
  comment: async (ctx, start) => commentsStarting(ctx.db, start, await seenBy(ctx), MOST + 1),
  board: titled('board').byStart,
  roadmap: titled('roadmap').byStart,
  tag: titled('tag').byStart,
  user: async ({ db, actor }, start) =>
    SEEING_PEOPLE.some((each) => can(actor, each)) ? shownTo(actor, await usersStarting(db, start, MOST + 1)) : [],
  role: among(rolesSeen).byStart,
  key: among(keysSeen).byStart,
  session: among(sessionsSeen).byStart,
  identity: among(identitiesSeen).byStart,
  view: among(viewsSeen).byStart,
  image: async (ctx, start) => imagesStarting(ctx.db, start, can(ctx.actor, 'post:destroy') ? undefined : ((await viewerOf(ctx)) ?? ''), MOST + 1), // prettier-ignore
}

/** Rows by their name, in any letter case. */
const BY_NAME: Readonly<Record<NounWithName, Find>> = {
  board: titled('board').byName,
  roadmap: titled('roadmap').byName,
  tag: titled('tag').byName,
  role: among(rolesSeen).byName,
  key: among(keysSeen).byName,
  view: among(viewsSeen).byName,
}

/** Rows whose events somebody looks for, by what operations find them by. */
const AS_SUBJECT: Readonly<Record<NounOfSubjects, Find>> = {
  post: readableBy('post', async ({ db }, name) =>
    listOf(await findPost(db, name), (post) => ({ id: post.postId, name: post.title, handle: post.number })),
  ),
  comment: none,
  board: readableBy('board', async ({ db }, name) =>
    listOf(await findBoard(db, name), (board) => ({ id: board.boardId, name: board.name, handle: board.url })),
  ),
  roadmap: readableBy('roadmap', async ({ db }, name) =>
    listOf(await findRoadmap(db, name), (roadmap) => ({ id: roadmap.id, name: roadmap.name, handle: roadmap.url })),
  ),
  tag: readableBy('tag', async ({ db }, name) =>
    listOf(await findTag(db, name), (tag) => ({ id: tag.tagId, name: tag.name, handle: tag.url })),
  ),
  user: async (ctx, name) =>
    shownTo(
      ctx.actor,
      listOf(await findPerson(ctx, name), (user) => ({ id: user.userId, name: user.username, handle: user.email })),
    ),
  role: async ({ db }, name) => (await findRoles(db, name)).map(({ id, name }) => ({ id, name, handle: null })),
  key: none,
}

function readableBy(noun: PartlyPrivate, find: Find): Find {
  return async (ctx, name) => readableRows(ctx, noun, await find(ctx, name))
}

async function none(): Promise<Candidate[]> {
  return []
}

const listOf = <Row>(row: Row | undefined, of: (row: Row) => Candidate): Candidate[] => (row ? [of(row)] : [])

/** What may be named by its name: where it is unique, in any letter case. */
async function namedSo(ctx: Context, noun: Noun, name: string): Promise<Candidate[]> {
  if (hasName(noun)) return [...(await BY_NAME[noun](ctx, name))]
  if (noun !== 'subject' || !can(ctx.actor, 'event:read')) return []
  const found: Candidate[] = []
  for (const find of Object.values(AS_SUBJECT)) found.push(...(await find(ctx, name)))
  return found
}

async function startingSo(ctx: Context, noun: Noun, start: string): Promise<Candidate[]> {
  if (noun === 'subject' && !can(ctx.actor, 'event:read')) return []
  return (await Promise.all(membersOf(noun).map((each) => BY_START[each](ctx, start)))).flat()
}

const seenBy = async (ctx: Context): Promise<Seen> => ({
  privatePosts: can(ctx.actor, NOUNS.post.read),
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

/** Their own, and those that are shared. */
async function viewsSeen(ctx: Context): Promise<Candidate[]> {
  if (ctx.actor.refusal || !can(ctx.actor, VIEWERS)) return []
  const rows = await listViews(ctx.db, await personOf(ctx))
  return rows.map(({ viewId, name, username }) => ({ id: viewId, name, handle: username }))
}

async function identitiesSeen(ctx: Context): Promise<Candidate[]> {
  if (ctx.actor.refusal || ctx.actor.key) return []
  const rows = await listIdentities(ctx.db, await personOf(ctx))
  return rows
    .filter(isLinked)
    .map(({ identityId, provider, email }) => ({ id: identityId, name: provider, handle: email }))
}
