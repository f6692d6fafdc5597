import type { Command } from 'commander'
import { reportPost } from '../service/moderation.js'
import { reported, type Reported } from '../service/reports.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import { postNamed } from './lib/output/person.js'
import { reportedColumns } from './postcolumns.js'

/** Registers the commands that report a post and show the caller's own reports. */
export function register(group: Command, cli: Cli): void {
  command(
    group,
    reportPost,
    {
      usage: 'report <post_id:post...>',
      examples: ['posts report dark-mode-x1y2 --reason "Advertising"'],
      output: { columns: [], id: () => '', rows: () => [] },
      names: (call, given) => postNamed(call, given.post_id),
      done: (_answer, _given, { named }) => `Reported post ${named}. The moderators will review it.`,
    },
    cli,
  )
  command(
    group,
    reported,
    {
      usage: 'reported <post_id:post>',
      examples: ['posts reported 12'],
      output: {
        columns: reportedColumns,
        id: (row) => row.id,
        rows: (answer): readonly Reported[] => answer.reported,
        list: true,
        empty: () => 'You have reported nothing there.',
      },
    },
    cli,
  )
}
