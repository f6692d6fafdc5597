import type { Command } from 'commander'
import * as service from '../service/userprofile.js'
import type { ListedComment, ListedPost } from '../service/lib/cells.js'
import { listedColumns } from './comments.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import { nameOf } from './lib/output/person.js'
import type { Column } from './lib/output/table.js'
import { ago } from './lib/texts/age.js'
import { columns as postColumns } from './postcolumns.js'

const columns: Column<service.PublicProfile>[] = [
  { head: 'NAME', field: 'user.name', text: ({ user }) => user.name, shown: ({ user }) => nameOf(user), drop: 0 },
  { head: 'USER NAME', field: 'user.username', text: ({ user }) => user.username, drop: 0, whole: true },
  { head: 'POSTS', field: 'posts', text: ({ posts }) => numberOf(posts), right: true, drop: 1 },
  { head: 'VOTES', field: 'votes', text: ({ votes }) => numberOf(votes), right: true, drop: 1 },
  { head: 'COMMENTS', field: 'comments', text: ({ comments }) => numberOf(comments), right: true, drop: 1 },
  { head: 'HIDDEN', text: ({ shows }) => hiddenOf(shows), drop: 1 },
  {
    head: 'CREATED',
    field: 'createdAt',
    text: ({ createdAt = '' }) => createdAt,
    shown: ({ createdAt }, _paint, now) => (createdAt === undefined ? '' : ago(createdAt, now)),
    drop: 2,
  },
  { head: 'ID', field: 'user.userId', text: ({ user }) => user.userId },
]

const numberOf = (count: number | undefined): string => (count === undefined ? '' : String(count))

/** The parts of a profile that are hidden from other people. */
const hiddenOf = (shows: service.PublicProfile['shows']): string =>
  Object.entries(shows)
    .flatMap(([what, isShown]) => (isShown ? [] : [what]))
    .join(', ')

/** Registers `users profile`, `users votes` and `users comments`. */
export function register(group: Command, cli: Cli): void {
  command(
    group,
    service.publicProfile,
    {
      usage: 'profile <user>',
      examples: ['users profile eve_dsdj3x1t'],
      output: { columns, id: ({ user }) => user.userId, rows: ({ profile }) => [profile] },
    },
    cli,
  )
  command(
    group,
    service.votes,
    {
      usage: 'votes <user>',
      examples: ['users votes eve_dsdj3x1t', 'users votes eve@example.org --all -o csv'],
      output: {
        columns: postColumns,
        id: ({ postId }) => postId,
        rows: (answer): readonly ListedPost[] => answer.posts,
        list: 'posts',
      },
    },
    cli,
  )
  command(
    group,
    service.comments,
    {
      usage: 'comments <user>',
      examples: ['users comments eve_dsdj3x1t'],
      output: {
        columns: listedColumns,
        id: ({ comment }) => comment.id,
        rows: (answer): readonly ListedComment[] => answer.activity,
        list: 'activity',
      },
    },
    cli,
  )
}
