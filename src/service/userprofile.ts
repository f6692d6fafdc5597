import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { quoted } from '../core/text.js'
import { countSiteComments, findSiteComment, listSiteComments, type SiteComment } from '../db/commentlists.js'
import { postList } from '../db/posts/list.js'
import { postAtCursor } from '../db/posts/read.js'
import type { PostView } from '../db/posts/row.js'
import type { UserRow } from '../db/tables.js'
import { teamAmong } from '../db/team.js'
import { stateOf } from '../db/userlists.js'
import { commentsBy, profileCounts, votedBy } from '../db/userprofile.js'
import { activitiesShown, SiteActivity } from './commentlists.js'
import { can, type Actor } from './lib/access.js'
import type { CachedContext } from './lib/context.js'
import { operation } from './lib/operation.js'
import { cappedKey, pageFields, pageKeys, pageOf, type Listing } from './lib/paging.js'
import { authorOf, findPerson, namingPeople, PublicUser } from './lib/people.js'
import { Post } from './lib/postshapes.js'
import { fields, inPath } from './lib/schemas.js'
import { viewerOf } from './lib/sessions.js'
import { postsShown } from './postlists.js'

const whose = { user: inPath('Id or user name', 'user') }

const count = (what: string) =>
  Type.Optional(Type.Integer({ description: `${what} that you may see; absent if the user does not show them` }))

const PublicProfile = Type.Object({
  user: PublicUser,
  isHidden: Type.Boolean({ description: 'Whether you see only the name: the user hides the profile, or is blocked' }),
  shows: Type.Object(
    { profile: Type.Boolean(), votes: Type.Boolean(), comments: Type.Boolean() },
    { description: 'What others see' },
  ),
  isBlocked: Type.Optional(
    Type.Boolean({ description: 'true of a blocked user, with dashboard:read; otherwise absent' }),
  ),
  createdAt: Type.Optional(Type.String({ format: 'date-time', description: 'Absent if isHidden' })),
  posts: count('Number of posts'),
  votes: count('Number of posts they voted for, up to 1000,'),
  comments: count('Number of comments, of their newest 1000,'),
})
export type PublicProfile = Type.Static<typeof PublicProfile>

export const publicProfile = operation({
  id: 'users.publicProfile',
  summary: 'Show the public profile of a user',
  http: 'GET /users/:user/profile 200',
  access: 'public',
  cache: 'actor',
  errors: ['USER_NOT_FOUND'],
  input: fields(whose),
  output: Type.Object({ profile: PublicProfile }),
  subject: someone,
  async run(ctx, _input, user) {
    const { showsAll, isHidden } = await sightOf(ctx, user)
    const counts = await countsOf(ctx, user)
    const shows = showsOf(user)
    return {
      profile: {
        user: authorOf(ctx, user, await teamAmong(ctx.db, [user.userId])),
        isHidden,
        shows: { ...shows, profile: shows.profile && user.isBlocked === 0 },
        ...(user.isBlocked === 1 && can(ctx.actor, 'dashboard:read') && { isBlocked: true }),
        ...(!isHidden && {
          createdAt: user.createdAt,
          posts: counts.posts,
          ...((shows.votes || showsAll) && { votes: counts.votes }),
          ...((shows.comments || showsAll) && { comments: counts.comments }),
        }),
      },
    }
  },
})

const VOTED: Listing<PostView> = { row: 'post', rows: 'Posts', id: 'postId', size: 20 }

