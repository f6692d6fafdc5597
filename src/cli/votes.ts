import type { Command } from 'commander'
import * as votes from '../service/votes.js'
import type { Vote } from '../service/votes.js'
import { segments, type Segment } from '../service/votesegments.js'
import { command, groupedBy } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import { postNamed } from './lib/output/person.js'
import type { Column } from './lib/output/table.js'
import { ago } from './lib/texts/age.js'

const columns: Column<Vote>[] = [
  { head: 'NAME', field: 'user.name', text: ({ user }) => user.name, drop: 1 },
  { head: 'USER NAME', field: 'user.username', text: ({ user }) => user.username, drop: 0, whole: true },
  { head: 'TAGS', field: 'tags', text: ({ tags = [] }) => tags.join(', '), ifAny: true, drop: 2 },
  {
    head: 'AGE',
    field: 'createdAt',
    text: (vote) => vote.createdAt ?? '',
    shown: (vote, _paint, now) => (vote.createdAt === undefined ? '' : ago(vote.createdAt, now)),
    drop: 1,
    ifAny: true,
  },
  {
    head: 'THROUGH',
    field: 'through.number',
    text: ({ through }) => (through ? String(through.number) : ''),
    shown: ({ through }) => (through ? `#${through.number}` : ''),
    drop: 1,
    ifAny: true,
  },
  { head: 'USER ID', field: 'user.userId', text: ({ user }) => user.userId },
  { head: 'ID', field: 'voteId', text: (vote) => vote.voteId, drop: 2, whole: true },
]
const table = { columns, id: (vote: Vote) => vote.voteId }
const noOutput = { ...table, rows: () => [] }

const segmentColumns: Column<Segment>[] = [
  { head: 'BY', field: 'by', text: ({ by }) => by, drop: 0 },
  {
    head: 'SEGMENT',
    field: 'name',
    text: ({ name }) => name ?? '',
    shown: ({ name }, paint) => name ?? paint.dim('none'),
    drop: 0,
  },
  { head: 'VOTES', field: 'votes', text: ({ votes: count }) => String(count), right: true, drop: 0 },
]

const segmentsView = {
  usage: 'list <post_id:post>',
  examples: [],
  output: {
    columns: segmentColumns,
    id: ({ name }: Segment) => name ?? '',
    rows: (answer: { segments: readonly Segment[] }) => answer.segments,
    list: true,
  },
} as const

const onBehalf = (op: typeof votes.assign | typeof votes.unassign) => ({
  op,
  needs: 'needs "feedbackctl labs update --vote-on-behalf"',
  fields: ({ postId }: Record<string, unknown>, account: string) => ({ post_id: postId, user_id: account }),
})

export function register(group: Command, cli: Cli): void {
  command(
    group,
    votes.list,
    {
      usage: 'list <post_id:post>',
      examples: ['votes list 12', 'votes list 12 --by segment'],
      output: { ...table, rows: (answer) => answer.votes.results, list: 'votes.results' },
      by: { segment: groupedBy(segments, segmentsView) },
    },
    cli,
  )
  command(
    group,
    votes.add,
    {
      usage: 'add <postId:post...>',
      examples: ['votes add 12', 'votes add 12 --as eve@example.org'],
      output: noOutput,
      as: onBehalf(votes.assign),
      names: (call, { postId }) => postNamed(call, postId),
      done: (_answer, _given, { named }) => `Voted for post ${named}.`,
    },
    cli,
  )
  command(
    group,
    votes.remove,
    {
      usage: 'delete <postId:post...>',
      examples: ['votes delete 12', 'votes delete 12 --as eve@example.org'],
      output: noOutput,
      as: onBehalf(votes.unassign),
      formerly: ['remove'],
      names: (call, { postId }) => postNamed(call, postId),
      done: (_answer, _given, { named }) => `Deleted the vote for post ${named}.`,
    },
    cli,
  )
}
