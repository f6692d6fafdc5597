import * as Type from 'typebox'
import { formerUsernames, ownBoardFollows, ownComments, ownFollows, ownImages, ownMentions, ownMergedVotes, ownNotifications, ownPosts, ownVotes, type OwnMention, type OwnPost } from '../db/account.js' // prettier-ignore
import type { CommentRow, UserRow, FollowRow, ImageRow, MergedVoteRow, NotificationRow, VoteRow } from '../db/tables.js'
import { findTotp } from '../db/totp.js'
import { Image, toImage } from './images.js'
import { Key, keysOf } from './keys.js'
import { Own, ownOf } from './notificationsettings.js'
import type { Context } from './lib/context.js'
import { download } from './lib/download.js'
import { KnownIdentity, waysOf, withoutRights } from './lib/identities.js'
import { jsonDocument, pagesOf } from './lib/longbodies.js'
import { ownUser, User, userShown } from './lib/people.js'
import { profileShown, Shown } from './lib/shown.js'
import { fields, nullable } from './lib/schemas.js'
import { seesVotes, votesHidden } from './lib/voters.js'
import { Session, sessionsOf } from './sessions.js'
import { View, viewsOf } from './views.js'

/** Rows of a page: a post is 64 kB at most, a comment 1 kB. */
const SIZES = { posts: 20, comments: 1000, votes: 1000 } as const

