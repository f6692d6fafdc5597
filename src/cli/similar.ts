import type { Command } from 'commander'
import { counted, printable } from '../core/text.js'
import type { ListedPost } from '../service/lib/cells.js'
import type { SimilarReason } from '../service/lib/similarreasons.js'
import * as posts from '../service/posts.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import type { Column } from './lib/output/table.js'
import { columns } from './postcolumns.js'

type Row = ListedPost & { reason?: SimilarReason | undefined }

/** Such as `dark, mode; 2 merged posts said: night`. */
export const whyOf = ({ words, merged }: Pick<SimilarReason, 'words' | 'merged'>): string =>
  [
    ...(words.length > 0 ? [words.join(', ')] : []),
    ...(merged ? [`${counted(merged.posts, 'merged post')} said: ${merged.words.join(', ')}`] : []),
  ]
    .map(printable)
    .join('; ')

const why: Column<Row> = { head: 'WHY', text: ({ reason }) => (reason ? whyOf(reason) : ''), drop: 0 }

/** Registers `posts similar`. */
export function register(group: Command, cli: Cli): void {
  command(
    group,
    posts.similar,
    {
      usage: 'similar <title>',
      examples: ['posts similar "Dark mode for the evening"'],
      output: {
        columns: [...columns, why],
        id: (post: Row) => post.slug,
        rows: (answer): readonly Row[] => answer.posts.map((post, at) => ({ ...post, reason: answer.reasons[at] })),
        list: true,
        empty: () => 'No post is like it.',
      },
    },
    cli,
  )
}
