import type { Command } from 'commander'
import * as comments from '../service/comments.js'
import type { Activity } from '../service/comments.js'
import { reportComment } from '../service/moderation.js'
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
  { head: 'MARKS', text: ({ comment }) => marksOf(comment), drop: 0 },
  {
    head: 'AGE',
    text: (activity) => activity.created_at,
    shown: (activity, _paint, now) => ago(activity.created_at, now),
    drop: 2,
  },
  { head: 'ID', text: (activity) => activity.id, drop: 0, whole: true },
  { head: 'ANSWERS', text: ({ comment }) => comment.parent_id ?? '' },
]
const changedColumns: Column<Activity['comment']>[] = [
  { head: 'TEXT', text: (comment) => comment.body, drop: 0 },
  { head: 'MARKS', text: marksOf, drop: 0 },
  { head: 'ID', text: (comment) => comment.id, drop: 0, whole: true },
]
const id = (row: { id: string }) => row.id
const flags = { post_id: 'post', is_internal: 'internal', is_spam: 'spam', parent_id: 'answer-to' } as const

export function register(group: Command, cli: Cli): void {
  command(
    group,
    comments.list,
    {
      usage: 'list <post_id:post>',
      examples: ['comments list 12'],
      output: { columns, id, rows: (answer) => answer.activity, list: 'activity' },
      input: { hidden: ['first'] },
    },
    cli,
  )
  command(
    group,
    comments.create,
    {
      usage: 'create <post_id:post>',
      examples: ['comments create 12 --body "Coming next week."', 'comments create 12 --internal true'],
      output: { columns, id, rows: ({ activity }) => [activity] },
      input: { flags, prompts: ['body'], text: 'body', editor: async () => '' },
      as: true,
      done: (_, given) => `Commented on ${String(given.post_id)}.`,
    },
    cli,
  )
  command(
    group,
    comments.update,
    {
      usage: 'update <comment_id:comment>',
      examples: ['comments update COMMENT --post 12 --spam true'],
      output: { columns: changedColumns, id, rows: ({ comment }) => [comment] },
      input: { flags, prompts: ['post_id'], text: 'body', hidden: ['partial'], defaults: { partial: true } },
      requiresChange: true,
      done: ({ comment }) => `Updated comment ${comment.id}.`,
    },
    cli,
  )
  command(
    group,
    comments.remove,
    {
      usage: 'delete <comment_id:comment>',
      examples: ['comments delete COMMENT --post 12 --yes'],
      output: { columns: changedColumns, id, rows: () => [] },
      input: { flags, prompts: ['post_id'] },
      confirm: async (_call, given) => `Delete comment ${String(given.comment_id)}? Answers to it stay.`,
      done: (_, given) => `Deleted comment ${String(given.comment_id)}.`,
    },
    cli,
  )
  command(
    group,
    reportComment,
    {
      usage: 'report <comment_id:comment>',
      examples: ['comments report COMMENT --post dark-mode-x1y2 --reason "Advertising"'],
      output: { columns: [], id: () => '', rows: () => [] },
      input: { flags, prompts: ['post_id'] },
      as: true,
      done: () => 'Noted. Those who run the site will look at it.',
    },
    cli,
  )
}
