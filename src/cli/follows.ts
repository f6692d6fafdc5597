import type { Command } from 'commander'
import * as follows from '../service/follows.js'
import type { Followed } from '../service/follows.js'
import { nameOf } from '../service/lib/cells.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import { postNamed } from './lib/output/person.js'
import type { Column } from './lib/output/table.js'

const columns: Column<Followed>[] = [
  { head: 'NAME', field: 'name', text: (follower) => nameOf(follower), drop: 0 },
  { head: 'USER NAME', field: 'username', text: ({ username }) => username, drop: 1 },
  { head: 'REASON', field: 'reason', text: ({ reason }) => reason, drop: 0 },
  { head: 'ID', field: 'userId', text: ({ userId }) => userId, drop: 2, short: true },
]

/** The commands of `posts` about who follows a post. */
export function register(group: Command, cli: Cli): void {
  command(
    group,
    follows.follow,
    {
      usage: 'follow <post_id:post...>',
      examples: ['posts follow 12 15 --as eve@example.org', 'posts search scroll -q | feedbackctl posts follow -'],
      output: { columns: [], id: () => '', rows: () => [] },
      names: (call, given) => postNamed(call, given.post_id),
      done: (_answer, _given, { named }) => `Followed post ${named}.`,
    },
    cli,
  )
  command(
    group,
    follows.unfollow,
    {
      usage: 'unfollow <post_id:post...>',
      examples: ['posts unfollow 12 --as eve@example.org'],
      output: { columns: [], id: () => '', rows: () => [] },
      names: (call, given) => postNamed(call, given.post_id),
      done: (_answer, _given, { named }) => `Unfollowed post ${named}.`,
    },
    cli,
  )
  command(
    group,
    follows.followers,
    {
      usage: 'followers <post_id:post>',
      examples: ['posts followers 12', 'posts followers 12 --all -o csv'],
      output: {
        columns: columns,
        id: ({ userId }) => userId,
        rows: (answer): readonly Followed[] => answer.followers,
        list: 'followers',
        empty: () => 'Nobody follows the post.',
      },
    },
    cli,
  )
}
