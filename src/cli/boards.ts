import type { Command } from 'commander'
import { listed, printable, quoted } from '../core/text.js'
import * as boards from '../service/boards.js'
import type { Board } from '../service/boards.js'
import { register as registerFollows } from './boardfollows.js'
import { command } from './lib/command/command.js'
import { showTitled } from './lib/command/existing.js'
import type { View } from './lib/command/view.js'
import type { Cli } from './lib/connection/session.js'
import type { Column } from './lib/output/table.js'
import { ago } from './lib/texts/age.js'

export const columns: Column<Board>[] = [
  { head: 'NAME', field: 'name', text: (board) => board.name, drop: 0 },
  { head: 'URL', field: 'url', text: (board) => board.url, id: (board) => board.boardId, drop: 0, whole: true },
  {
    head: 'COLOR',
    field: 'color',
    text: (board) => board.color,
    shown: (board, paint) => `${paint.hex(board.color)('■')} ${board.color}`,
    drop: 4,
  },
  { head: 'POSTS', field: 'post_count', text: (board) => board.post_count, right: true, drop: 1 },
  {
    head: 'ACCESS',
    text: (board) => (board.display ? 'public' : 'private'),
    shown: (board, paint) => (board.display ? 'public' : paint.yellow('private')),
    drop: 0,
  },
  {
    head: 'CREATED',
    field: 'createdAt',
    text: (board) => board.createdAt,
    shown: (board, _paint, now) => ago(board.createdAt, now),
    drop: 2,
  },
  { head: 'VOTERS', text: (board) => (board.view_voters ? 'shown' : 'hidden') },
  { head: 'ID', field: 'boardId', text: (board) => board.boardId },
  {
    head: 'MARKS',
    text: ({ archived, posting }) =>
      [archived && 'archived', posting === 'team' && 'team posts'].filter(Boolean).join(', '),
    drop: 0,
    ifAny: true,
  },
  { head: 'DESCRIPTION', field: 'description', text: ({ description = '' }) => description, ifAny: true },
]

const table = { columns, id: (board: Board) => board.url }
const one = { ...table, rows: ({ board }: { board: Board }) => [board] }
const switches = { display: { word: 'private', on: false, description: 'Only for users with board:read' } } as const
const label = (board: Board) => `"${printable(board.name)}" (${board.url})`

interface Availability {
  available: boolean
}

const yesOrNo = ({ available }: Availability) => (available ? 'yes' : 'no')

/** Whether a url or a name is available. A taken one has the exit code that `create` would have. */
const availability = {
  columns: [{ head: 'AVAILABLE', field: 'available', text: yesOrNo, drop: 0 }] satisfies Column<Availability>[],
  id: yesOrNo,
  rows: (answer: Availability) => [answer],
}
const verdict = (what: string, { available }: Availability) =>
  available ? { said: `${what} is free.`, exit: 0 } : { said: `${what} is taken.`, exit: 5 }

export function register(group: Command, cli: Cli): void {
  const add = <In, Out, Subject>(
    op: Parameters<typeof command<In, Out, Board, Subject>>[1],
    view: View<In, Out, Board>,
  ) => command(group, op, view, cli)

  add(boards.list, {
    usage: 'list',
    examples: ['boards list --page 2', 'boards list --query mob', 'boards list --all -o csv > boards.csv'],
    output: { ...table, rows: (answer) => answer.boards, list: 'boards' },
    // An administrator expects to see all boards.
    input: { defaults: { visibility: ['public', 'private'] } },
  })
  add(boards.search, {
    usage: 'search <name...>',
    replaced: true, // "list --query" finds the same, and has pages
    input: { joined: 'name' },
    examples: ['boards search mob'],
    output: {
      ...table,
      rows: (answer) => answer.boards,
      list: true,
      empty: ({ name }) => `No board has a name that starts with ${quoted(String(name))}.`,
    },
  })
  add(boards.show, { usage: 'show <url:board>', examples: ['boards show ideas'], output: one })
  add(boards.create, {
    usage: 'create <name>',
    examples: [
      'boards create "💡 Ideas"',
      'boards create Bugs --color 1d4ed8 --private',
      'boards create Ideas --if-not-exists',
    ],
    output: one,
    input: { switches },
    lines: 'alone',
    existing: {
      by: 'a board with this url, or without --url a board with this name,',
      find: (call, given) =>
        showTitled(call, 'board', given, {
          show: (url) => call(boards.show, { url }),
          nameOf: ({ board }) => board.name,
        }),
      said: ({ board }) => `Board ${label(board)}`,
    },
    done: ({ board }) => `Created board ${label(board)}.`,
  })
  add(boards.update, {
    usage: 'update <boardId:board...>',
    examples: [
      'boards update ideas --name "Bright ideas"',
      'boards update ideas --url bright-ideas --no-private',
      'boards update ideas --archived',
    ],
    output: one,
    input: { hidden: ['partial', 'ifVersion'], defaults: { partial: true }, switches },
    requiresChange: true,
    done: ({ board }) => `Updated board ${label(board)}.`,
  })
  add(boards.remove, {
    usage: 'delete <boardId:board...>',
    examples: ['boards delete ideas', 'boards delete ideas --move-to archive --yes'],
    output: { ...table, rows: () => [] },
    input: { hidden: ['ifPosts'] },
    deletes: async (call, given) => (await call(boards.show, { url: given.boardId })).board,
    async confirm(call, given) {
      const { board } = await call(boards.show, { url: given.boardId })
      const posts = listed({ post: board.post_count })
      const loss = board.display ? '' : ', where everyone sees them'
      const { moveTo } = given
      const next = typeof moveTo === 'string' ? `moves ${posts} to ${quoted(moveTo)}` : `leaves ${posts} without a board${loss}` // prettier-ignore
      return `Delete board ${label(board)}?${posts && ` This ${next}.`}`
    },
    done: (_, given, { removed }) => `Deleted board ${removed ? label(removed) : String(given.boardId)}.`,
  })
  registerChecks(group, cli)
  registerFollows(group, cli)
}

/** Registers the commands that check whether a url or a name is available. */
function registerChecks(group: Command, cli: Cli): void {
  command(
    group,
    boards.checkSlug,
    {
      usage: 'check-slug <url>',
      summary: 'Check whether a url is free for a board; exits with 5 if it is taken',
      examples: ['boards check-slug ideas'],
      output: availability,
      verdict: (answer, { url }) => verdict(`The url ${quoted(String(url))}`, answer),
    },
    cli,
  )
  command(
    group,
    boards.checkName,
    {
      usage: 'check-name <name>',
      summary: 'Check whether a name is free for a board; exits with 5 if it is taken',
      examples: ['boards check-name "Ideas"'],
      output: availability,
      verdict: (answer, { name }) => verdict(`The name ${quoted(String(name))}`, answer),
    },
    cli,
  )
}
