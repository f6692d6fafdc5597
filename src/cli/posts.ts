import type { Command } from 'commander'
import { counted, printable, quoted } from '../core/text.js'
import { reportPost } from '../service/moderation.js'
import * as posts from '../service/posts.js'
import type { DashboardPost, Post, PostRow } from '../service/lib/postshapes.js'
import { ago } from './lib/age.js'
import { command } from './lib/command.js'
import { nameOf } from './lib/person.js'
import type { Cli } from './lib/session.js'
import type { Column } from './lib/table.js'

/** A single post has no board where a list has null. */
type ListedPost = Omit<Post, 'board'> & { board?: Post['board'] }

const number: Column<{ number: number }> = {
  head: 'NUMBER',
  text: (post) => String(post.number),
  shown: (post) => `#${post.number}`,
  drop: 0,
  whole: true,
}

export const columns: Column<ListedPost>[] = [
  number,
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
  { head: 'MARKS', text: (post) => (post.is_spam ? 'spam' : ''), drop: 0, ifAny: true },
]
const detailColumns: Column<ListedPost>[] = [...columns, { head: 'TEXT', text: (post) => post.contentMarkdown ?? '' }]

const rowColumns: Column<PostRow>[] = [
  number,
  { head: 'TITLE', text: (post) => post.title, drop: 0 },
  { head: 'SLUG', text: (post) => post.slug, drop: 0 },
  { head: 'ID', text: (post) => post.postId, drop: 1 },
]

const rowOf = ({ board, roadmap, author, ...post }: DashboardPost): PostRow => ({
  ...post,
  userId: author.userId,
  boardId: board?.boardId ?? null,
  roadmap_id: roadmap?.id ?? null,
})

const id = (post: Pick<Post, 'slug'>) => post.slug
const row = { columns: rowColumns, id, rows: ({ post }: { post: PostRow }) => [post] }
const text = {
  text: 'contentMarkdown',
  flags: { contentMarkdown: 'body', boardId: 'board', roadmapId: 'roadmap' },
} as const
const idAliases = ['postId', 'slug']
const label = (post: Pick<Post, 'number' | 'title'>) => `#${post.number} "${printable(post.title)}"`

export function register(group: Command, cli: Cli): void {
  command(
    group,
    posts.list,
    {
      usage: 'list',
      examples: [
        'posts list --sort votes --board ideas',
        'posts list --roadmap planned',
        'posts list --all -o csv > posts.csv',
      ],
      output: { columns, id, rows: (answer): readonly ListedPost[] => answer.posts, list: 'posts' },
      input: {
        hidden: ['first', 'created', 'userId'],
        flags: { boardId: 'board', roadmapId: 'roadmap', authorId: 'author' },
      },
    },
    cli,
  )
  command(
    group,
    posts.show,
    {
      usage: 'show <id:post>',
      examples: ['posts show 12'],
      output: {
        columns: detailColumns,
        id,
        rows: ({ post }: { post: DashboardPost }): readonly ListedPost[] => [post],
      },
      input: { hidden: [...idAliases, 'userId'] },
    },
    cli,
  )
  command(
    group,
    posts.search,
    {
      usage: 'search <words>',
      examples: ['posts search dark', 'posts search "mode dark" --board ideas'],
      output: {
        columns,
        id,
        rows: (answer): readonly ListedPost[] => answer.posts,
        list: true,
        empty: ({ words }) => `No post has ${quoted(String(words))} in its title or text.`,
      },
      input: { flags: { boardId: 'board', roadmapId: 'roadmap', authorId: 'author' } },
    },
    cli,
  )
  command(
    group,
    posts.create,
    {
      usage: 'create <title>',
      examples: [
        'posts create "Dark mode" --board ideas --body "My eyes hurt."',
        'posts create "Dark mode" --body-file - --as eve@example.org',
      ],
      output: row,
      input: { ...text, editor: async () => '' },
      as: true,
      done: ({ post }) => `Created post ${label(post)}.`,
    },
    cli,
  )
  command(
    group,
    posts.update,
    {
      usage: 'update <id:post>',
      examples: ['posts update 12 --roadmap planned', 'posts update 12 --title "Dark theme"', 'posts update 12'],
      output: row,
      input: {
        ...text,
        hidden: [...idAliases, 'partial'],
        defaults: { partial: true },
        async editor(call, { id: given, ...changes }) {
          if (Object.keys(changes).length > 0) return undefined
          const { post } = await call(posts.show, { id: given })
          return post.contentMarkdown ?? ''
        },
      },
      requiresChange: true,
      done: ({ post }) => `Updated post ${label(post)}.`,
    },
    cli,
  )
  command(
    group,
    posts.remove,
    {
      usage: 'delete <id:post>',
      examples: ['posts delete 12 --yes'],
      output: { columns: rowColumns, id, rows: () => [] },
      deletes: async (call, { id: given }) => rowOf((await call(posts.show, { id: given })).post),
      input: { hidden: idAliases },
      async confirm(call, { id: given }) {
        const { post } = await call(posts.show, { id: given })
        return `Delete post ${label(post)}? This also deletes ${counted(post.voters.votesCount, 'vote')} and all comments.`
      },
      done: (_, given) => `Deleted post ${String(given.id)}.`,
    },
    cli,
  )
  command(
    group,
    reportPost,
    {
      usage: 'report <post_id:post>',
      examples: ['posts report dark-mode-x1y2 --reason "Advertising"'],
      output: { columns: [], id: () => '', rows: () => [] },
      as: true,
      done: () => 'Noted. Those who run the site will look at it.',
    },
    cli,
  )
}
