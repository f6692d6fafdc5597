import { setImmediate } from 'node:timers/promises'
import * as Type from 'typebox'
import { HELD } from '../core/hidden.js'
import { commentedAmong } from '../db/comments.js'
import { itemsOf, notesOf, openReports, snoozesOf, textsOf, type ItemView } from '../db/moderation.js'
import {
  COUNTED,
  countCandidates,
  countDecided,
  countSnoozed,
  listCandidates,
  listSnoozed,
  MOST,
  MOST_DECIDED,
  REASONS,
  type Candidate,
  type QueueRights,
  type Reason,
} from '../db/moderationqueue.js'
import type { Direction } from '../db/paging.js'
import { can, MODERATORS, notAllowed, type Actor } from './lib/access.js'
import { hourOf, type Context } from './lib/context.js'
import { refusalToMerge, type Merging } from './lib/mergeable.js'
import { operation } from './lib/operation.js'
import { authorOf, PublicUser } from './lib/people.js'
import { pageFields, pageKeys, pageOf, sourceOf, type Listing } from './lib/paging.js'
import { needs, policy } from './lib/policies.js'
import { boardIdsFrom } from './lib/postplaces.js'
import { isHeld } from './lib/postshapes.js'
import { Repeated, repeatedBy, type Newer } from './lib/repeats.js'
import { fields, nullable, someOf } from './lib/schemas.js'
import { textField, textMatcher } from './lib/textsearch.js'
import { isWithin, orderFields, periodFields, periodFrom } from './lib/times.js'
import { permissionsOf, userPolicy, type Holder } from './lib/userpolicy.js'

const DAY_MS = 24 * 60 * 60 * 1000

/** A post or comment that waits, and its author: null where the account is deleted. */
interface Judged {
  kind: Candidate['kind']
  author: Holder | null
  /** Undefined for a comment. */
  merging?: Merging | undefined
}

/** `merge` is to merge the post into another, which the other one may refuse. `block` is to decide that it is spam, and to block its author. */
const itemPolicy = policy(
  {
    spam: (actor: Actor, { kind }: Judged) =>
      needs(kind === 'post' ? 'post:destroy' : 'comment:update:any')(actor, undefined),
    delete: (actor: Actor, { kind }: Judged) =>
      needs(kind === 'post' ? 'post:destroy' : 'comment:delete:any')(actor, undefined),
    block: (actor: Actor, { author }: Judged) =>
      author && userPolicy.may(actor, author).includes('block') ? undefined : notAllowed(['user:block']),
    merge: (actor: Actor, { merging }: Judged) =>
      merging
        ? (needs('post:update')(actor, undefined) ?? refusalToMerge(actor, merging))
        : notAllowed(['post:update']),
  },
  { writes: 'content' },
)

const Account = Type.Object({
  created_at: Type.String({ format: 'date-time' }),
  posts: Type.Integer({ description: 'How many posts they wrote' }),
  is_verified: Type.Boolean({ description: 'Whether the address is confirmed' }),
})

/** The most notes that a row counts. */
const MOST_NOTES = 100

export const Item = Type.Object({
  id: Type.String({ format: 'uuid', description: 'Of the post or comment' }),
  kind: Type.Union([Type.Literal('post'), Type.Literal('comment')]),
  reasons: Type.Array(Type.String(), {
    description:
      'Why it waits: new, edited (since it was kept, or a day after it was written), reported, spam, blocked',
  }),
  text: nullable('string'),
  author: PublicUser,
  author_is_blocked: Type.Boolean(),
  author_account: Type.Union([Account, Type.Null()], {
    description: 'The account of the author; null where it is deleted',
  }),
  is_spam: Type.Boolean(),
  is_held: isHeld,
  is_internal: Type.Boolean(),
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time', description: 'Send it back with the decision' }),
  waiting_since: Type.String({
    format: 'date-time',
    description:
      'When its first open report was made; without one, when it was edited, if it waits for that, or written',
  }),
  post: Type.Object({
    postId: Type.String({ format: 'uuid' }),
    number: Type.Integer(),
    title: Type.String(),
    slug: Type.String(),
  }),
  board: Type.Union([Type.Object({ name: Type.String(), url: Type.String() }), Type.Null()]),
  notes: Type.Optional(
    Type.Integer({
      description: `How many internal notes its post has, more than ${MOST_NOTES} count as ${MOST_NOTES}; absent for none, and without comment:view_internal`,
    }),
  ),
  reports: Type.Array(
    Type.Object({
      reason: nullable('string'),
      created_at: Type.String({ format: 'date-time' }),
      person: Type.Object({ name: Type.String(), username: Type.String() }),
    }),
  ),
  repeats: Type.Optional(Repeated),
  snoozed: Type.Optional(
    Type.Object(
      {
        until: Type.String({ format: 'date-time' }),
        person: Type.Union([Type.Object({ name: Type.String(), username: Type.String() }), Type.Null()], {
          description: 'Who snoozed it; null where that was no person, or the account is deleted',
        }),
      },
      { description: 'Present while it is snoozed' },
    ),
  ),
  may: itemPolicy.field,
})
export type Item = Type.Static<typeof Item>

