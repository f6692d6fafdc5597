import type { Command } from 'commander'
import { counted, printable } from '../core/text.js'
import * as posts from '../service/posts.js'
import type { DashboardPost, Post, PostRow } from '../service/lib/postshapes.js'
import { ago } from './lib/age.js'
import { command } from './lib/command.js'
import { nameOf } from './lib/person.js'
import type { Cli } from './lib/session.js'
import type { Column } from './lib/table.js'

type Shown = Omit<Post, 'board'> & { board?: Post['board'] }

export const columns: Column<Shown>[] = [
  { head: 'TITLE', text: (post) => post.title, drop: 0 },
  { head: 'BOARD', text: (post) => post.board?.name ?? '', drop: 2 },
  { head: 'VOTES', text: (post) => String(post.voters.votesCount), right: true, drop: 0 },
  {
    head: 'ROADMAP',
    text: (post) => post.roadmap?.name ?? '',
    shown: ({ roadmap }, paint) => (roadmap ? paint.hex(roadmap.color)(printable(roadmap.name)) : ''),
    drop: 1,
  },
  { head: 'AUTHOR', text: (post) => nameOf(post.author), drop: 3 },
  { head: 'AGE', text: (post) => post.createdAt, shown: (post, _paint, now) => ago(post.createdAt, now), drop: 2 },
  { head: 'SLUG', text: (post) => post.slug, drop: 4, whole: true },
  { head: 'ID', text: (post) => post.postId },
]
const found = columns.map((column): Column<Shown> => (column.head === 'SLUG' ? { ...column, drop: 0 } : column)) // one searches for it
const whole: Column<Shown>[] = [...columns, { head: 'TEXT', text: (post) => post.contentMarkdown ?? '' }]

const stored: Column<PostRow>[] = [
  { head: 'TITLE', text: (post) => post.title, drop: 0 },
  { head: 'SLUG', text: (post) => post.slug, drop: 0 },
  { head: 'ID', text: (post) => post.postId, drop: 1 },
]

const id = (post: Pick<Post, 'slug'>) => post.slug
const row = { columns: stored, id, rows: ({ post }: { post: PostRow }) => [post] }
const text = {
  text: 'contentMarkdown',
  flags: { contentMarkdown: 'body', boardId: 'board', roadmapId: 'roadmap' },
} as const
const same = ['postId', 'slug'] // other names of the id
const named = (post: Pick<Post, 'title'>) => `"${printable(post.title)}"`

export function register(group: Command, cli: Cli): void {
  command(
    group,
    posts.list,
    {
      columns,
      id,
      words: 'list',
      examples: [
        'posts list --sort votes --board ideas',
        'posts list --roadmap planned',
        'posts list --all -o csv > posts.csv',
      ],
      rows: (answer): readonly Shown[] => answer.posts,
      list: 'posts',
      hidden: ['first', 'created'],
      flags: { boardId: 'board', roadmapId: 'roadmap', authorId: 'author' },
    },
    cli,
  )
  command(
    group,
    posts.show,
    {
      columns: whole,
      id,
      words: 'show <id:post>',
      examples: ['posts show dark-mode-x1y2'],
      rows: ({ post }: { post: DashboardPost }): readonly Shown[] => [post],
      hidden: same,
    },
    cli,
  )
  command(
    group,
    posts.search,
    {
      columns: found,
      id,
      words: 'search <title>',
      examples: ['posts search dark'],
      rows: (answer): readonly Shown[] => answer.posts,
      many: true,
    },
    cli,
  )
  command(
    group,
    posts.create,
    {
      ...row,
      ...text,
      words: 'create <title>',
      examples: [
        'posts create "Dark mode" --board ideas --body "My eyes hurt."',
        'posts create "Dark mode" --body-file - --as eve@example.org',
      ],
      edits: async () => '',
      as: true,
      done: ({ post }) => `Created post ${named(post)}: ${post.slug}`,
    },
    cli,
  )
  command(
    group,
    posts.update,
    {
      ...row,
      ...text,
      words: 'update <id:post>',
      examples: [
        'posts update dark-mode-x1y2 --roadmap planned',
        'posts update dark-mode-x1y2 --title "Dark theme"',
        'posts update dark-mode-x1y2',
      ],
      hidden: [...same, 'partial'],
      preset: { partial: true },
      changes: true,
      async edits(call, { id: given, ...changes }) {
        return Object.keys(changes).length > 0
          ? undefined
          : ((await call(posts.show, { id: given })).post.contentMarkdown ?? '')
      },
      done: ({ post }) => `Changed post ${named(post)}.`,
    },
    cli,
  )
  command(
    group,
    posts.remove,
    {
      columns: stored,
      id,
      words: 'delete <id:post>',
      examples: ['posts delete dark-mode-x1y2 --yes'],
      rows: () => [],
      hidden: same,
      async loses(call, { id: given }) {
        const { post } = await call(posts.show, { id: given })
        return `Delete post ${named(post)}? This takes ${counted(post.voters.votesCount, 'vote')} and all comments with it.`
      },
      done: (_, given) => `Deleted post ${String(given.id)}.`,
    },
    cli,
  )
}
