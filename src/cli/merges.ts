import type { Command } from 'commander'
import { nameOf } from '../service/lib/cells.js'
import * as merges from '../service/merges.js'
import type { Merged } from '../service/merges.js'
import { foretoldOf, QUIET } from './audience.js'
import { bulkView, saidOfMany } from './lib/command/bulk.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import type { Column } from './lib/output/table.js'

const columns: Column<Merged>[] = [
  { head: 'NUMBER', field: 'number', text: ({ number }) => String(number), shown: ({ number }) => `#${number}`, drop: 0, whole: true }, // prettier-ignore
  { head: 'TITLE', field: 'title', text: ({ title }) => title, drop: 1 },
  { head: 'AUTHOR', field: 'author.name', text: ({ author }) => nameOf(author), drop: 3 },
  { head: 'MERGED', field: 'merged_at', text: ({ merged_at: at }) => at, drop: 2 },
]

/** The commands of `posts` about posts that are one and the same wish. */
export function register(group: Command, cli: Cli): void {
  command(
    group,
    merges.merge,
    {
      ...bulkView,
      usage: 'merge <ids:post...>',
      summary: 'Merge up to 100 posts into another, which gets their voters, comments and followers',
      examples: [
        'posts merge 12 --into 7 --dry-run',
        'posts merge 12 15 --into 7',
        'posts search scroll -q | feedbackctl posts merge - --into 7',
        'posts merge --plan plan.txt --dry-run',
      ],
      input: {
        joined: 'ids',
        hidden: ['if_updated_at'],
        flags: { quiet: QUIET.flag },
        switches: {
          quiet: {
            ...QUIET,
            description:
              'Tell who followed the merged posts (default for one post, not for several or a plan); --no-tell or --quiet tells nobody',
          },
        },
      },
      file: {
        flag: 'plan',
        description: 'merge as this file says, a line such as "12 -> 7" for each post (- for stdin)',
        run: async (run) => (await import('./mergefile.js')).mergePlanned(run),
      },
      foretells: foretoldOf,
      done: (answer) => `Merged ${saidOfMany(answer, 'posts', 'post')}`,
    },
    cli,
  )
  command(
    group,
    merges.unmerge,
    {
      ...bulkView,
      usage: 'unmerge <ids:post...>',
      examples: ['posts unmerge 12'],
      input: { joined: 'ids' },
      done: (answer) => `Took back ${saidOfMany(answer, 'posts', 'merge')}`,
    },
    cli,
  )
  command(
    group,
    merges.list,
    {
      usage: 'merged <post_id:post>',
      examples: ['posts merged 7'],
      output: {
        columns,
        id: ({ number }) => String(number),
        rows: (answer): readonly Merged[] => answer.merged,
        list: 'merged',
        empty: () => 'Nothing was merged into the post.',
      },
    },
    cli,
  )
}
