import type { Command } from 'commander'
import { hidesFinished, UNFINISHED } from '../core/statuskinds.js'
import { quoted } from '../core/text.js'
import type { ListedPost } from '../service/lib/cells.js'
import type { Post } from '../service/lib/postshapes.js'
import { facets } from '../service/postfacets.js'
import * as posts from '../service/posts.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import { columns, facetColumns, facetRows } from './postcolumns.js'
import { FILTER_FLAGS } from './postflags.js'

const id = (post: Pick<Post, 'slug'>) => post.slug

/** Registers `posts list`. */
export function registerList(group: Command, cli: Cli): void {
  command(
    group,
    posts.list,
    {
      usage: 'list',
      examples: [
        'posts list --sort votes --board ideas',
        'posts list --sort trending --roadmap planned,in-progress',
        'posts list --roadmap none --since 7d',
        'posts list --spam --since 7d',
        'posts list --query "dark mode"',
        'posts list --voted --as eve@example.org',
        'posts list --following --as eve@example.org',
        'posts list --view triage',
        'posts list --all -o csv > posts.csv',
      ],
      output: { columns, id, rows: (answer): readonly ListedPost[] => answer.posts, list: 'posts' },
      input: {
        hidden: ['created', 'userId', 'votes', 'roadmapId'],
        flags: FILTER_FLAGS,
        steadily: (input) => (hidesFinished(input) ? { statusKind: [...UNFINISHED] } : {}),
      },
    },
    cli,
  )
}

/** Registers `posts search` and `posts facets`. */
export function registerSearch(group: Command, cli: Cli): void {
  command(
    group,
    posts.search,
    {
      usage: 'search <words...>',
      examples: [
        'posts search dark',
        'posts search mode dark --board ideas',
        'posts search dark --all -o csv > found.csv',
      ],
      output: {
        columns,
        id,
        rows: (answer): readonly ListedPost[] => answer.posts,
        list: 'posts',
        empty: ({ words }) => `No post has ${quoted(String(words))} in its title or text.`,
      },
      input: {
        joined: 'words',
        hidden: ['votes', 'roadmapId'],
        flags: FILTER_FLAGS,
      },
    },
    cli,
  )
  command(
    group,
    facets,
    {
      usage: 'facets',
      examples: ['posts facets', 'posts facets --query "dark mode" --since 30d'],
      output: { columns: facetColumns, id: ({ id }) => id, rows: facetRows, list: true },
      input: {
        hidden: ['roadmapId'],
        flags: FILTER_FLAGS,
      },
    },
    cli,
  )
}
