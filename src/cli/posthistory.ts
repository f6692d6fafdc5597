import type { Command } from 'commander'
import { history, type Move } from '../service/posthistory.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import { historyColumns } from './postcolumns.js'

/** Registers `posts history`. */
export function register(group: Command, cli: Cli): void {
  command(
    group,
    history,
    {
      usage: 'history <post_id:post>',
      examples: ['posts history 12'],
      output: {
        columns: historyColumns,
        id: ({ movedAt }) => movedAt,
        rows: (answer): readonly Move[] => answer.history,
        list: true,
        empty: () => 'The post was never moved, and nothing was merged into it.',
      },
    },
    cli,
  )
}