export const days = Type.Integer({
  minimum: 1,
  maximum: 3650,
  default: 7,
  inDays: true,
  description: 'For how many days posts and comments count as new, and until the end of the hour',
})

/** Days whose decisions are counted, up to now. */
const WEEK = 7

const sinceOf = (hour: Date, given: number): string => new Date(hour.getTime() - given * DAY_MS).toISOString()

const rightsOf = (actor: Actor): QueueRights => ({
  posts: can(actor, 'post:destroy'),
  comments: can(actor, 'comment:update:any'),
  hidden: can(actor, 'board:read'),
  internal: can(actor, 'comment:view_internal'),
})

export const count = operation({
  id: 'moderation.count',
  summary: 'Count the posts and comments that wait for a decision, by reason and in all',
  http: 'GET /moderation/count 200',
  access: MODERATORS,
  cache: 'actor',
  errors: [],
  input: fields({ days }),
  output: Type.Object({
    total: Type.Integer({
      description: `Each counts once, whatever its reasons; more than ${COUNTED} count as ${COUNTED}, here and for each reason`,
    }),
    reasons: Type.Object(Object.fromEntries(REASONS.map((reason) => [reason, Type.Integer()])) as Record<Reason, Type.TInteger>), // prettier-ignore
    decided: Type.Integer({
      description: `How many were kept or marked as spam in the last ${WEEK} days, and since then not deleted; more than ${MOST_DECIDED} count as ${MOST_DECIDED}`,
    }),
    snoozed: Type.Optional(
      Type.Integer({ description: `How many are snoozed; more than ${COUNTED} count as ${COUNTED}. Absent for none` }),
    ),
  }),
  async run({ db, actor, hour }, given) {
    const [rights, now] = [rightsOf(actor), hour().toISOString()]
    const { total, counts } = await countCandidates(db, { ...rights, since: sinceOf(hour(), given.days), hour: now })
    const snoozed = await countSnoozed(db, { ...rights, hour: now })
    return {
      total,
      reasons: counts,
      decided: await countDecided(db, { ...rights, since: sinceOf(hour(), WEEK) }),
      ...(snoozed > 0 && { snoozed }),
    }
  },
})

/** The most posts and comments whose texts a search reads. */
const MOST_TEXTS = 2000
/** Texts per query. Other requests run between two queries. */
const TEXTS_AT_ONCE = 20

type Waiting = Omit<Candidate, 'reason'> & { reasons: Reason[] }
/** What is shown of one that may not wait at all: then there is no time since when it does. */
type Shown = Omit<Waiting, 'createdAt'> & { createdAt: string | null }
const QUEUE: Listing<Waiting> = { row: 'post or comment', rows: 'Posts and comments', id: 'id', size: 20, pages: 1000 }

