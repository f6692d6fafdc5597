import type { Activity } from './commentshapes.js'
import type * as Type from 'typebox'
import { counted } from '../../core/text.js'
import type { Cells } from './csvof.js'
import type { User } from './people.js'
import type { Post, PostRow } from './postshapes.js'

/** The display name, or the user name if that is empty. */
export const nameOf = ({ name, username }: { name: string; username: string }): string => name || username

/** How many voted; empty where the board hides it. */
export const votesText = ({ votesCount, votes_hidden: isHidden = false }: Counted): string =>
  isHidden ? '' : String(votesCount)

/** The same after a title, in words. */
export const votesAfter = ({ votesCount, votes_hidden: isHidden = false }: Counted): string =>
  isHidden ? '' : `, ${counted(votesCount, 'vote')}`

interface Counted {
  votesCount: number
  votes_hidden?: boolean
}

/** A single post has no board where a list has null. */
export type ListedPost = Omit<Post, 'board'> & { board?: Post['board'] }

export const postCells = {
  number: (post) => String(post.number),
  title: (post) => post.title,
  'board.name': (post) => post.board?.name ?? '',
  'voters.votesCount': ({ voters }) => votesText(voters),
  commentsCount: (post) => String(post.commentsCount),
  'roadmap.name': (post) => post.roadmap?.name ?? '',
  author: (post) => nameOf(post.author),
  createdAt: (post) => post.createdAt,
  slug: (post) => post.slug,
  postId: (post) => post.postId,
  marks: (post) =>
    [
      post.is_spam && 'spam',
      post.is_held && 'held',
      post.pinned && 'pinned',
      post.locked && 'locked',
      post.is_archived && 'archived',
    ]
      .filter(Boolean)
      .join(', '),
  tags: ({ tags = [] }) => tags.map(({ name }) => name).join(', '),
} as const satisfies Cells<ListedPost>

export type ListedComment = Activity & { post?: Pick<PostRow, 'number' | 'title'> }

export const marksOf = ({
  is_internal: internal,
  is_spam: spam,
  is_held: held,
  is_edited: edited,
  is_update: update,
  is_answer: answers,
  parent_id: parent,
}: Activity['comment']): string =>
  [
    update && 'update',
    answers && 'official answer',
    parent !== null && 'answer',
    internal && 'internal',
    spam && 'spam',
    held && 'held',
    edited && 'edited',
  ]
    .filter(Boolean)
    .join(', ')

export const commentCells = {
  'comment.body': ({ comment }) => comment.body,
  author: ({ author }) => nameOf(author),
  marks: ({ comment }) => marksOf(comment),
  created_at: (activity) => activity.created_at,
  id: (activity) => activity.id,
  'comment.parent_id': ({ comment }) => comment.parent_id ?? '',
  'post.number': ({ post }) => (post ? String(post.number) : ''),
} as const satisfies Cells<ListedComment>

export interface ListedVoter {
  voteId: string
  user: Pick<Type.Static<typeof User>, 'userId' | 'name' | 'username'>
  tags?: readonly string[]
  createdAt?: string
  through?: { number: number }
}

export const voteCells = {
  'user.name': ({ user }) => user.name,
  'user.username': ({ user }) => user.username,
  tags: ({ tags = [] }) => tags.join(', '),
  createdAt: ({ createdAt = '' }) => createdAt,
  'through.number': ({ through }) => (through ? String(through.number) : ''),
  'user.userId': ({ user }) => user.userId,
  voteId: ({ voteId }) => voteId,
} as const satisfies Cells<ListedVoter>

/** The assigned roles, without @everyone. */
export const rolesText = ({ roles }: Pick<ListedUser, 'roles'>): string =>
  roles
    .filter((role) => !role.isSystem)
    .map(({ name }) => name)
    .join(', ')

type ListedUser = Type.Static<typeof User>

export const userCells = {
  name: (user) => user.name,
  email: (user) => user.email,
  roles: rolesText,
  posts: (user) => user.posts,
  votes: (user) => user.votes,
  state: (user) => user.state,
  lastSeenAt: (user) => user.lastSeenAt ?? '',
  createdAt: (user) => user.createdAt,
  username: (user) => user.username,
  tags: ({ tags }) => tags.join(', '),
  notes: (user) => user.notes ?? '',
  userId: (user) => user.userId,
} as const satisfies Cells<ListedUser>
