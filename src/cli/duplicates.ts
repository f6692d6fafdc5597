import type { Command } from 'commander'
import { counted, printable } from '../core/text.js'
import { duplicates, MOST_OF_ALL, type Cluster } from '../service/duplicates.js'
import { votesText } from '../service/lib/cells.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import type { Column } from './lib/output/table.js'
import { commandLine } from './lib/texts/commandline.js'
import { planText } from './mergeplan.js'
import { whyOf } from './similar.js'

type Row = Cluster['posts'][number] & { into: Cluster['into'] }

const columns: Column<Row>[] = [
  { head: 'NUMBER', field: 'number', text: (row) => String(row.number), shown: (row) => `#${row.number}`, drop: 0, whole: true }, // prettier-ignore
  { head: 'TITLE', field: 'title', text: ({ title }) => title, drop: 1 },
  { head: 'VOTES', field: 'votesCount', text: votesText, right: true, drop: 3 },
  { head: 'INTO', field: 'into.number', text: ({ into }) => String(into.number), shown: ({ into }) => `#${into.number}`, drop: 0, whole: true }, // prettier-ignore
  { head: 'ITS TITLE', field: 'into.title', text: ({ into }) => into.title, drop: 1 },
  { head: 'SCORE', field: 'score', text: ({ score }) => score.toFixed(2), right: true, drop: 2 },
  { head: 'WHY', text: (row) => `${whyOf(row)}${row.is_apart ? '; one is on a private board' : ''}`, drop: 0 },
]

interface Found {
  clusters: readonly Cluster[]
  compared: number
  is_capped?: boolean
}

const rowsOf = ({ clusters }: Found): Row[] =>
  clusters.flatMap(({ into, posts }) => posts.map((post) => ({ ...post, into })))

/** The clusters of a plan. Pairs of a private and a public post are left out, because they cannot be merged. */
const planned = ({ clusters }: Found): Cluster[] =>
  clusters
    .map(({ into, posts }) => ({ into, posts: posts.filter(({ is_apart: isApart }) => !isApart) }))
    .filter(({ posts }) => posts.length > 0)

/** Registers `posts duplicates`. */
export function register(group: Command, cli: Cli): void {
  command(
    group,
    duplicates,
    {
      usage: 'duplicates',
      examples: ['posts duplicates', 'posts duplicates --board ideas --limit 100 --plan plan.txt'],
      input: { flags: { boardId: 'board' } },
      output: {
        columns,
        id: ({ slug }: Row) => slug,
        rows: rowsOf,
        list: true,
        empty: () => 'No open posts look like the same wish.',
      },
      note: ({ compared, is_capped: isCapped }) =>
        isCapped ? `The newest ${compared} open posts were compared; there are more.${compared < MOST_OF_ALL ? ` --all compares up to ${MOST_OF_ALL}.` : ''}` : undefined, // prettier-ignore
      saves: {
        flag: 'plan',
        description: 'also write the merges to this new file, which "posts merge --plan" takes (- for stdout alone)',
        text: (answer, file) => (planned(answer).length === 0 ? undefined : planText(planned(answer), file)),
        said: (answer, file) =>
          printable(`Wrote ${counted(rowsOf({ ...answer, clusters: planned(answer) }).length, 'merge')} to ${file}. Look at it, then: ${commandLine(['posts', 'merge', '--plan', file, '--dry-run'])}`), // prettier-ignore
      },
    },
    cli,
  )
}
