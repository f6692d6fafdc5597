import type { Command } from 'commander'
import { tag } from '../service/posttags.js'
import { bulkView, saidOfMany } from './lib/command/bulk.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'

/** The command of `posts` that changes their tags. */
export function register(group: Command, cli: Cli): void {
  command(
    group,
    tag,
    {
      ...bulkView,
      usage: 'tag <ids:post...>',
      summary: 'Add tags to up to 100 posts, and remove tags, in one change that can be undone for ten minutes',
      examples: [
        'posts tag 12 --add mobile --remove desktop',
        'posts search scroll -q | feedbackctl posts tag - --add editor',
      ],
      input: { joined: 'ids' },
      requiresChange: true,
      done: (answer) => `Changed the tags of ${saidOfMany(answer, 'posts', 'post')}`,
    },
    cli,
  )
}