/** What the owner notes about a person is the owner's, and what one may do is no data. */
const { notes: _, tags: __, may: ___, ...shown } = User.properties
const Profile = Type.Object({
  ...shown,
  updatedAt: Type.String({ format: 'date-time' }),
  formerUsernames: Type.Array(Type.String()),
  hasTotp: Type.Boolean({ description: 'Whether the account has a second factor' }),
  ...Shown,
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
  votesCount: Type.Integer({ description: 'How many voted; 0 where votes_hidden' }),
  votes_hidden: votesHidden,
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
const Follow = Type.Object({ postId: uuid, isFollowing: Type.Boolean(), createdAt: time })
const BoardFollow = Type.Object({ boardId: uuid, createdAt: time })
const Mention = Type.Object({
  postId: uuid,
  commentId: nullable('string', { description: 'null: the text of the post' }),
  createdAt: time,
})
const Notification = Type.Object({
  id: Type.Integer(),
  kind: Type.String(),
  postId: uuid,
  createdAt: time,
  readAt: nullable('string'),
})

export const exportData = download({
  id: 'account.export',
  summary:
    'Get the data the site stores about you: account, ways to sign in, posts, comments, votes, what you follow, mentions of you, what you were told and how, images, saved views, sessions and keys, without secrets',
  http: 'GET /users/profile/data 200',
  access: 'session',
  types: ['application/json'],
  sensitive: true,
  errors: ['USER_NOT_FOUND'],
  input: fields({}),
  output: Type.Object({
    profile: Profile,
    identities: Type.Array(KnownIdentity),
    sessions: Type.Array(Session),
    keys: Type.Array(Key),
    views: Type.Array(View),
    notificationSettings: Own,
    posts: Type.Array(Post),
    comments: Type.Array(Comment),
    votes: Type.Array(Vote),
    follows: Type.Array(Follow),
    boardFollows: Type.Array(BoardFollow),
    mentions: Type.Array(Mention),
    notifications: Type.Array(Notification),
    images: Type.Array(Image),
    next: Type.Null({ description: 'Always null, for clients that ask for the parts of earlier versions' }),
  }),
  async rows(ctx) {
    const user = await ownUser(ctx)
    const { userId, username } = user
    const head = {
      profile: await profileOf(ctx, user),
      identities: (await waysOf(ctx, user)).map(withoutRights),
      sessions: await sessionsOf(ctx, userId),
      keys: await keysOf(ctx, userId),
      views: await viewsOf(ctx, userId),
      notificationSettings: await ownOf(ctx, userId),
    }
    const pieces = jsonDocument(head, contentOf(ctx, userId), { next: null })
    return { file: `${username}.json`, type: 'application/json', pieces }
  },
})

async function profileOf(ctx: Context, row: UserRow): Promise<Type.Static<typeof Profile>> {
  const { user } = await userShown(ctx, row)
  const { notes: _notes, tags: _tags, may: _may, language, ...own } = user
  const { userId, updatedAt } = row
  const totp = await findTotp(ctx.db, userId)
  return {
    ...own,
    updatedAt,
    formerUsernames: (await formerUsernames(ctx.db, userId)).toSorted(),
    hasTotp: totp?.enabledAt != null,
    ...profileShown(row),
    ...(language !== undefined && { language }),
  }
}

/** What a person has written, page by page. */
const contentOf = ({ db, siteUrl, actor }: Context, userId: string) => ({
  posts: shownOf(
    pagesOf<OwnPost>(SIZES.posts, (page) => ownPosts(db, userId, page)),
    (post): Type.Static<typeof Post> => ({
      postId: post.postId,
      number: post.number,
      title: post.title,
      slug: post.slug,
      contentMarkdown: post.contentMarkdown,
      boardId: post.boardId,
      ...(seesVotes(actor, post, post.hasVoted === 1)
        ? { votesCount: post.votesCount }
        : { votesCount: 0, votes_hidden: true }),
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
    oneAfterAnother<Omit<VoteRow, 'fromPostId'>>(
      pagesOf<VoteRow>(SIZES.votes, ({ limit, after }) => ownVotes(db, userId, { limit, after: after?.postId })),
      pagesOf<MergedVoteRow>(SIZES.votes, ({ limit, after }) =>
        ownMergedVotes(db, userId, { limit, after: after?.postId }),
      ),
    ),
    ({ voteId, postId, createdAt }): Type.Static<typeof Vote> => ({ voteId, postId, createdAt }),
  ),
  follows: shownOf(
    pagesOf<FollowRow>(SIZES.votes, ({ limit, after }) => ownFollows(db, userId, { limit, after: after?.postId })),
    ({ postId, isFollowing, createdAt }): Type.Static<typeof Follow> => ({
      postId,
      isFollowing: isFollowing === 1,
      createdAt,
    }),
  ),
  boardFollows: shownOf(
    only(() => ownBoardFollows(db, userId)),
    (follow): Type.Static<typeof BoardFollow> => follow,
  ),
  mentions: shownOf(
    pagesOf<OwnMention>(SIZES.votes, ({ limit, after }) => ownMentions(db, userId, { limit, after: after?.textId })),
    ({ postId, commentId, createdAt }): Type.Static<typeof Mention> => ({ postId, commentId, createdAt }),
  ),
  notifications: shownOf(
    pagesOf<NotificationRow>(SIZES.votes, ({ limit, after }) =>
      ownNotifications(db, userId, { limit, after: after?.eventId }),
    ),
    ({ eventId: id, kind, postId, createdAt, readAt }): Type.Static<typeof Notification> => ({
      id,
      kind,
      postId,
      createdAt,
      readAt,
    }),
  ),
  images: shownOf(
    pagesOf<ImageRow>(SIZES.votes, ({ limit, after }) => ownImages(db, userId, { limit, after: after?.imageId })),
    (image) => toImage({ siteUrl }, image),
  ),
})

/** A list that fits in one page. It is read when the export reaches it, because an export may end earlier. */
async function* only<Row>(rows: () => Promise<readonly Row[]>): AsyncGenerator<readonly Row[]> {
  yield await rows()
}

async function* oneAfterAnother<Row>(
  ...lists: readonly AsyncIterable<readonly Row[]>[]
): AsyncGenerator<readonly Row[]> {
  for (const list of lists) yield* list
}

async function* shownOf<Row, Shown>(
  pages: AsyncIterable<readonly Row[]>,
  show: (row: Row) => Shown,
): AsyncGenerator<Shown[]> {
  for await (const rows of pages) yield rows.map(show)
}
