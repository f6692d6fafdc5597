import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { formerUsernames, ownComments, ownPosts, ownVotes } from '../db/account.js'
import { lock } from '../db/counters.js'
import type { CommentRow, PostRow, UserRow, VoteRow } from '../db/tables.js'
import { findTotp } from '../db/totp.js'
import { lockUser } from '../db/users.js'
import { Key, keysOf } from './keys.js'
import { change } from './lib/change.js'
import type { Context } from './lib/context.js'
import { download } from './lib/download.js'
import { deletePerson, WHAT_STAYS } from './lib/leaving.js'
import { jsonDocument, pagesOf } from './lib/longbodies.js'
import { operation } from './lib/operation.js'
import { assertPasswordGiven, passwordMatches } from './lib/passwords.js'
import { ownUser, passwordField, User, userNotFound, userShown } from './lib/people.js'
import { accountPolicy } from './lib/userpolicy.js'
import { fields, nullable, oneOf } from './lib/schemas.js'
import { Session, sessionsOf } from './sessions.js'

/** Rows of a page: a post is 64 kB at most, a comment 1 kB. */
const SIZES = { posts: 20, comments: 1000, votes: 1000 } as const

/** What the owner notes about a person is the owner's, and what one may do is no data. */
const { notes: _, may: __, ...shown } = User.properties
const Profile = Type.Object({
  ...shown,
  updatedAt: Type.String({ format: 'date-time' }),
  formerUsernames: Type.Array(Type.String()),
  hasTotp: Type.Boolean({ description: 'Whether the account has a second factor' }),
})

const time = Type.String({ format: 'date-time' })
const uuid = Type.String({ format: 'uuid' })
const Post = Type.Object({
  postId: uuid,
  number: Type.Integer(),
  title: Type.String(),
  slug: Type.String(),
  contentMarkdown: nullable('string'),
  boardId: nullable('string'),
  votesCount: Type.Integer(),
  createdAt: time,
  updatedAt: time,
})
const Comment = Type.Object({
  id: uuid,
  post_id: uuid,
  parent_id: nullable('string'),
  body: Type.String(),
  is_internal: Type.Boolean(),
  is_edited: Type.Boolean(),
  is_spam: Type.Boolean(),
  created_at: time,
  updated_at: time,
})
const Vote = Type.Object({ voteId: uuid, postId: uuid, createdAt: time })

export const exportData = download({
  id: 'account.export',
  summary:
    'Get the data the site stores about you: account, posts, comments, votes, sessions and keys, without secrets',
  http: 'GET /users/profile/data 200',
  access: 'session',
  types: ['application/json'],
  sensitive: true,
  errors: ['USER_NOT_FOUND'],
  input: fields({}),
  output: Type.Object({
    profile: Profile,
    sessions: Type.Array(Session),
    keys: Type.Array(Key),
    posts: Type.Array(Post),
    comments: Type.Array(Comment),
    votes: Type.Array(Vote),
    next: Type.Null({ description: 'Always null, for clients that ask for the parts of earlier versions' }),
  }),
  async rows(ctx) {
    const user = await ownUser(ctx)
    const { userId, username } = user
    const head = {
      profile: await profileOf(ctx, user),
      sessions: await sessionsOf(ctx, userId),
      keys: await keysOf(ctx, userId),
    }
    const pieces = jsonDocument(head, contentOf(ctx, userId), { next: null })
    return { file: `${username}.json`, type: 'application/json', pieces }
  },
})

export const remove = operation({
  id: 'account.delete',
  summary: 'Delete your own account and your votes; posts and comments stay without an author, or are deleted too',
  http: 'DELETE /users/profile 204',
  access: 'session',
  limit: 'sign-in',
  errors: ['USER_NOT_FOUND', 'PASSWORD_MISSING', 'INCORRECT_PASSWORD', 'CANNOT_CHANGE_OWNER'],
  input: fields({
    password: passwordField,
    posts: oneOf(WHAT_STAYS, { default: 'keep', description: 'What happens to your posts and comments' }),
  }),
  output: Type.Undefined(),
  async run(ctx, { password, posts }) {
    const user = await ownUser(ctx)
    accountPolicy.assert('delete', ctx.actor, user)
    assertPasswordGiven(password)
    if (!(await passwordMatches(user.password, password, { client: ctx.client, account: user.email })))
      throw new AppError('INCORRECT_PASSWORD', 'The password is wrong.')
    return change(ctx, async (tx) => {
      await lock(tx.db, 'post_counts')
      const now = await lockUser(tx.db, user.userId)
      if (!now) throw userNotFound()
      accountPolicy.assert('delete', ctx.actor, now)
      if (now.password !== user.password)
        throw new AppError('INCORRECT_PASSWORD', 'The password has just changed. Give the new one.')
      await deletePerson(tx, now, posts)
      return undefined
    })
  },
})

async function profileOf(ctx: Context, row: UserRow): Promise<Type.Static<typeof Profile>> {
  const { user } = await userShown(ctx, row)
  const { notes: _notes, may: _may, language, ...own } = user
  const { userId, updatedAt } = row
  const totp = await findTotp(ctx.db, userId)
  return {
    ...own,
    updatedAt,
    formerUsernames: (await formerUsernames(ctx.db, userId)).toSorted(),
    hasTotp: totp?.enabledAt != null,
    ...(language !== undefined && { language }),
  }
}

/** What a person has written, page by page. */
const contentOf = ({ db }: Context, userId: string) => ({
  posts: shownOf(
    pagesOf<PostRow>(SIZES.posts, (page) => ownPosts(db, userId, page)),
    (post): Type.Static<typeof Post> => ({
      postId: post.postId,
      number: post.number,
      title: post.title,
      slug: post.slug,
      contentMarkdown: post.contentMarkdown,
      boardId: post.boardId,
      votesCount: post.votesCount,
      createdAt: post.createdAt,
      updatedAt: post.updatedAt,
    }),
  ),
  comments: shownOf(
    pagesOf<CommentRow>(SIZES.comments, ({ limit, after }) => ownComments(db, userId, { limit, after: after?.id })),
    ({ is_internal, is_edited, is_spam, ...comment }): Type.Static<typeof Comment> => ({
      id: comment.id,
      post_id: comment.post_id,
      parent_id: comment.parent_id,
      body: comment.body,
      is_internal: is_internal === 1,
      is_edited: is_edited === 1,
      is_spam: is_spam === 1,
      created_at: comment.created_at,
      updated_at: comment.updated_at,
    }),
  ),
  votes: shownOf(
    pagesOf<VoteRow>(SIZES.votes, ({ limit, after }) => ownVotes(db, userId, { limit, after: after?.postId })),
    ({ voteId, postId, createdAt }): Type.Static<typeof Vote> => ({ voteId, postId, createdAt }),
  ),
})

async function* shownOf<Row, Shown>(
  pages: AsyncIterable<readonly Row[]>,
  show: (row: Row) => Shown,
): AsyncGenerator<Shown[]> {
  for await (const rows of pages) yield rows.map(show)
}
