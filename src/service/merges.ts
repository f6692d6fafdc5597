import * as Type from 'typebox'
import { changeOf } from '../core/details.js'
import { AppError } from '../core/errors.js'
import { HELD, SHOWN } from '../core/hidden.js'
import {
  countMerged,
  endMerges,
  findMerge,
  findMerged,
  listMerged,
  mergePost,
  unmergePost,
  type MergedView,
} from '../db/merges.js'
import { lockPosts, type PostView } from '../db/posts/row.js'
import { can } from './lib/access.js'
import {
  assertForEach,
  bulkOutput,
  changeMany,
  EACH_TIME,
  eachOnce,
  idsField,
  ifEachUnchanged,
  type Done,
} from './lib/bulk.js'
import type { Change } from './lib/change.js'
import type { CachedContext } from './lib/context.js'
import { mergeRefused, mergingOf, undecidedAmong } from './lib/mergeable.js'
import { operation } from './lib/operation.js'
import { pageFields, pageKeys, pageOf, type Listing } from './lib/paging.js'
import { authorOf, PublicUser } from './lib/people.js'
import { postPolicy } from './lib/postshapes.js'
import { fields, inPath, nullable } from './lib/schemas.js'
import { assertUnchanged, contentChanged } from './lib/times.js'
import { isSeenAlike } from './lib/repeats.js'
import { shownBy, votesSeen } from './lib/voters.js'
import { postItself, postNotFound, postsGiven, readsMerged, visiblePost } from './lib/whichpost.js'

export const merge = operation({
  id: 'posts.merge',
  summary: 'Merge up to 100 posts into another, which gets their voters, comments and followers; can be taken back',
  http: 'POST /posts/merge 200',
  access: 'post:update',
  writes: 'content',
  errors: ['POST_NOT_FOUND'],
  input: fields({
    ids: idsField('Ids, slugs or numbers of the posts to merge', 'post'),
    into: Type.String({ minLength: 1, description: 'Id, slug or number of the post that stays', names: 'post' }),
    quiet: Type.Optional(
      Type.Boolean({
        condition: true,
        description: 'Tell nobody: by default, who followed the merged post is told of one post, and nobody of several',
      }),
    ),
    if_updated_at: ifEachUnchanged(
      'updatedAt of each as you read it, in the order of ids: one that is another by now fails with CONTENT_CHANGED, and each does if into was merged meanwhile, or is seen by other people than the post',
    ),
  }),
  output: bulkOutput,
  run(ctx, { ids, into, quiet = ids.length > 1, if_updated_at: seen }) {
    assertForEach('if_updated_at', EACH_TIME, ids, seen)
    const versions = new Map(ids.map((given, index) => [given.trim(), seen?.[index]]))
    const all = async (tx: Change) => {
      const target = await lockTarget(tx, into)
      return eachOnce(ids).map((given) => ({ given, ...target }))
    }
    return changeMany(ctx, all, {
      name: ({ given }) => given,
      work: (tx, { given, ...target }) => mergeIn(tx, given, { ...target, quiet, seen: versions.get(given) }),
      async end(tx, [one]) {
        if (one) await endMerges(tx.db, one.target.postId)
      },
    })
  },
})

interface Target {
  target: PostView
  /** Whether the request names the post that it was merged into. */
  isMerged: boolean
}

/** Locked, so it stays as it is until the transaction ends. Where it does not exist, the whole fails, not each post. */
async function lockTarget(tx: Change, into: string): Promise<Target> {
  const { postId } = await visiblePost(tx, into)
  await lockPosts(tx.db, [postId])
  const { post, stands } = await postsGiven(tx, into)
  return { target: stands, isMerged: post !== stands }
}

/** Merges a post in a transaction. What it throws of the contract, it throws before it writes. */
async function mergeIn(
  tx: Change,
  given: string,
  { target, isMerged, quiet, seen }: Target & { quiet: boolean; seen: string | undefined },
): Promise<Done> {
  const { post, stands } = await lockedPost(tx, given)
  const done: Done = { id: post.postId, kind: 'post', number: post.number, title: post.title }
  if (stands !== post) await assertReads(tx, post)
  if (stands !== post && stands.postId === target.postId) return done // it is merged already
  if (stands !== post) throw merged(post, stands)
  assertTakes(post, target)
  postPolicy.assert('merge', tx.actor, { ...post, merging: mergingOf(post, await undecidedAmong(tx, [post])) })
  if (seen !== undefined) assertAsSeen({ post, target, isMerged, seen })
  const at = tx.now().toISOString()
  const isSeen = (await votesSeen(tx, [post])).has(post.postId) // before the caller's own vote moves
  const moved = await mergePost(tx.db, {
    postId: post.postId,
    intoId: target.postId,
    at,
    by: tx.actor.userId,
    isHeld: post.is_spam === HELD,
  })
  tx.record('post.merged', post.postId, post.title, undefined, [
    changeOf('merged_into', null, numberOf(target)),
    ...(quiet ? [changeOf('quiet', null, true)] : []),
  ])
  return {
    ...done,
    moved: isSeen ? moved : { ...moved, votes: 0, votes_hidden: true },
    undo: { type: 'merged', postId: post.postId, at },
  }
}

/** Read again once it is locked: until the transaction ends, nobody changes it, comments on it or votes for it. */
async function lockedPost(tx: Change, given: string) {
  const { post } = await postsGiven(tx, given)
  await lockPosts(tx.db, [post.postId])
  return postsGiven(tx, given)
}

/**
 * Who has read both posts merges these, and no post that one of them was merged into since, nor one that other people see
 * by now: to move a board changes no post.
 */
