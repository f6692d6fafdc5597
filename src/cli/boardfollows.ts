import type { Command } from 'commander'
import { printable } from '../core/text.js'
import * as follows from '../service/boardfollows.js'
import * as boards from '../service/boards.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import type { Call } from '../service/lib/operation.js'

const output = { columns: [], id: () => '', rows: () => [] }
const named = async (call: Call, { url }: { url: string }) =>
  `"${printable((await call(boards.show, { url })).board.name)}"`

/** The commands of `boards` about following one. */
export function register(group: Command, cli: Cli): void {
  command(
    group,
    follows.follow,
    {
      usage: 'follow <url:board...>',
      examples: ['boards follow ideas --as eve@example.org'],
      output,
      names: named,
      done: (_answer, _given, { named: board }) => `Followed board ${board}.`,
    },
    cli,
  )
  command(
    group,
    follows.unfollow,
    {
      usage: 'unfollow <url:board...>',
      examples: ['boards unfollow ideas --as eve@example.org'],
      output,
      names: named,
      done: (_answer, _given, { named: board }) => `Unfollowed board ${board}.`,
    },
    cli,
  )
}
