import type { Command } from 'commander'
import * as boards from '../service/boards.js'
import type { Board } from '../service/boards.js'
import { command } from './lib/command.js'
import type { Cli } from './lib/session.js'
import { ago } from './lib/age.js'
import type { Column } from './lib/table.js'
import type { View } from './lib/view.js'
import { counted, printable } from '../core/text.js'

export const columns: Column<Board>[] = [
  { head: 'NAME', text: (board) => board.name, drop: 0 },
  { head: 'URL', text: (board) => board.url, drop: 0 },
  {
    head: 'COLOR',
    text: (board) => board.color,
    shown: (board, paint) => `${paint.hex(board.color)('■')} ${board.color}`,
    drop: 3,
  },
  { head: 'POSTS', text: (board) => board.post_count, right: true, drop: 1 },
  {
    head: 'SHOWN TO',
    text: (board) => (board.display ? 'public' : 'private'),
    shown: (board, paint) => (board.display ? 'everybody' : paint.yellow('private')),
    drop: 4,
  },
  {
    head: 'CREATED',
    text: (board) => board.createdAt,
    shown: (board, _paint, now) => ago(board.createdAt, now),
    drop: 2,
  },
  { head: 'VOTERS', text: (board) => (board.view_voters ? 'shown' : 'hidden') },
  { head: 'ID', text: (board) => board.boardId },
]

const table = { columns, id: (board: Board) => board.url }
const one = { ...table, rows: ({ board }: { board: Board }) => [board] }
const named = (board: Board) => `"${printable(board.name)}" (${board.url})`

/** Whether a url or a name is free. */
const free = {
  columns: [{ head: 'AVAILABLE', text: (available: boolean) => (available ? 'yes' : 'no'), drop: 0 }],
  id: String,
  rows: (answer: { available: boolean }) => [answer.available],
} as const

export function register(group: Command, cli: Cli): void {
  const add = <In, Out, Subject>(
    op: Parameters<typeof command<In, Out, Board, Subject>>[1],
    view: View<In, Out, Board>,
  ) => command(group, op, view, cli)

  add(boards.list, {
    ...table,
    words: 'list',
    examples: ['boards list --page 2', 'boards list --all -o csv > boards.csv'],
    rows: (answer) => answer.boards,
    list: 'boards',
    hidden: ['first'],
    preset: { visibility: ['public', 'private'] }, // an administrator who does not see a board would think it is gone
  })
  add(boards.search, {
    ...table,
    words: 'search <name>',
    examples: ['boards search mob'],
    rows: (answer) => answer.boards,
    many: true,
  })
  add(boards.show, { ...one, words: 'show <url:board>', examples: ['boards show ideas'] })
  add(boards.create, {
    ...one,
    words: 'create <name>',
    examples: ['boards create "💡 Ideas"', 'boards create Roadmap --color 1d4ed8 --display false'],
    done: ({ board }) => `Created board ${named(board)}.`,
  })
  add(boards.update, {
    ...one,
    words: 'update <boardId:board>',
    examples: ['boards update ideas --name "Bright ideas"', 'boards update ideas --url bright-ideas --display false'],
    hidden: ['partial'],
    preset: { partial: true },
    changes: true,
    done: ({ board }) => `Changed board ${named(board)}.`,
  })
  add(boards.remove, {
    columns,
    id: table.id,
    words: 'delete <boardId:board>',
    examples: ['boards delete ideas', 'boards delete ideas --yes'],
    rows: () => [],
    async loses(call, given) {
      const { board } = await call(boards.show, { url: given.boardId })
      return `Delete board ${named(board)}? This leaves ${counted(board.post_count, 'post')} without a board.`
    },
    done: (_, given) => `Deleted board ${String(given.boardId)}.`,
  })
  command(group, boards.checkSlug, { ...free, words: 'check-slug <url>', examples: ['boards check-slug ideas'] }, cli)
  command(
    group,
    boards.checkName,
    { ...free, words: 'check-name <name>', examples: ['boards check-name "Ideas"'] },
    cli,
  )
}
