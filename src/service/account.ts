import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { invalidField } from '../core/fields.js'
import { formerUsernames, ownComments, ownPosts, ownVotes } from '../db/account.js'
import { lock } from '../db/counters.js'
import type { UserRow } from '../db/tables.js'
import { findTotp } from '../db/totp.js'
import { lockUser } from '../db/users.js'
import { Key, keysOf } from './keys.js'
import { change } from './lib/change.js'
import type { Context } from './lib/context.js'
import { deletePerson, WHAT_STAYS } from './lib/leaving.js'
import { operation, type KnownCall } from './lib/operation.js'
import { assertPasswordGiven, passwordMatches } from './lib/passwords.js'
import { accountPolicy, ownUser, passwordField, User, userNotFound, userShown } from './lib/people.js'
import { fields, nullable, oneOf } from './lib/schemas.js'
import { Session, sessionsOf } from './sessions.js'

/** Rows of a part: a post is 64 kB at most, a comment 1 kB. */
const SIZES = { posts: 100, comments: 1000, votes: 1000 } as const
type Kind = keyof typeof SIZES
const KINDS = Object.keys(SIZES) as Kind[]

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

export const exportData = operation({
  id: 'account.export',
  summary:
    'Get the data the site stores about you: account, posts, comments, votes, sessions and keys, without secrets',
  http: 'GET /users/profile/data 200',
  access: 'session',
  sensitive: true,
  errors: ['USER_NOT_FOUND'],
  input: fields({
    after: Type.Optional(Type.String({ description: 'The `next` of the previous part; absent for the first part' })),
  }),
  output: Type.Object({
    profile: Profile,
    sessions: Type.Array(Session, { description: 'In the first part; empty in others' }),
    keys: Type.Array(Key, { description: 'In the first part; empty in others' }),
    posts: Type.Array(Post),
    comments: Type.Array(Comment),
    votes: Type.Array(Vote),
    next: nullable('string', { description: 'Send it as `after` to get the next part; null at the end' }),
  }),
  async run(ctx, { after }) {
    const user = await ownUser(ctx)
    const { userId } = user
    const from = after === undefined ? undefined : readCursor(after)
    return {
      profile: await profileOf(ctx, user),
      sessions: from ? [] : await sessionsOf(ctx, userId),
      keys: from ? [] : await keysOf(ctx, userId),
      ...(await contentOf(ctx, userId, from ?? { kind: 'posts', row: undefined })),
    }
  },
})

type Part = Awaited<ReturnType<typeof exportData.run>>

/**
 * The whole export as the text of one JSON document, piece by piece, so that no more than one part is in the memory.
 * Rejects before the first piece where the operation refuses.
 */
export async function accountDocument(call: KnownCall): Promise<AsyncGenerator<string>> {
  const first = await call(exportData, {})
  return documentOf(first, (after) => call(exportData, { after }))
}

async function* documentOf(first: Part, following: (after: string) => Promise<Part>): AsyncGenerator<string> {
  const { profile, sessions, keys } = first
  const head = JSON.stringify({ profile, sessions, keys }, null, 2)
  yield head.slice(0, head.lastIndexOf('\n'))
  let part = first
  for (const list of KINDS) {
    yield `,\n  "${list}": [`
    let separator = '\n'
    for (;;) {
      for (const row of part[list]) {
        yield separator + JSON.stringify(row, null, 2).replaceAll(/^/gm, '    ')
        separator = ',\n'
      }
      if (part.next === null || !part.next.startsWith(list)) break
      part = await following(part.next)
    }
    yield separator === '\n' ? ']' : '\n  ]'
  }
  yield '\n}\n'
}

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

interface Cursor {
  kind: Kind
  /** The columns of the last row of this kind that was sent. */
  row: string[] | undefined
}

/** The rows after the cursor, until those of one kind are too many for a part, and where the next one begins. */
async function contentOf({ db }: Context, userId: string, from: Cursor) {
  const content: Content = { posts: [], comments: [], votes: [] }
  for (const kind of KINDS.slice(KINDS.indexOf(from.kind))) {
    const last = await READ[kind](content, { db, userId, row: kind === from.kind ? from.row : undefined })
    if (content[kind].length === SIZES[kind]) return { ...content, next: [kind, ...last].join('~') }
  }
  return { ...content, next: null }
}

interface Content {
  posts: Type.Static<typeof Post>[]
  comments: Type.Static<typeof Comment>[]
  votes: Type.Static<typeof Vote>[]
}

interface After {
  db: Context['db']
  userId: string
  row: string[] | undefined
}

/** Each adds a page of rows, and returns what the cursor has of the last one. */
const READ: Record<Kind, (content: Content, after: After) => Promise<string[]>> = {
  async posts(content, { db, userId, row: [createdAt, postId] = [] }) {
    const after = createdAt !== undefined && postId !== undefined ? { createdAt, postId } : undefined
    const rows = await ownPosts(db, userId, { after, limit: SIZES.posts })
    content.posts = rows.map((post) => ({
      postId: post.postId,
      number: post.number,
      title: post.title,
      slug: post.slug,
      contentMarkdown: post.contentMarkdown,
      boardId: post.boardId,
      votesCount: post.votesCount,
      createdAt: post.createdAt,
      updatedAt: post.updatedAt,
    }))
    const last = rows.at(-1)
    return last ? [last.createdAt, last.postId] : []
  },
  async comments(content, { db, userId, row: [after] = [] }) {
    const rows = await ownComments(db, userId, { after, limit: SIZES.comments })
    content.comments = rows.map(({ is_internal, is_edited, is_spam, ...comment }) => ({
      id: comment.id,
      post_id: comment.post_id,
      parent_id: comment.parent_id,
      body: comment.body,
      is_internal: is_internal === 1,
      is_edited: is_edited === 1,
      is_spam: is_spam === 1,
      created_at: comment.created_at,
      updated_at: comment.updated_at,
    }))
    return rows.slice(-1).map(({ id }) => id)
  },
  async votes(content, { db, userId, row: [after] = [] }) {
    const rows = await ownVotes(db, userId, { after, limit: SIZES.votes })
    content.votes = rows.map(({ voteId, postId, createdAt }) => ({ voteId, postId, createdAt }))
    return rows.slice(-1).map(({ postId }) => postId)
  },
}

function readCursor(text: string): Cursor {
  const [kind, ...row] = text.split('~')
  const known = KINDS.find((each) => each === kind)
  if (known && (row.length === 0 || row.length === (known === 'posts' ? 2 : 1)))
    return { kind: known, row: row.length === 0 ? undefined : row }
  throw invalidField({
    code: 'INVALID_CURSOR',
    message: 'after must be the next of the part before.',
    field: 'after',
    rule: 'the `next` of the part before',
    value: text.slice(0, 100).toWellFormed(),
  })
}