export const list = operation({
  id: 'moderation.list',
  summary:
    'List posts and comments that wait for a decision, reported ones first, then the newest; new ones by the team need no decision',
  http: 'GET /moderation 200',
  access: MODERATORS,
  errors: [],
  input: fields({
    reasons: someOf(REASONS, {
      default: [...REASONS],
      description:
        'Why they wait: new, edited since they were kept or a day after they were written, reported, marked as spam, written by a blocked user',
    }),
    boardId: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 50,
        rule: 'a list of up to 50 board ids or urls',
        description: `Only on these boards: ids or urls, or "none" for posts without a board; for each reason, the first ${MOST} posts and comments are looked at`,
        names: 'board',
      }),
    ),
    snoozed: Type.Optional(
      Type.Boolean({ description: 'Those that are snoozed, whatever the reason, in place of those that wait' }),
    ),
    query: textField('posts and comments', { within: 'title or text', most: MOST_TEXTS }),
    days,
    ...orderFields('desc', 'Sort by time, the reported ones first in either direction'),
    ...periodFields('posts and comments written or edited'),
    ...pageFields(QUEUE),
  }),
  output: Type.Object({
    items: Type.Array(Item),
    total: Type.Integer({ description: `How many wait; of more than ${MOST} for a reason, ${MOST} are counted` }),
    ...pageKeys,
  }),
  async run(ctx, { reasons, boardId, snoozed = false, query = '', days: most, created, since, until, ...page }) {
    const period = periodFrom({ since, until })
    const { db, actor } = ctx
    const boards = boardId && (await boardIdsFrom(ctx, boardId))
    const [hour, rights] = [hourOf(ctx.now()), rightsOf(actor)]
    const now = hour.toISOString()
    const found = snoozed
      ? (await listSnoozed(db, { ...rights, hour: now })).map((each) => ({ ...each, reasons: [] }))
      : merged(await listCandidates(db, { reasons, created, since: sinceOf(hour, most), hour: now, ...rights }))
    const all = queueOf(
      found.filter((each) => isWithin(period, each.createdAt) && (boards?.includes(each.boardId) ?? true)),
      created,
    )
    const waiting = query.trim() === '' ? all : await matching(ctx, all, query)
    const { rows: items, keys } = await pageOf(QUEUE, page, {
      ...sourceOf(QUEUE, waiting),
      show: (rows) => itemsShown(ctx, rows),
    })
    return { items, total: waiting.length, ...keys }
  },
})

/** Returns the waiting items that contain the query. */
async function matching({ db }: Context, waiting: readonly Waiting[], query: string): Promise<Waiting[]> {
  const hasText = textMatcher(query)
  const found: Waiting[] = []
  for (let at = 0; at < Math.min(waiting.length, MOST_TEXTS); at += TEXTS_AT_ONCE) {
    const part = waiting.slice(at, at + TEXTS_AT_ONCE)
    const texts = await textsOf(db, part)
    found.push(...part.filter(({ id }) => hasText?.(...(texts.get(id) ?? []))))
    await setImmediate()
  }
  return found
}

/** One post or comment, with the reasons for which it waits: none where it does not. */
export async function itemShown(
  ctx: Context,
  { kind, id }: Pick<Candidate, 'kind' | 'id'>,
  most: number,
): Promise<Item | undefined> {
  const rights = { ...rightsOf(ctx.actor), posts: kind === 'post', comments: kind === 'comment' }
  const hour = hourOf(ctx.now())
  const times = { since: sinceOf(hour, most), hour: hour.toISOString() }
  const [waiting] = merged(await listCandidates(ctx.db, { reasons: REASONS, created: 'desc', ...times, id, ...rights }))
  const [item] = await itemsShown(ctx, [waiting ?? { kind, id, reasons: [], createdAt: null, boardId: null }])
  return item
}

/** Each once, with all reasons. */
function merged(candidates: readonly Candidate[]): Waiting[] {
  const waiting = new Map<string, Waiting>()
  for (const { reason, ...item } of candidates) {
    const present = waiting.get(item.id)
    if (!present) waiting.set(item.id, { ...item, reasons: [reason] })
    else if (!present.reasons.includes(reason)) present.reasons.push(reason)
  }
  return [...waiting.values()]
}

/** Reported ones first, then by time. */
function queueOf(waiting: readonly Waiting[], created: Direction): Waiting[] {
  const isReported = ({ reasons }: Waiting) => Number(reasons.includes('reported'))
  const byTime = (one: Waiting, other: Waiting) =>
    one.createdAt.localeCompare(other.createdAt) || one.id.localeCompare(other.id)
  return waiting.toSorted(
    (one, other) =>
      isReported(other) - isReported(one) || (created === 'asc' ? byTime(one, other) : byTime(other, one)),
  )
}