export const votes = operation({
  id: 'users.votes',
  summary: 'List the posts that a user voted for, newest first; empty if the user does not show them',
  http: 'GET /users/:user/votes 200',
  access: 'public',
  cache: 'actor',
  errors: ['USER_NOT_FOUND'],
  input: fields({ ...whose, ...pageFields(VOTED) }),
  output: Type.Object({ posts: Type.Array(Post), ...pageKeys, ...cappedKey }),
  subject: someone,
  async run(ctx, page, user) {
    const { db, actor } = ctx
    const { showsAll, isHidden } = await sightOf(ctx, user)
    const isOpen = !isHidden && (user.showVotes === 1 || showsAll)
    const filter = votedBy(user, can(actor, 'board:read'), await seesHiddenVotes(ctx, user))
    const found = postList(db, filter, 'newest')
    const { rows: posts, keys } = await pageOf(VOTED, page, {
      total: isOpen ? async () => (await found.count()).total : 0,
      find: async (after) => (isOpen ? postAtCursor(db, filter, after) : undefined),
      read: async (slice) => (isOpen ? found.read(slice) : []),
      show: (rows) => postsShown(ctx, rows, { votes: false }),
    })
    const isCapped = isOpen && (await found.count()).isCapped
    return { posts, ...keys, ...(isCapped && { is_capped: true }) }
  },
})

const COMMENTS: Listing<SiteComment> = { row: 'comment', rows: 'Comments', id: 'id', size: 20 }

export const comments = operation({
  id: 'users.comments',
  summary: 'List the public comments of a user, newest first; empty if the user does not show them',
  http: 'GET /users/:user/comments 200',
  access: 'public',
  cache: 'actor',
  errors: ['USER_NOT_FOUND'],
  input: fields({ ...whose, ...pageFields(COMMENTS) }),
  output: Type.Object({ activity: Type.Array(SiteActivity), ...pageKeys }),
  subject: someone,
  async run(ctx, page, user) {
    const { db, actor } = ctx
    const { showsAll, isHidden } = await sightOf(ctx, user)
    const isOpen = !isHidden && (user.showComments === 1 || showsAll)
    const filter = { ...commentsBy(user, can(actor, 'board:read')), created: 'desc' as const }
    const { rows: activity, keys } = await pageOf(COMMENTS, page, {
      total: isOpen ? await countSiteComments(db, filter) : 0,
      find: async (after) => (isOpen ? findSiteComment(db, filter, after) : undefined),
      read: async (slice) => (isOpen ? listSiteComments(db, filter, slice) : []),
      show: (rows) => activitiesShown(ctx, rows),
    })
    return { activity, ...keys }
  },
})

/** Throws USER_NOT_FOUND, also for an invited person who has not signed in and has no visible posts, votes or comments. */
async function someone(ctx: CachedContext, { user: given }: Record<string, unknown>): Promise<UserRow> {
  const user = typeof given === 'string' && given !== '' ? await findPerson(ctx, given) : undefined
  if (user && (stateOf(user) !== 'invited' || can(ctx.actor, 'dashboard:read') || (await hasWritten(ctx, user))))
    return user
  const named = typeof given === 'string' ? ` ${quoted(given)}` : ''
  throw new AppError('USER_NOT_FOUND', `User${named} not found. ${namingPeople(ctx.actor)}`)
}

async function hasWritten(ctx: CachedContext, user: UserRow): Promise<boolean> {
  const { posts, votes: voted, comments: written } = await countsOf(ctx, user)
  return posts + voted + written > 0
}

const countsOf = async (ctx: CachedContext, user: UserRow) =>
  profileCounts(ctx.db, user, {
    hidden: can(ctx.actor, 'board:read'),
    all: await seesHiddenVotes(ctx, user),
  })

/** As on the pages of posts: the team sees who voted where a board hides it, and people know their own votes. */
const seesHiddenVotes = async (ctx: CachedContext, user: UserRow): Promise<boolean> =>
  can(ctx.actor, 'dashboard:read') || isOneself(await viewerOf(ctx), user)

const isOneself = (viewer: Actor['userId'], { userId }: UserRow): boolean => viewer === userId

const showsOf = ({ showProfile, showVotes, showComments }: UserRow) => ({
  profile: showProfile === 1,
  votes: showVotes === 1,
  comments: showComments === 1,
})

/** The team and they themselves see all of a profile. */
async function sightOf(ctx: CachedContext, user: UserRow) {
  const showsAll = can(ctx.actor, 'dashboard:read') || isOneself(await viewerOf(ctx), user)
  return { showsAll, isHidden: !showsAll && (user.showProfile === 0 || user.isBlocked === 1) }
}
