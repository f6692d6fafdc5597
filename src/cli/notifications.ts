import type { Command } from 'commander'
import { counted } from '../core/text.js'
import * as notifications from '../service/notifications.js'
import type { Notification } from '../service/notifications.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import type { Column } from './lib/output/table.js'
import { ago } from './lib/texts/age.js'

/** What happened, in the words of the table. */
const whatOf = ({ kind, roadmap, merged }: Notification): string =>
  roadmap ? `${kind}: ${roadmap.name}` : merged ? `${kind}: #${merged.number} ${merged.title}` : kind

const columns: Column<Notification>[] = [
  { head: 'ID', field: 'id', text: ({ id }) => String(id), right: true, drop: 0, whole: true },
  { head: 'WHAT', field: 'kind', text: whatOf, drop: 0 },
  { head: 'POST', field: 'post.number', text: ({ post }) => `#${post.number} ${post.title}`, drop: 0 },
  { head: 'TEXT', field: 'comment.body', text: ({ comment }) => comment?.body ?? '', drop: 2, ifAny: true },
  { head: 'BY', field: 'user.username', text: ({ user }) => user?.username ?? '', drop: 1 },
  { head: 'STATE', field: 'readAt', text: ({ readAt }) => (readAt === null ? 'unread' : 'read'), drop: 0 },
  {
    head: 'TIME',
    field: 'createdAt',
    text: ({ createdAt }) => createdAt,
    shown: ({ createdAt }, _paint, now) => ago(createdAt, now),
    drop: 1,
  },
]

const id = (row: Notification) => String(row.id)

export function register(group: Command, cli: Cli): void {
  command(
    group,
    notifications.list,
    {
      usage: 'list',
      examples: [
        'notifications list --as eve@example.org',
        'notifications list --unread',
        'notifications list --query "dark mode" --since 30d',
      ],
      output: {
        columns,
        id,
        rows: (answer): readonly Notification[] => answer.notifications,
        list: 'notifications',
        empty: () => 'You have no notifications.',
      },
    },
    cli,
  )
  command(
    group,
    notifications.show,
    {
      usage: 'show <id>',
      examples: ['notifications show 812'],
      output: { columns, id, rows: ({ notification }) => [notification] },
    },
    cli,
  )
  command(
    group,
    notifications.read,
    {
      usage: 'read [id...]',
      examples: ['notifications read', 'notifications read 812 815', 'notifications read --until 812'],
      output: { columns: [], id: String, rows: () => [] },
      done: ({ read }) => `Marked ${counted(read, 'notification')} as read.`,
    },
    cli,
  )
}