async function itemsShown(ctx: Context, waiting: readonly Shown[]): Promise<Item[]> {
  const shown = new Map<string, Item>()
  for (const kind of ['post', 'comment'] as const) {
    const those = waiting.filter((item) => item.kind === kind)
    const ids = those.map(({ id }) => id)
    if (ids.length === 0) continue
    const [views, reports] = [await itemsOf(ctx.db, kind, ids), await openReports(ctx.db, kind, ids)]
    const holders = await holdersAmong(ctx, views)
    const onPosts = can(ctx.actor, 'comment:view_internal') ? [...new Set(views.map(({ postId }) => postId))] : []
    const noted = await notesOf(ctx.db, onPosts, MOST_NOTES)
    const held = kind === 'post' ? views.flatMap(({ id, isSpam }) => (isSpam === HELD ? [id] : [])) : []
    const commented = new Set(await commentedAmong(ctx.db, held))
    const mays = new Map(
      views.map((view) => {
        const { id, number, isSpam } = view
        const isReported = reports.some(({ postId }) => postId === id)
        const merging =
          kind === 'post' ? { number, is_spam: isSpam, isReported, isCommented: commented.has(id) } : undefined
        return [id, itemPolicy.may(ctx.actor, { kind, author: holders.get(view.userId ?? '') ?? null, merging })]
      }),
    )
    const repeats = kind === 'post' ? await repeatedBy(ctx, newAmong(views, those, mays)) : undefined
    // Only what waits for nothing may be snoozed
    const off = those.flatMap(({ id, reasons }) => (reasons.length === 0 ? [id] : []))
    const snoozes = off.length === 0 ? [] : await snoozesOf(ctx.db, kind, off, hourOf(ctx.now()).toISOString())
    for (const view of views) {
      const candidate = those.find(({ id }) => id === view.id)
      const ofItem = reports.filter((report) => (kind === 'post' ? report.postId : report.commentId) === view.id)
      const repeated = repeats?.get(view.id)
      const snooze = snoozes.find((each) => (kind === 'post' ? each.postId : each.commentId) === view.id)
      if (candidate)
        shown.set(view.id, {
          ...toItem(ctx, view, candidate, { reports: ofItem, may: mays.get(view.id) ?? [] }),
          ...(noted.has(view.postId) && { notes: noted.get(view.postId) ?? 0 }),
          ...(repeated && { repeats: repeated }),
          ...(snooze?.snoozedUntil && { snoozed: { until: snooze.snoozedUntil, person: snooze.username === null ? null : { name: snooze.name ?? '', username: snooze.username } } }), // prettier-ignore
        })
    }
  }
  return waiting.flatMap(({ id }) => shown.get(id) ?? []) // one that was deleted meanwhile is left out
}

/** Posts that are new or held. What others wait for has another reason. */
const newAmong = (
  views: readonly ItemView[],
  waiting: readonly Shown[],
  mays: ReadonlyMap<string, Item['may']>,
): Newer[] => {
  const isNew = new Set(waiting.flatMap(({ id, reasons }) => (reasons.includes('new') ? [id] : [])))
  return views
    .filter(({ id, isSpam }) => isNew.has(id) || isSpam === HELD)
    .map(({ id, number, postTitle, text, updatedAt, isSpam }) => ({
      postId: id,
      number,
      title: postTitle,
      text,
      updatedAt,
      mayMerge: mays.get(id)?.includes('merge') ?? false,
      isHeld: isSpam === HELD,
    }))
}

const toItem = (
  ctx: Context,
  view: ItemView,
  { kind, reasons, createdAt: waits }: Shown,
  { reports, may }: { reports: Awaited<ReturnType<typeof openReports>>; may: Item['may'] },
): Item => ({
  id: view.id,
  kind,
  reasons,
  text: view.text,
  author: authorOf(ctx, view),
  author_is_blocked: view.isBlocked === 1,
  author_account:
    view.joinedAt === null
      ? null
      : { created_at: view.joinedAt, posts: Number(view.posts), is_verified: view.isVerified === 1 },
  is_spam: view.isSpam === 1,
  ...(view.isSpam === HELD && { is_held: true }),
  is_internal: view.isInternal === 1,
  created_at: view.createdAt,
  updated_at: view.updatedAt,
  waiting_since: reports.map(({ createdAt }) => createdAt).toSorted()[0] ?? waits ?? view.createdAt,
  post: { postId: view.postId, number: view.number, title: view.postTitle, slug: view.slug },
  board: view.boardName === null || view.boardUrl === null ? null : { name: view.boardName, url: view.boardUrl },
  reports: reports
    .toSorted((one, other) => one.createdAt.localeCompare(other.createdAt))
    .map(({ reason, createdAt, name, username }) => ({
      reason,
      created_at: createdAt,
      person: { name, username },
    })),
  may,
})

/** The authors, with their permissions where these decide who may block them. */
async function holdersAmong(
  { db, actor }: Pick<Context, 'db' | 'actor'>,
  views: readonly ItemView[],
): Promise<Map<string, Holder>> {
  const authors = views.flatMap(({ userId, isOwner }) => (userId === null ? [] : [{ userId, isOwner: isOwner ?? 0 }]))
  const asks = can(actor, 'user:block') && !actor.isOwner
  const held = asks ? await permissionsOf(db, authors.map(({ userId }) => userId)) : [] // prettier-ignore
  return new Map(authors.map((author, index) => [author.userId, { ...author, permissions: held[index] ?? [] }]))
}
