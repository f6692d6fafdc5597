import type { Command } from 'commander'
import { move } from '../service/postmoves.js'
import { foretoldOf, QUIET } from './audience.js'
import { bulkView, saidOfMany } from './lib/command/bulk.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'

/** Registers `posts move`. */
export function register(group: Command, cli: Cli): void {
  command(
    group,
    move,
    {
      ...bulkView,
      usage: 'move <ids:post...>',
      summary: 'Move up to 100 posts to a board or a roadmap, in one change that can be undone for ten minutes',
      examples: [
        'posts move 12 15 --roadmap planned',
        'posts list -q --board ideas --limit 100 | feedbackctl posts move - --board features',
      ],
      input: {
        joined: 'ids',
        hidden: ['ifBoardId', 'ifRoadmapId'],
        flags: { boardId: 'board', roadmapId: 'roadmap', quiet: QUIET.flag },
        switches: { quiet: QUIET },
      },
      foretells: foretoldOf,
      done: (answer) => `Moved ${saidOfMany(answer, 'posts', 'post')}`,
    },
    cli,
  )
}
