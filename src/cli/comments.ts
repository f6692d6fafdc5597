import type { Command } from 'commander'
import { printable } from '../core/text.js'
import { answer, unanswer } from '../service/answers.js'
import * as comments from '../service/comments.js'
import { commentCells, marksOf, type ListedComment } from '../service/lib/cells.js'
import type { Activity } from '../service/lib/commentshapes.js'
import type { Call } from '../service/lib/operation.js'
import { reportComment } from '../service/moderation.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import type { Values } from './lib/flags/fieldoption.js'
import { postNamed } from './lib/output/person.js'
import type { Column } from './lib/output/table.js'
import { ago } from './lib/texts/age.js'

const columns: Column<Activity>[] = [
  { head: 'TEXT', field: 'comment.body', text: commentCells['comment.body'], drop: 0 },
  { head: 'AUTHOR', text: commentCells.author, drop: 1 },
  { head: 'MARKS', text: commentCells.marks, drop: 0, ifAny: true },
  {
    head: 'AGE',
    field: 'created_at',
    text: commentCells.created_at,
    shown: (activity, _paint, now) => ago(activity.created_at, now),
    drop: 2,
  },
  { head: 'ID', field: 'id', text: commentCells.id, drop: 0, short: true },
  { head: 'ANSWERS', field: 'comment.parent_id', text: commentCells['comment.parent_id'] },
]
export const listedColumns: Column<ListedComment>[] = [
  ...columns,
  {
    head: 'POST',
    field: 'post.number',
    text: commentCells['post.number'],
    shown: ({ post }) => (post ? `#${post.number} ${printable(post.title)}` : ''),
    drop: 0,
    ifAny: true,
  },
]
type Shown = Activity & { post: { number: number; title: string } }
const shownColumns: Column<Shown>[] = [
  { head: 'POST', text: ({ post }) => `#${post.number} ${post.title}`, drop: 0 },
  ...columns,
]
const changedColumns: Column<Activity['comment']>[] = [
  { head: 'TEXT', field: 'body', text: (comment) => comment.body, drop: 0 },
  { head: 'MARKS', text: marksOf, drop: 0 },
  { head: 'ID', field: 'id', text: (comment) => comment.id, drop: 0, short: true },
]
const id = (row: { id: string }) => row.id
const flags = { post_id: 'post', is_internal: 'internal', is_spam: 'spam', parent_id: 'answer-to' } as const

/** Describes a comment, even a deleted one: `comment 01a202e3-… on post #12 "Dark mode"`. */
const commentNamed = async (call: Call, { comment_id: given, post_id: post }: Values): Promise<string> =>
  `comment ${String(given)} on post ${await postNamed(call, post)}`

/** The post of a comment, which nobody has to name. */
const finds = {
  fields: ['post_id'] as const,
  async from(call: Call, { comment_id: given }: Record<string, unknown>) {
    const { activity, post } = await call(comments.show, { comment_id: given })
    return { post_id: post.postId, comment_id: activity.id }
  },
}

export function register(group: Command, cli: Cli): void {
  command(
    group,
    { ...comments.listAll, summary: 'List comments, on a post or on all that you may see, newest first' },
    {
      usage: 'list [post_id:post]',
      examples: [
        'comments list 12',
        'comments list --since 7d --query "dark mode"',
        'comments list --author eve@example.org --all -o csv',
      ],
      output: {
        columns: listedColumns,
        id,
        rows: (answer): readonly ListedComment[] => answer.activity,
        list: 'activity',
      },
      input: { flags: { authorId: 'author' } },
      instead: ({ post_id: post, query, spam }) =>
        post === undefined || query !== undefined || spam !== undefined ? undefined : comments.list,
    },
    cli,
  )
  command(
    group,
    comments.show,
    {
      usage: 'show <comment_id:comment>',
      examples: ['comments show 0190e5f0'],
      output: {
        columns: shownColumns,
        id,
        rows: ({ activity, post }): readonly Shown[] => [{ ...activity, post }],
      },
    },
    cli,
  )
  command(
    group,
    comments.create,
    {
      usage: 'create <post_id:post>',
      examples: ['comments create 12 --body "Coming next week."', 'comments create 12 --internal'],
      output: { columns, id, rows: ({ activity }) => [activity] },
      input: { flags, prompts: ['body'], text: 'body', editor: async () => '' },
      names: (call, given) => postNamed(call, given.post_id),
      done: (_answer, _given, { named }) => `Commented on post ${named}.`,
    },
    cli,
  )
  command(
    group,
    comments.update,
    {
      usage: 'update <comment_id:comment...>',
      examples: ['comments update 0190e5f0 --spam', 'comments update 0190e5f0 --body-file answer.md'],
      output: { columns: changedColumns, id, rows: ({ comment }) => [comment] },
      input: { flags, finds, text: 'body', hidden: ['partial'], defaults: { partial: true } },
      requiresChange: true,
      names: commentNamed,
      done: (_answer, _given, { named }) => `Updated ${named}.`,
    },
    cli,
  )
  command(
    group,
    comments.remove,
    {
      usage: 'delete <comment_id:comment...>',
      examples: ['comments delete 0190e5f0 --yes'],
      output: { columns: changedColumns, id, rows: () => [] },
      deletes: async (call, { comment_id: given }) =>
        (await call(comments.show, { comment_id: given })).activity.comment,
      input: { flags, finds },
      confirm: async (call, given) => `Delete ${await commentNamed(call, given)}? Replies to it stay.`,
      names: commentNamed,
      done: (_answer, _given, { named }) => `Deleted ${named}.`,
    },
    cli,
  )
  registerAnswers(group, cli)
  command(
    group,
    reportComment,
    {
      usage: 'report <comment_id:comment...>',
      examples: ['comments report 0190e5f0 --reason "Advertising"'],
      output: { columns: [], id: () => '', rows: () => [] },
      input: { flags, finds },
      names: commentNamed,
      done: (_answer, _given, { named }) => `Reported ${named}. The moderators will review it.`,
    },
    cli,
  )
}

/** Registers the commands that mark a comment as the answer to its post. */
function registerAnswers(group: Command, cli: Cli): void {
  command(
    group,
    answer,
    {
      usage: 'answer <comment_id:comment...>',
      examples: ['comments answer 0190e5f0'],
      output: { columns: changedColumns, id, rows: ({ comment }) => [comment] },
      input: { flags, finds },
      names: commentNamed,
      done: (_answer, _given, { named }) => `Marked ${named} as the answer.`,
    },
    cli,
  )
  command(
    group,
    unanswer,
    {
      usage: 'unanswer <comment_id:comment...>',
      examples: ['comments unanswer 0190e5f0'],
      output: { columns: changedColumns, id, rows: ({ comment }) => [comment] },
      input: { flags, finds },
      names: commentNamed,
      done: (_answer, _given, { named }) => `Unmarked ${named} as the answer.`,
    },
    cli,
  )
}