function assertAsSeen({ post, target, isMerged, seen }: Target & { post: PostView; seen: string }) {
  assertUnchanged('if_updated_at', seen, post.updatedAt)
  if (isMerged || !isSeenAlike(post, target)) throw contentChanged()
}

/** The title of the other post is its author's, who may have it erased from the events of their own posts alone. */
const numberOf = ({ number }: PostView): string => `#${number}`

/** The number of a merged post leads everybody to the post that stays, and shows who may not read it nothing more. */
async function assertReads(tx: Change, post: PostView): Promise<void> {
  if (!(await readsMerged(tx, post))) throw postNotFound(post.postId)
}

const merged = (post: PostView, stands: PostView) =>
  new AppError('POST_MERGED', `Post #${post.number} was merged into #${stands.number} already. Undo that merge first.`)

/** Throws if the post cannot be merged into this one. `refusalToMerge` says what must be decided about the post first. */
function assertTakes(post: PostView, target: PostView): void {
  const [from, to] = [`#${post.number}`, `#${target.number}`]
  const shown = shownBy(post, target)
  if (post.postId === target.postId) throw mergeRefused('merge-itself', `Post ${from} cannot be merged into itself.`)
  if (target.is_spam !== SHOWN)
    throw mergeRefused('merge-into-hidden', `Post ${to} is hidden or waits for a look. Publish it first.`)
  if (post.boardDisplay === 0 && target.display === 1)
    throw mergeRefused('merge-private', `Post ${from} is on a private board, and ${to} is public: everybody would see its text, comments and voters. Move it to a public board first, if that is what you want.`) // prettier-ignore
  if (shown !== undefined)
    throw mergeRefused(`merge-${shown}`, `The ${shown} of post ${from} are hidden, and those of ${to} are not: everybody would see ${shown === 'votes' ? 'them' : 'who voted'}. Move it to a board that shows its ${shown} first, if that is what you want.`) // prettier-ignore
}

export const unmerge = operation({
  id: 'posts.unmerge',
  summary: 'Take back the merge of up to 100 posts: each gets its voters, comments and followers back',
  http: 'POST /posts/unmerge 200',
  access: 'post:update',
  writes: 'content',
  errors: [],
  input: fields({ ids: idsField('Ids, slugs or numbers of the merged posts', 'post') }),
  output: bulkOutput,
  run: (ctx, { ids }) =>
    changeMany(ctx, eachOnce(ids), {
      name: (given) => given,
      async work(tx, given) {
        const { post } = await postsGiven(tx, given)
        return unmergeIn(tx, post.postId)
      },
    }),
})

/** Takes back a merge in a transaction. What it throws of the contract, it throws before it writes. */
export async function unmergeIn(tx: Change, postId: string): Promise<Done> {
  const { post, stands } = await postsGiven(tx, postId)
  await assertReads(tx, post)
  const found = await findMerge(tx.db, postId)
  if (!found) throw new AppError('POST_NOT_MERGED', `Post #${post.number} is not merged into another.`)
  await unmergePost(tx.db, found)
  const { number, title } = await postItself(tx, postId)
  tx.record('post.unmerged', postId, title, undefined, [changeOf('merged_into', numberOf(stands), null)])
  return { id: postId, kind: 'post', number, title, undo: 'final' }
}

const Merged = Type.Object({
  postId: Type.String({ format: 'uuid' }),
  number: Type.Integer(),
  title: Type.String(),
  slug: Type.String({ description: 'Leads to the post that it was merged into' }),
  contentMarkdown: nullable('string'),
  createdAt: Type.String({ format: 'date-time' }),
  author: PublicUser,
  merged_at: Type.String({ format: 'date-time' }),
  merged_by: Type.Optional(
    Type.Union([PublicUser, Type.Null()], {
      description:
        'For users who may change posts of others: who merged it; null at the command line, and where the account is deleted. Absent for others',
    }),
  ),
})
export type Merged = Type.Static<typeof Merged>

const LISTED: Listing<MergedView> = { row: 'post', rows: 'Merged posts', id: 'postId', size: 20 }

export const list = operation({
  id: 'posts.merged',
  summary: 'List the posts that were merged into a post, the newest merge first',
  http: 'GET /posts/:post_id/merged 200',
  access: 'public',
  cache: 'actor',
  errors: ['POST_NOT_FOUND'],
  input: fields({ post_id: inPath('Id, slug or number of the post', 'post'), ...pageFields(LISTED) }),
  output: Type.Object({ merged: Type.Array(Merged), ...pageKeys }),
  subject: (ctx, { post_id: given }) => visiblePost(ctx, given),
  async run(ctx, input, { postId }) {
    const { db, actor } = ctx
    const filter = { rootId: postId, hidden: can(actor, 'board:read') }
    const { rows, keys } = await pageOf(LISTED, input, {
      total: await countMerged(db, filter),
      find: (after) => findMerged(db, filter, after),
      read: (slice) => listMerged(db, filter, slice),
      show: (some) => some.map((each) => toMerged(ctx, each)),
    })
    return { merged: rows, ...keys }
  },
})

export function toMerged(ctx: CachedContext, row: MergedView): Merged {
  const { postId, number, title, slug, contentMarkdown, createdAt, mergedAt, mergedBy } = row
  const person = (userId: string | null, of: 'author' | 'merger') =>
    authorOf(ctx, { userId, name: row[`${of}Name`], username: row[`${of}Username`], avatar: row[`${of}Avatar`] })
  return {
    postId,
    number,
    title,
    slug,
    contentMarkdown,
    createdAt,
    author: person(row.userId, 'author'),
    merged_at: mergedAt,
    ...(can(ctx.actor, 'post:update') && { merged_by: mergedBy === null ? null : person(mergedBy, 'merger') }),
  }
}
