import type { Command } from 'commander'
import { quoted } from '../core/text.js'
import { nameOf, votesText } from '../service/lib/cells.js'
import { find, type SearchHit } from '../service/search.js'
import { command } from './lib/command/command.js'
import { FILTER_FLAGS } from './postflags.js'
import type { Cli } from './lib/connection/session.js'
import type { Column } from './lib/output/table.js'
import { ago } from './lib/texts/age.js'

const columns: Column<SearchHit>[] = [
  { head: 'NUMBER', field: 'post.number', text: ({ post }) => String(post.number), shown: ({ post }) => `#${post.number}`, drop: 0, whole: true }, // prettier-ignore
  { head: 'TITLE', field: 'post.title', text: ({ post }) => post.title, drop: 0 },
  { head: 'FOUND IN', field: 'found_in', text: (hit) => hit.found_in, drop: 0 },
  { head: 'EXCERPT', field: 'excerpt', text: (hit) => hit.excerpt, drop: 1 },
  { head: 'VOTES', field: 'post.voters.votesCount', text: ({ post }) => votesText(post.voters), right: true, drop: 1 }, // prettier-ignore
  { head: 'BOARD', field: 'post.board.name', text: ({ post }) => post.board?.name ?? '', drop: 3 },
  { head: 'ROADMAP', field: 'post.roadmap.name', text: ({ post }) => post.roadmap?.name ?? '', drop: 2, ifAny: true },
  { head: 'AUTHOR', field: 'post.author.username', text: ({ post }) => nameOf(post.author), drop: 4 },
  { head: 'AGE', field: 'post.createdAt', text: ({ post }) => post.createdAt, shown: ({ post }, _paint, now) => ago(post.createdAt, now), drop: 3 }, // prettier-ignore
]

export function register(group: Command, cli: Cli): void {
  command(
    group,
    find,
    {
      usage: '<query...>',
      examples: [
        'search dark mode',
        `search '"dark mode" -legacy board:ideas votes:>10'`,
        'search is:open after:2026-01-01 export -o json',
      ],
      output: {
        columns,
        id: ({ post }) => post.slug,
        rows: (answer): readonly SearchHit[] => answer.hits,
        list: 'hits',
        empty: ({ query }) => `Nothing has ${quoted(String(query))} in its title, its text or its comments.`,
      },
      input: {
        joined: 'query',
        hidden: ['roadmapId'],
        flags: FILTER_FLAGS,
      },
    },
    cli,
  )
}
