import type { Command } from 'commander'
import * as comments from '../service/comments.js'
import type { Activity } from '../service/comments.js'
import { ago } from './lib/age.js'
import { command } from './lib/command.js'
import { nameOf } from './lib/person.js'
import type { Cli } from './lib/session.js'
import type { Column } from './lib/table.js'

const marksOf = ({
  is_internal: internal,
  is_spam: spam,
  is_edited: edited,
  parent_id: parent,
}: Activity['comment']): string =>
  [parent !== null && 'answer', internal && 'internal', spam && 'spam', edited && 'edited'].filter(Boolean).join(', ')

const columns: Column<Activity>[] = [
  { head: 'TEXT', text: ({ comment }) => comment.body, drop: 0 },
  { head: 'AUTHOR', text: ({ author }) => nameOf(author), drop: 1 },
  { head: 'MARKS', text: ({ comment }) => marksOf(comment), drop: 3 },
  {
    head: 'AGE',
    text: (activity) => activity.created_at,
    shown: (activity, _paint, now) => ago(activity.created_at, now),
    drop: 2,
  },
  { head: 'ID', text: (activity) => activity.id, drop: 0, whole: true },
  { head: 'ANSWERS', text: ({ comment }) => comment.parent_id ?? '' },
]
const changed: Column<Activity['comment']>[] = [
  { head: 'TEXT', text: (comment) => comment.body, drop: 0 },
  { head: 'MARKS', text: marksOf, drop: 1 },
  { head: 'ID', text: (comment) => comment.id, drop: 2 },
]
const id = (row: { id: string }) => row.id
const ofPost = {
  flags: { post_id: 'post', is_internal: 'internal', is_spam: 'spam', parent_id: 'answer-to' },
  asks: ['post_id'],
} as const

export function register(group: Command, cli: Cli): void {
  command(
    group,
    comments.list,
    {
      columns,
      id,
      words: 'list <post_id:post>',
      examples: ['comments list dark-mode-x1y2'],
      rows: (answer) => answer.activity,
      list: 'activity',
      hidden: ['first'],
    },
    cli,
  )
  command(
    group,
    comments.create,
    {
      columns,
      id,
      flags: ofPost.flags,
      words: 'create <post_id:post>',
      examples: [
        'comments create dark-mode-x1y2 --body "Coming next week."',
        'comments create dark-mode-x1y2 --internal true',
      ],
      text: 'body',
      asks: ['body'],
      edits: async () => '',
      as: true,
      rows: ({ activity }) => [activity],
      done: (_, given) => `Commented on ${String(given.post_id)}.`,
    },
    cli,
  )
  command(
    group,
    comments.update,
    {
      ...ofPost,
      columns: changed,
      id,
      words: 'update <comment_id:comment>',
      examples: ['comments update COMMENT --post dark-mode-x1y2 --spam true'],
      text: 'body',
      hidden: ['partial'],
      preset: { partial: true },
      changes: true,
      rows: ({ comment }) => [comment],
      done: ({ comment }) => `Changed comment ${comment.id}.`,
    },
    cli,
  )
  command(
    group,
    comments.remove,
    {
      ...ofPost,
      columns: changed,
      id,
      words: 'delete <comment_id:comment>',
      examples: ['comments delete COMMENT --post dark-mode-x1y2 --yes'],
      rows: () => [],
      loses: async (_call, given) => `Delete comment ${String(given.comment_id)}? Answers to it stay.`,
      done: (_, given) => `Deleted comment ${String(given.comment_id)}.`,
    },
    cli,
  )
}
